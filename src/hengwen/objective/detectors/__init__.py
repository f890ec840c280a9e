"""Detectors of defects in a text: corruption, markup, reasoning blocks, wrong numbers."""
