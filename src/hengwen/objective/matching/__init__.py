"""Matching blocks of two texts: the same as difflib's, but computed faster."""
