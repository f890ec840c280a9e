"""Tests of a judge: attacks in answers (canaries), biases, and an admission test."""
