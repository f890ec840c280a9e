"""The LLM judge that follows a rubric: asking, parsing and repairing verdicts, expected scores."""
