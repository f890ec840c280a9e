"""Internal helpers: lazy exports, process pools, garbage-collector tuning, a dict that spills to disk."""
