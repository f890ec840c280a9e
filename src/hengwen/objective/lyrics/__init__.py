"""The lyric scorer: it compares a lyric with a template of its sections, lines, characters and rhymes."""
