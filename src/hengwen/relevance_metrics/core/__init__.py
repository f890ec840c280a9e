"""Helpers that the sequence metrics share: input checks, codes of patterns."""
