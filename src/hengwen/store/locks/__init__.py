"""Locks on plans, samples and calls, so that processes with one store do not do the same work twice."""
