"""Wording, number formatting and sanitising of untrusted text."""
