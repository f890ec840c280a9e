"""Drift of the judge, told apart from drift of the model."""
