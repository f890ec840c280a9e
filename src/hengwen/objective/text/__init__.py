"""Tokenizers, word segmentation and traditional-to-simplified conversion."""
