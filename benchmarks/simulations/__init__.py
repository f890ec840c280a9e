"""Simulations that ``bench_monitoring.py`` prints, one module for each part."""
