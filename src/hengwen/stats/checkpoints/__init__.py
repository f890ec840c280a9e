"""Statistics of a sequence of checkpoints: trend, change point, variance by source, changes of prompts."""
