"""Versions of installed packages."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version


def installed_version(package: str) -> str:
    """Return the version of an installed package; ``0+unknown`` if it is not installed (a source tree)."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "0+unknown"


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    versions = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


__version__ = installed_version("hengwen")
