"""Statistics of successive checkpoints: trend, change point, variance by source, score change by prompt."""
