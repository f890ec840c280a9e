"""The deterministic baseline judge."""
