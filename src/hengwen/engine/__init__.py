"""Runs a checked plan: concurrency, retries, resume. It knows a ``Ledger``, not the store."""
