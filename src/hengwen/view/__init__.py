"""``hengwen view``: the runs of a store in a browser."""
