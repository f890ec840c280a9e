"""Documents of comparisons of two runs."""
