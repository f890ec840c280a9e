"""The faces of a document: terminal, HTML, Markdown, and rows for CSV and Parquet."""
