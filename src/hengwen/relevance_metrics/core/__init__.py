"""Shared parts of the sequence metrics: input checks, levels, pattern codes."""
