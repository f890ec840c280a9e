"""Battles: verdicts of judges on pairs of answers."""
