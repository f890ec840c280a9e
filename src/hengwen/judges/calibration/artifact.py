"""The certificate of a judge: what was measured, what it is bound to, and when it no longer holds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hengwen.errors import DataError
from hengwen.io.atomic_write import atomic_write
from hengwen.judges.calibration.agreement import Agreement  # noqa: TC001 - pydantic reads it
from hengwen.judges.calibration.figures import Estimate  # noqa: TC001 - pydantic reads it
from hengwen.judges.calibration.maps import MapReport  # noqa: TC001 - pydantic reads it
from hengwen.judges.calibration.ppi import CorrectedMean  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = 1
Decision = Literal["certified", "not certified", "insufficient"]
"""``insufficient``: the labels cannot tell; neither good nor bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanReport:
    """The corrected mean of one checkpoint, or of all."""

    checkpoint: str
    """Empty: all answers."""
    corrected: CorrectedMean | None
    reason: str = ""
    """Why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How far one judge's score can be trusted, bound to its rubric and signature."""

    task: str
    score: str
    """Such as ``muice_live.level``."""
    rubric: str
    """Its name and version; empty where it is not known."""
    rubric_hash: str
    signature: str
    """Of the judge."""
    decision: Decision
    reasons: tuple[str, ...]
    """Why that decision."""
    threshold: float
    """What the lower bound of quadratic kappa must reach."""
    level: float
    """Of all intervals."""
    seed: int
    agreement: Agreement | None
    """None where no label found its answer."""
    raters: int
    """How many people labelled; an answer's value is the mean of theirs."""
    ceiling: Estimate
    """Krippendorff's alpha among people: no judge can be expected to agree with them better."""
    dropped: dict[str, int]
    """Labelled answers that were left out, by why."""
    maps: tuple[MapReport, ...]
    maps_reason: str
    """Why there are no maps."""
    means: tuple[MeanReport, ...]
    """Of all answers first, then of each checkpoint."""
    warnings: tuple[str, ...]
    created: str = ""
    """ISO 8601."""
    version: str = ""
    """Of Hengwen."""

    @property
    def address(self) -> str:
        """``TASK/SCORE``."""
        return f"{self.task}/{self.score}"


def is_stale(calibration: Calibration, signature: str, rubric_hash: str) -> tuple[str, ...]:
    """Say what differs between the judge that was calibrated and the judge that is in use.

    Args:
        calibration: What was measured.
        signature: Of the judge in use.
        rubric_hash: Of the rubric in use; empty where it is not known, then only signatures count.

    Returns:
        Nothing where the calibration holds; else a line for each difference.

    Examples:
        >>> from types import SimpleNamespace
        >>> old = SimpleNamespace(signature="live|rubric:1.aaaaaaaa|openai/x|v:1", rubric_hash="aaaaaaaa")
        >>> is_stale(old, "live|rubric:1.aaaaaaaa|openai/y|v:1", "aaaaaaaa")
        ('signature: openai/x is now openai/y',)
        >>> is_stale(old, old.signature, "aaaaaaaa")
        ()
    """
    found = []
    if rubric_hash and rubric_hash != calibration.rubric_hash:
        found.append(f"rubric: {calibration.rubric_hash or '(unknown)'} is now {rubric_hash}")
    if signature != calibration.signature:
        old, new = calibration.signature.split("|"), signature.split("|")
        gone = [part for part in old if part not in new] or ["(nothing)"]
        come = [part for part in new if part not in old] or ["(nothing)"]
        found.append(f"signature: {'|'.join(gone)} is now {'|'.join(come)}")
    return tuple(found)


def rubric_hash_of(signature: str) -> str:
    """Return the rubric's hash in a judge's signature; empty where there is none, or more than one.

    Examples:
        >>> rubric_hash_of("live|rubric:2.9f3a01c2|rules:00000000|v:1"), rubric_hash_of("lyric|v:1")
        ('9f3a01c2', '')
    """
    found = set(re.findall(r"\|rubric:\d+\.([0-9a-f]{8})(?=[|\];]|$)", signature))
    return found.pop() if len(found) == 1 else ""


def calibrations_json(calibrations: Sequence[Calibration]) -> str:
    """Return calibrations as JSON text: ``{"schema": 1, "calibrations": [...]}``."""
    from pydantic import TypeAdapter

    found: Any = TypeAdapter(tuple[Calibration, ...]).dump_python(tuple(calibrations), mode="json")
    return json.dumps({"schema": SCHEMA, "calibrations": found}, ensure_ascii=False, indent=1) + "\n"


def write_calibrations(path: str | Path, calibrations: Sequence[Calibration]) -> Path:
    """Write calibrations to a JSON file and return its path.

    Raises:
        ConfigError: The file cannot be written.
    """
    path = Path(path)
    with atomic_write(path) as temporary:
        temporary.write_text(calibrations_json(calibrations), encoding="utf-8", newline="\n")
    return path


def read_calibrations(path: str | Path) -> tuple[Calibration, ...]:
    """Read what ``write_calibrations`` wrote.

    Raises:
        DataError: The file is missing, no JSON, of another schema, or a field is wrong.
    """
    from pydantic import TypeAdapter, ValidationError

    path = Path(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; make it with: hengwen calibrate -o {path.name}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a calibration file: {error}") from None
    if not isinstance(data, dict) or "calibrations" not in data:
        raise DataError(f"{path}: not a calibration file: it has no 'calibrations'")
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"{path}: schema {data.get('schema')!r}, but this program reads {SCHEMA}: make it anew"
        )
    try:
        return TypeAdapter(tuple[Calibration, ...]).validate_python(data["calibrations"])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{path}: calibrations.{place}: {first['msg'].lower()}") from None
