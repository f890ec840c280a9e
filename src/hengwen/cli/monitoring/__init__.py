"""What the commands that compare runs print."""
