"""Tables of outcomes (scores and failures), their means, and tests between checkpoints."""
