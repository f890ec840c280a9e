"""Find near duplicates among answers, and answers that copy a training set."""
