"""Documents of gates and of the power of a plan."""
