"""Monitoring over checkpoints: compare runs, find drift, and check gates."""
