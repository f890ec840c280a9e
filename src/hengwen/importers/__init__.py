"""Files of other projects, turned into plans."""
