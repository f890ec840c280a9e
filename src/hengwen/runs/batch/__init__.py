"""Runs whose calls are sent in files to a batch endpoint, at a lower price, and answered within a day."""
