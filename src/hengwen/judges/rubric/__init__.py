"""The rubric judge: a language model is asked for a verdict, which is parsed and converted to scores."""
