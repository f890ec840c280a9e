"""Tests of the means of a sequence of checkpoints, whose units are checkpoints."""
