"""The lyric scorer: parsing, phases, score, explanation."""
