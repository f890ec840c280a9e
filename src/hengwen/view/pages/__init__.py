"""The pages of ``hengwen view``, one module for each."""
