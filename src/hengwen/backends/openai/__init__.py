"""Backend for OpenAI and compatible endpoints: it encodes requests and parses replies."""
