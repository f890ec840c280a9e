"""Convert records to table rows and back."""
