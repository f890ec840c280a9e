"""The engine: it runs a checked plan concurrently, retries failed calls, and resumes interrupted runs.

The engine writes its records to a ``Ledger``, usually the one of a store (database of results).
"""
