"""Small checks of one answer: equality, contained words, regular expression, JSON, length."""
