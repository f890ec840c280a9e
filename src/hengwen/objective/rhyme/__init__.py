"""Rhyme classes of Chinese characters."""
