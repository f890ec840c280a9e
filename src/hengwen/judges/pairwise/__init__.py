"""Judges that compare two answers to the same sample."""
