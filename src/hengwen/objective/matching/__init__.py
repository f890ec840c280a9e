"""Find the matching blocks of two texts: the blocks that difflib finds, computed faster."""
