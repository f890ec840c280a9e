"""Renderers: HTML, Markdown, JSON, charts."""
