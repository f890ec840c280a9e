"""Null distributions, permutation tests and intervals of the sequence metrics."""
