"""Version of the installed package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version(package: str) -> str:
    """Return the version of an installed package; ``0+unknown`` if it is not installed (a source tree)."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "0+unknown"


__version__ = installed_version("hengwen")
