"""Import the Muice evaluation document as a plan."""
