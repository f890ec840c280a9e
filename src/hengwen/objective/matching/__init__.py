"""Longest matching blocks of two sequences, as in difflib, faster."""
