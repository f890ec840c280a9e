"""Backend for any langchain chat model."""
