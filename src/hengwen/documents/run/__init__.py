"""The document of the runs of a plan: scores by checkpoint, tests between them, failures and answers."""
