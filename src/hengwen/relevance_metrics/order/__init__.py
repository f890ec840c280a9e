"""Count inversions, find increasing subsequences, and compute rank correlations."""
