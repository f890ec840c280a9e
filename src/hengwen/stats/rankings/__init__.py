"""Rank items from paired comparisons: Bradley-Terry models, Elo ratings, and intervals of ranks."""
