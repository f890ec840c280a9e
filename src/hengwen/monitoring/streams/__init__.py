"""Monitoring of a stream of scores against a baseline."""
