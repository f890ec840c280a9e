"""Plans: the YAML schema, the data files that a plan names, and the loaded plan."""
