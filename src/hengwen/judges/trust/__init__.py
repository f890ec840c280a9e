"""Tests of a judge: attacks hidden in answers (canaries), biases, and an admission test."""
