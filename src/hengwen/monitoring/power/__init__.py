"""Compute which differences a plan can detect, and the cheapest numbers of prompts and repeats for one."""
