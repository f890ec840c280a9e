"""Documents of how far judges can be trusted, and of what they rank."""
