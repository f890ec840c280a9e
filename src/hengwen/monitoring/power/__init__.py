"""Compute which differences a plan can detect, and how many prompts and repeats a difference needs."""
