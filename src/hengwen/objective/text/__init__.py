"""Tokenize text, segment Chinese words, and convert traditional to simplified characters."""
