"""Near-duplicates among answers and against a training set."""
