"""Diversity of texts: distinct n-grams, entropy, compression, repetition, self-BLEU."""
