"""Shared parts of the sequence metrics: checks of input, scores as small integers, codes of patterns."""
