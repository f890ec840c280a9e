"""Run a plan, or score or judge one file of answers."""
