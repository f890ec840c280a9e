"""Plans: the YAML schema, the data sets that a plan names, and the loaded plan."""
