"""Internal helpers, such as lazy imports, process pools and a dict that moves to disk when it is large."""
