"""A drift report as a document."""
