"""Render a report as HTML, Markdown or JSON, and draw its charts."""
