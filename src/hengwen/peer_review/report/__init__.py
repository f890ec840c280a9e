"""Reports of a peer review: HTML, Markdown and JSON."""
