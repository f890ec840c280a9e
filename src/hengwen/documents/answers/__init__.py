"""Answers in documents: prompts that got worse with both answers, and the table of all answers."""
