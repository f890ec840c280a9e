"""Texts in two languages, numbers as text, and text from outside made safe to print."""
