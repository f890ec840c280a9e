"""Helpers that the sequence metrics share: input checks, scores as small integers, codes of patterns."""
