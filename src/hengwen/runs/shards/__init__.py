"""Score large inputs shard by shard into a folder, with processes of this machine or of a Ray cluster."""
