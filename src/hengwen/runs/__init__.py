"""Run a plan (tasks, scorers, judges and checkpoints in a YAML file), or score or judge one file."""
