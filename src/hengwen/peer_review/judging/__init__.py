"""Let models judge one another's stored answers in pairs, and turn the verdicts into battles."""
