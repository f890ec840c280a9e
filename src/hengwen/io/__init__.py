"""Read and write files of rows (JSONL, CSV) and YAML configuration."""
