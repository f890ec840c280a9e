"""Rules that cap the score of a judge."""
