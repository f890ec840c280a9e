"""Ordinal patterns: counts, entropies, transitions, distances."""
