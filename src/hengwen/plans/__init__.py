"""Plans: the YAML schema, the data sets it names, and the loaded plan."""
