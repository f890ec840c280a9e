"""Distributions in random order, permutation tests and confidence intervals of the sequence metrics."""
