"""Backend for OpenAI and compatible endpoints."""
