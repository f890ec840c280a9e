"""Detectors of defects in a text: broken output, markup, thinking blocks, wrong numeric answers."""
