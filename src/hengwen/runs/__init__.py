"""Runs: one plan, one file of answers scored or judged."""
