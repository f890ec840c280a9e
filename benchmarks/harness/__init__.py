"""Modules that all benchmarks share: figures, environment, and the table of results."""
