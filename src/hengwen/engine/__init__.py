"""The engine runs a checked plan concurrently, retries failed calls, and resumes interrupted runs."""
