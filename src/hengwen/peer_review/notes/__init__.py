"""What a reader of a peer review must know, in Chinese and English."""
