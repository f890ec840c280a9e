"""The template environments of the report of a peer review."""
