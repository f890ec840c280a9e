"""Measure the overlap of texts with references: BLEU, chrF, TER and ROUGE, for one text and for a corpus."""
