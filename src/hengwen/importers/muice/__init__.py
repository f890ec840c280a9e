"""Import the Muice evaluation document (tasks and scoring tables for a persona chatbot) as a plan."""
