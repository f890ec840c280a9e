"""Determine the rhyme classes of Chinese characters and lines."""
