"""Notes in Chinese and English on what limits the results of a peer review."""
