"""Read the rules from which a sample is exempt, from the list ``metadata.exempt`` of the sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen import registry
from hengwen.errors import did_you_mean

if TYPE_CHECKING:
    from hengwen.records import Sample

_FLAGS = {"exempt_copy": "target_copy", "exempt_duplicate": "near_duplicate"}
"""Keys of the metadata, each with the name of a rule. If the value of a key is true, the sample is exempt
from the rule. ``exemptions`` reads these keys only with ``lenient=True``."""


def exemptions(sample: Sample, *, lenient: bool = False) -> frozenset[str]:
    """Return the names of the rules that a sample is exempt from."""
    names = sample.metadata.get("exempt", ())
    if lenient:
        listed = names if isinstance(names, (list, tuple)) else ()
        flagged = {rule for flag, rule in _FLAGS.items() if sample.metadata.get(flag) is True}
        return frozenset(flagged.union(name for name in listed if isinstance(name, str)))
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"metadata.exempt must be a list of rules, got {names!r}")
    if names:
        known = registry.known("rules")
        for name in names:
            if name not in known:
                raise ValueError(f"metadata.exempt: unknown rule {name!r}{did_you_mean(name, known)}")
    return frozenset(names)
