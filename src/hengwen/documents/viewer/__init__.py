"""The words of the live pages of ``hengwen view``."""
