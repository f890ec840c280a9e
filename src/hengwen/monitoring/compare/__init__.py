"""The comparison of two runs."""
