"""Detectors of defects in a text: broken output, copies, markup, thinking blocks, wrong numeric answers."""
