"""The view: everything that a report shows, computed once for all formats."""
