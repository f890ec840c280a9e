"""Importers that turn files of other projects into plans."""
