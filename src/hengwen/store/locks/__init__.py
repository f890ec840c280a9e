"""Locks with which processes that use one store agree on who does what."""
