"""Run a checked plan: concurrency, retries, resumption. Records go to a ``Ledger``, such as a store's."""
