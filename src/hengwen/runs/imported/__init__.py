"""Scores that another tool gave become runs of a store."""
