"""Backend for OpenAI and compatible endpoints: request encoding, reply parsing, log-probabilities."""
