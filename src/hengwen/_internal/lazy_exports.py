"""Import the public names of a package on first use (PEP 562)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_exports(
    package: str, exports: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return functions ``__getattr__`` and ``__dir__`` for a package whose names are imported on first use.

    Args:
        package: ``__name__`` of the package.
        exports: For each public name, the module of the package that defines it. A public name must not equal
            the name of a module in the package, because its meaning would depend on the order of imports.

    Examples:
        >>> load, names = lazy_exports("hengwen", {"Scale": "records"})
        >>> load("Scale").__name__, names()
        ('Scale', ['Scale'])
    """

    def load(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{exports[name]}"), name)

    return load, lambda: sorted(exports)
