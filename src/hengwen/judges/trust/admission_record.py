"""What a store keeps of an admission test, and the key by which a judge of a run is the tested one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.judges.trust.admission_report import AdmissionDecision  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.judges.trust.admission_report import AdmissionReport

TASK_PARTS = re.compile(r"\|(?:prompt|persona|facts|rules|without):[^|\];]*")
"""Pattern that finds, in a judge's signature (text with all its settings), the parts that depend on the task:
persona, prompt and rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRecord:
    """The result of an admission test of a judge, in short."""

    verdict: AdmissionDecision
    tested: str
    """Time of the test, ISO 8601."""
    models: tuple[str, ...]
    """Names of the models, as their server returned them."""
    checks: dict[str, tuple[int, int]]
    """For each check that has trials, the number of trials passed and the number decided."""
    problems: dict[str, str] = field(default_factory=dict)
    """For each check that keeps the judge from being admitted, its status."""
    fooled: int = 0
    """Number of attacks that raised a level."""
    informative: int = 0
    """Number of attacks that could have raised a level."""
    attacks: int = 0
    """Number of attacks."""

    @classmethod
    def of(cls, report: AdmissionReport, tested: str) -> AdmissionRecord:
        """Return the record of an admission test."""
        attacks = report.attacks
        return cls(
            verdict=report.verdict,
            tested=tested,
            models=report.models,
            checks={check.name: (check.passed, check.n) for check in report.checks if check.n},
            problems=dict(report.reasons),
            fooled=attacks.raises if attacks else 0,
            informative=attacks.informative if attacks else 0,
            attacks=len(attacks.results) if attacks else 0,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> AdmissionRecord:
        """Return the record that a store holds as JSON."""
        from pydantic import TypeAdapter

        return TypeAdapter(cls).validate_python(data)


def judge_key(signature: str) -> str:
    """Return what two judges of one rubric have in common if an admission test of one holds for the other.

    It is the signature without the judge's name and without the parts that depend on the task.

    Examples:
        >>> judge_key("mine|rubric:1.aaaaaaaa|prompt:12345678|lang:zh|openai/x|v:1")
        'rubric:1.aaaaaaaa|lang:zh|openai/x|v:1'
    """
    return TASK_PARTS.sub("", signature).partition("|")[2]
