"""Columns of outcomes and their aggregates."""
