"""What battles show about the judges: consistency, preferences, common errors."""
