"""What benchmarks share: their figures, their environment, and the table of results."""
