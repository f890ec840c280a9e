"""Small checks of one answer: exact, contains, regex, JSON, length."""
