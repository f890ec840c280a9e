"""Tests of a judge: attacks (canaries), biases, model families."""
