"""The course of one score over the checkpoints: level, permutation entropy, inversions, increasing run."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING

from hengwen.relevance_metrics import count_inversions, longest_increasing_subsequence, permutation_entropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.reports.view.cells import ScoreCell

ORDER = 3
"""m of the permutation entropy."""
WINDOWS_WANTED = 5 * factorial(ORDER)
"""Below, the entropy is mostly bias: the report says "too short"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """PEN, CIN and LIS of the checkpoint means, beside the level that they cannot see."""

    n: int
    """Checkpoints."""
    first: float | None = None
    last: float | None = None
    pen: float | None = None
    """Permutation entropy in nats, m=3."""
    cin: int | None = None
    """Pairs of checkpoints of which the later one is lower."""
    pairs: int = 0
    """What ``cin`` would be if the score only fell."""
    lis: int | None = None
    windows: int = 0
    too_short: bool = True
    reason: str = ""
    """Why something is None."""


def course_of(checkpoints: Sequence[str], cells: Sequence[ScoreCell | None]) -> Trajectory:
    """Return the course of one score.

    Args:
        checkpoints: Names in training order.
        cells: One a checkpoint, same order; None where the run does not have the score.

    Returns:
        Without ``cin`` and ``lis``, and with a reason, where the means make no comparable sequence: one
        checkpoint, a missing mean, or signatures that differ. Without ``pen`` below 3 checkpoints.

    Raises:
        ValueError: The lengths differ.

    Examples:
        >>> from hengwen.reports.view.cells import ScoreCell
        >>> rest = {"ci": None, "level": 0.95, "n": 1, "prompts": 1, "coverage": 1.0, "signatures": ("s",)}
        >>> found = course_of(["a", "b", "c", "d"], [ScoreCell(mean=x, **rest) for x in (1.0, 3.0, 2.0, 4.0)])
        >>> found.cin, found.pairs, found.lis, found.windows, found.too_short  # PEN of two patterns is ln 2
        (1, 6, 3, 2, True)
        >>> round(found.pen, 4)
        0.6931
        >>> course_of(["a", "b"], [ScoreCell(mean=1.0, **rest), None]).reason
        'no mean at b'
    """
    n = len(checkpoints)
    present = [cell for cell in cells if cell is not None]
    means = [cell.mean for cell in present if cell.mean is not None]
    reason = obstacle(checkpoints, cells)
    if reason:
        return Trajectory(n=n, windows=max(0, n - ORDER + 1), reason=reason)
    windows = max(0, n - ORDER + 1)
    return Trajectory(
        n=n,
        first=means[0],
        last=means[-1],
        pen=float(permutation_entropy(means, ORDER)) + 0.0 if windows else None,
        cin=int(count_inversions(means)),
        pairs=n * (n - 1) // 2,
        lis=int(longest_increasing_subsequence(means)),
        windows=windows,
        too_short=windows < WINDOWS_WANTED,
        reason="" if windows else f"PEN needs {ORDER} checkpoints, there are {n}",
    )


def obstacle(checkpoints: Sequence[str], cells: Sequence[ScoreCell | None]) -> str:
    """Return why these cells are no sequence, or the empty string."""
    missing = [
        name for name, cell in zip(checkpoints, cells, strict=True) if cell is None or cell.mean is None
    ]
    if missing:
        return f"no mean at {_some(missing)}"
    if len(checkpoints) < 2:
        return "one checkpoint is no sequence"
    repeated = sorted({name for name in checkpoints if list(checkpoints).count(name) > 1})
    if repeated:
        return f"checkpoint weighed more than once: {', '.join(repeated)}"
    return signature_conflict(checkpoints, cells)


def signature_conflict(checkpoints: Sequence[str], cells: Sequence[ScoreCell | None]) -> str:
    """Return in what the signatures differ and where, or the empty string; equal parts are left out.

    Examples:
        >>> from hengwen.reports.view.cells import ScoreCell
        >>> rest = {"mean": 1.0, "ci": None, "level": 0.95, "n": 1, "prompts": 1, "coverage": 1.0}
        >>> signature_conflict(["a", "b"], [ScoreCell(**rest, signatures=(s,)) for s in ("x|v:1", "x|v:2")])
        'signatures differ: v:1 (a); v:2 (b)'
    """
    where: dict[str, list[str]] = {}
    for name, cell in zip(checkpoints, cells, strict=True):
        for signature in cell.signatures if cell else ():
            where.setdefault(signature, []).append(name)
    if len(where) < 2:
        return ""
    parts = own_parts(list(where))
    return "signatures differ: " + "; ".join(
        f"{part} ({_some(names)})" for part, names in zip(parts, where.values(), strict=True)
    )


def own_parts(signatures: Sequence[str]) -> list[str]:
    """Return each signature without the parts that all have; whole where nothing would be left.

    Examples:
        >>> own_parts(["lyric|rules:document|v:1", "lyric|rules:muchin|v:1"])
        ['rules:document', 'rules:muchin']
        >>> own_parts(["a|b", "a|b|c"])
        ['a|b', 'a|b|c']
    """
    shared = set.intersection(*(set(signature.split("|")) for signature in signatures))
    own = ["|".join(p for p in signature.split("|") if p not in shared) for signature in signatures]
    return own if all(own) else list(signatures)


def _some(names: Sequence[str], most: int = 4) -> str:
    rest = len(names) - most
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:most])} and {rest} more"
