"""What a plan can detect, and the cheapest numbers of prompts and repeats for a difference."""
