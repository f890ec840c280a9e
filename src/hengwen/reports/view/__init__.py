"""The view: everything a report shows, computed once for all formats."""
