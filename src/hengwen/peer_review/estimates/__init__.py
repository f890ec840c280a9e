"""Strengths of models from battles, one module for each family of methods."""
