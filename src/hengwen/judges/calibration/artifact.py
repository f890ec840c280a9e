"""The stored result of calibrating a judge: its fields, its JSON file, and a check that it is still valid."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hengwen.errors import ConfigError, DataError
from hengwen.io.output_files import atomic_write
from hengwen.io.strict_yaml import read_text
from hengwen.io.untrusted_json import parse_json
from hengwen.judges.calibration.agreement import Agreement
from hengwen.judges.calibration.estimates import (
    Estimate,
    Remark,
)
from hengwen.judges.calibration.means import MeanReport
from hengwen.judges.calibration.within import WithinAgreement
from hengwen.score_id import address_of

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = 1
Decision = Literal["certified", "not certified", "insufficient"]
"""Whether a judge is certified; ``insufficient`` means that the labels do not allow a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well one score of a judge agrees with humans; valid for one rubric and one judge signature only.

    The signature of a judge is a text that contains everything that can change its scores.
    """

    task: str
    """Name of the task. For a pooled calibration (of several tasks), the names of the tasks joined by
    ``+``."""
    score: str
    """Name of the score, such as ``muice_live.level``."""
    rubric: str
    """Name and version of the rubric; empty if unknown."""
    rubric_hash: str
    """First 8 hex digits of the hash of those parts of the rubric that a model reads; empty if unknown."""
    signature: str
    """Signature of the judge."""
    decision: Decision
    """``certified``, ``not certified`` or ``insufficient``; see ``calibrate``."""
    reasons: tuple[Remark, ...]
    """Reasons for the decision."""
    threshold: float
    """Value, from -1 to 1, that the lower bound of ``kappa`` (agreement beyond chance) must reach for a
    certificate."""
    level: float
    """Confidence level of all intervals, in (0, 1)."""
    seed: int
    """Seed of the random numbers for the cross-validation folds and for the bootstrap."""
    agreement: Agreement | None
    """Agreement of judge and humans on the labelled answers; None if no label matches a judged answer."""
    within: WithinAgreement | None
    """Agreement within each checkpoint; None if all labelled answers are of one checkpoint."""
    raters: int
    """Number of raters; the human value of an answer is the mean of its labels."""
    ceiling: Estimate
    """Krippendorff's alpha among the human raters: the best agreement that can be expected from a judge."""
    dropped: dict[str, int]
    """For each reason, the number of labelled answers that were left out."""
    means: tuple[MeanReport, ...]
    """Estimated mean human value of all answers, then of each checkpoint."""
    warnings: tuple[Remark, ...]
    """What limits the calibration."""
    created: str = ""
    """Time of creation, ISO 8601."""
    version: str = ""
    """Version of Hengwen."""
    tasks: tuple[str, ...] = ()
    """Names of the tasks of a pooled calibration; empty for a calibration of one task."""
    drawn: dict[str, int] = field(default_factory=dict)
    """Number of labels for each way in which answers were selected for labelling. Labels that do not state
    the way are counted as ``unknown``."""

    @property
    def address(self) -> str:
        """Task and score of the calibration, as ``TASK/SCORE``."""
        return address_of(self.task, self.score)

    @property
    def kappa(self) -> Estimate | None:
        """Quadratic kappa that decides: within the checkpoints if there are several, else of all answers."""
        if self.within is not None:
            return self.within.quadratic_kappa
        return None if self.agreement is None else self.agreement.quadratic_kappa


def is_stale(calibration: Calibration, signature: str, rubric_hash: str) -> tuple[str, ...]:
    """Return the differences between the judge that was calibrated and the judge in use.

    Args:
        calibration: The stored calibration.
        signature: Signature of the judge in use.
        rubric_hash: Hash of the rubric in use. If the hash is unknown (empty), only signatures are compared.

    Returns:
        One line per difference; empty if the calibration is valid for the judge in use.

    Examples:
        >>> from hengwen.judges import calibrate
        >>> from hengwen.judges.calibration import JudgedAnswer
        >>> from hengwen.records import Label
        >>> signature = "live|rubric:1.aaaaaaaa|openai/x|v:1"
        >>> labels = [Label(task="t", id="a", score="live.level", value=1)]
        >>> answers = [JudgedAnswer(task="t", id="a", value=1, signature=signature)]
        >>> old = calibrate(labels, answers, score="live.level", levels=[0, 1])
        >>> is_stale(old, signature.replace("openai/x", "openai/y"), "")
        ('signature: openai/x is now openai/y',)
        >>> is_stale(old, signature, "")
        ()
    """
    differences = []
    if rubric_hash and rubric_hash != calibration.rubric_hash:
        differences.append(f"rubric: {calibration.rubric_hash or '(unknown)'} is now {rubric_hash}")
    if signature != calibration.signature:
        old, new = calibration.signature.split("|"), signature.split("|")
        removed = [part for part in old if part not in new] or ["(nothing)"]
        added = [part for part in new if part not in old] or ["(nothing)"]
        differences.append(f"signature: {'|'.join(removed)} is now {'|'.join(added)}")
    return tuple(differences)


def rubric_hash_of(signature: str) -> str:
    """Return the rubric hash in a judge's signature; empty if there is none, or if there are different ones.

    Examples:
        >>> rubric_hash_of("live|rubric:2.9f3a01c2|rules:00000000|v:1"), rubric_hash_of("lyric|v:1")
        ('9f3a01c2', '')
    """
    hashes = set(re.findall(r"\|rubric:\d+\.([0-9a-f]{8})(?=[|\];]|$)", signature))
    return hashes.pop() if len(hashes) == 1 else ""


def calibrations_json(calibrations: Sequence[Calibration]) -> str:
    """Return calibrations as JSON text: ``{"schema": 1, "calibrations": [...]}``."""
    from pydantic import TypeAdapter

    rows: Any = TypeAdapter(tuple[Calibration, ...]).dump_python(tuple(calibrations), mode="json")
    return json.dumps({"schema": SCHEMA, "calibrations": rows}, ensure_ascii=False, indent=1) + "\n"


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
    """Return the calibrations in a file written by ``write_calibrations``.

    Args:
        path: A JSON file.

    Raises:
        DataError: The file is missing, is not JSON, has another schema version, or has an invalid field.
    """
    from pydantic import TypeAdapter, ValidationError

    path = Path(path)
    try:
        data = parse_json(read_text(path))
    except ConfigError as error:
        advice = "" if path.exists() else f"; create it with: hengwen calibrate -o {path.name}"
        raise DataError(f"{error}{advice}") from None
    except ValueError as error:
        raise DataError(f"{path}: not a calibration file: {error}") from None
    if not isinstance(data, dict) or "calibrations" not in data:
        raise DataError(f"{path}: not a calibration file: it has no 'calibrations'")
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"{path}: schema {data.get('schema')!r}, but this program reads {SCHEMA}; calibrate again"
        )
    try:
        return TypeAdapter(tuple[Calibration, ...]).validate_python(data["calibrations"])
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{path}: calibrations.{location}: {first['msg'].lower()}") from None
