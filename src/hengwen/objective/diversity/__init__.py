"""Measure the diversity of texts: distinct n-grams, entropy, compression, repetition, self-BLEU."""
