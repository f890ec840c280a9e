"""Inversions, increasing subsequences, rank correlation."""
