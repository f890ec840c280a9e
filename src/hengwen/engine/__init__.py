"""A checked plan to attempts and rows: concurrency, retries, resume. Knows a ``Ledger``, not the store."""
