"""Compare a stream of scores with earlier scores, its baseline."""
