"""Commands about several checkpoints or a stream of scores."""
