"""Permutation tests, confidence intervals and random-order distributions of the sequence metrics."""
