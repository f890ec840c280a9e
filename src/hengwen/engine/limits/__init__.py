"""Limits of the calls to an endpoint: concurrency, and calls and tokens per minute."""
