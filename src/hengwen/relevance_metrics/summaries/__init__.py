"""Summaries of a sequence: all metrics at once, rolling, streaming, rankings."""
