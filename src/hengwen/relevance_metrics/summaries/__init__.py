"""Summarize sequences: all metrics at once, in rolling windows, of a stream, or of rankings."""
