"""Terminal output shared by the commands: messages, tables, progress, exit codes, options."""
