"""The admission test of a judge."""
