"""One text where a list of texts belongs: its characters never count as texts."""

from __future__ import annotations
