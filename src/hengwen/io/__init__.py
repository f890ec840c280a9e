"""Read and write row files (JSONL, CSV) and YAML configuration."""
