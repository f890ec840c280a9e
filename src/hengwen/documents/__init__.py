"""Every result as a document of a few kinds of block, and the faces that show any document."""
