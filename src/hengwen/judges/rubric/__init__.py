"""The rubric judge asks a language model for a verdict (levels with a reason) and converts it to scores."""
