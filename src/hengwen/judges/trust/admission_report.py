"""The result of an admission test: trials, checks that group them, the decision; what a store keeps of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from hengwen.judges.trust.canaries import CanaryReport
from hengwen.records import Usage
from hengwen.stats.mean_interval import clustered_wilson

CheckName = Literal["examples_exact", "examples_near", "persona_swap", "degraded", "padded", "repeats"]
CHECK_NAMES: tuple[CheckName, ...] = get_args(CheckName)
TrialResult = Literal["passed", "failed", "no_verdict"]
CheckStatus = Literal["passed", "failed", "unclear", "not_applicable"]
ReasonName = CheckName | Literal["bases", "attacks"]
AdmissionDecision = Literal["admitted", "not admitted", "inconclusive"]

MIN_COVERAGE = 0.8
"""A check can pass only if the judge gave all needed verdicts in at least this share of its trials."""
MIN_BASES = 6
"""A judge is admitted only if it gave verdicts on at least this number of good answers. A result from fewer
good answers may hold only for these answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionCriterion:
    """Thresholds of a check, which is a group of similar trials (tests that the judge passes or fails)."""

    rate: float
    """Minimum share of passed trials. The check fails if the whole confidence interval of the share of passed
    trials is below ``rate``."""
    chance: float | None = None
    """Share of trials that a judge passes by guessing; the confidence interval of the share of passed trials
    must begin above ``chance``."""
    rate_per_kind: float = 0.0
    """Minimum share of passed trials for each kind of trial, such as each way of making an answer worse. Good
    results on other kinds cannot make up for a kind on which the judge fails."""


CRITERIA: Mapping[CheckName, AdmissionCriterion] = {
    # A rubric has 2 to 6 examples. These are too few to require an interval above a useful threshold.
    "examples_exact": AdmissionCriterion(rate=0.5),
    "examples_near": AdmissionCriterion(rate=0.8),
    # A trial passes if the value is lower, so a judge that guesses passes half of the trials.
    "persona_swap": AdmissionCriterion(rate=0.75, chance=0.5),
    "degraded": AdmissionCriterion(rate=0.8, chance=0.5, rate_per_kind=0.5),
    # A judge that rewards length raises every padded answer that is below the best level.
    "padded": AdmissionCriterion(rate=0.7),
    # Good judges at temperature 0 still change one or two of seven borderline items.
    "repeats": AdmissionCriterion(rate=0.7),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One test of the judge, which it passes or fails."""

    check: CheckName
    item: str
    """Name of the answer. ``example 1`` is the first example of the rubric. An answer that is packaged with
    Hengwen has the id of its character and of its input, such as ``scales.day``. An answer from ``items`` of
    ``admission_test`` has its sample id."""
    kind: str = ""
    """How the answer was spoiled, or the character whose description replaced the right one."""
    outcome: TrialResult = "no_verdict"
    """Result of the trial. ``no_verdict`` means that a value is missing, so the trial is neither passed nor
    failed."""
    values: tuple[float | None, ...] = ()
    """The judge's values: one value, two values (of the original and of the changed copy), or one value per
    repeat. A missing value is None."""
    expected: float | None = None
    """Correct level of the answer in the checks ``examples_exact`` and ``examples_near``; otherwise None."""
    message: str = ""
    """Why a value is missing."""

    def as_dict(self) -> dict[str, Any]:
        """Return the trial as plain values, ready for JSON."""
        names = {"outcome": "fate", "expected": "wanted"}
        return {names.get(name, name): value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of the admission test: its trials, and whether it is passed."""

    name: CheckName
    trials: tuple[Trial, ...] = ()
    note: str = ""
    """Why there are no trials, or a remark on the trials."""
    required: bool = True
    """Whether the decision needs this check; False if the check is impossible with the rubric or always
    passed."""

    @property
    def n(self) -> int:
        """Number of trials for which the judge gave all needed verdicts."""
        return self.passed + self.failed

    @property
    def passed(self) -> int:
        """Number of trials passed."""
        return sum(trial.outcome == "passed" for trial in self.trials)

    @property
    def failed(self) -> int:
        """Number of trials failed."""
        return sum(trial.outcome == "failed" for trial in self.trials)

    @property
    def no_verdict(self) -> int:
        """Number of trials that are neither passed nor failed, because a verdict is missing."""
        return len(self.trials) - self.n

    @property
    def rate(self) -> float | None:
        """Share of the ``n`` complete trials that the judge passed; None if ``n`` is 0."""
        return self.passed / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % Wilson interval of ``rate`` (share of passed trials); None if ``n`` is 0."""
        trials = [trial for trial in self.trials if trial.outcome != "no_verdict"]
        if not trials:
            return None
        return clustered_wilson(
            [trial.outcome == "passed" for trial in trials], [trial.item for trial in trials]
        )

    @property
    def by_kind(self) -> dict[str, dict[TrialResult, int]]:
        """For each kind of trial, the number of trials by result; kinds are in the order of the trials."""
        return {
            kind: {outcome: getattr(check, outcome) for outcome in get_args(TrialResult)}
            for kind, check in self._kinds().items()
        }

    @property
    def status(self) -> CheckStatus:
        """Result of the check: ``passed``, ``failed``, ``unclear`` or ``not_applicable``."""
        if not self.required:
            return "not_applicable"
        criterion, rate, interval = CRITERIA[self.name], self.rate, self.interval
        if rate is None or interval is None:
            return "unclear"
        kinds = self._kinds().values()
        ends = [kind.interval[1] for kind in kinds if kind.interval is not None]
        if interval[1] < criterion.rate or any(end < criterion.rate_per_kind for end in ends):
            return "failed"
        passed = (
            rate >= criterion.rate
            and self.n >= MIN_COVERAGE * len(self.trials)
            and (criterion.chance is None or interval[0] > criterion.chance)
            and all((kind.rate or 0.0) >= criterion.rate_per_kind for kind in kinds)
        )
        return "passed" if passed else "unclear"

    def _kinds(self) -> dict[str, Check]:
        """Return for each kind of trial the check with its trials alone."""
        return {
            kind: replace(self, trials=tuple(trial for trial in self.trials if trial.kind == kind))
            for kind in dict.fromkeys(trial.kind for trial in self.trials)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionReport:
    """Whether a judge can be trusted with a rubric.

    ``admitted``: at least ``MIN_BASES`` good answers have a verdict, and the judge passed every required
    check and the attacks (if any were run). ``not admitted``: the judge failed a required check, or attacks
    raised its values. ``inconclusive``: neither is the case, for example with too few answers.

    A check fails if the whole confidence interval of its share of passed trials is below ``rate`` in
    ``CRITERIA``. The check ``degraded`` (answers made worse) also fails if the interval of one kind of trial
    is below ``rate_per_kind``.

    The test does not compare the judge with human labels; ``calibrate`` does that.
    """

    judge: str
    rubric: str
    """Name, version and hash of the rubric."""
    cases: str
    """Hash of the test cases that come with Hengwen, 8 hex digits. Reports with different hashes are not
    comparable."""
    language: str
    checks: tuple[Check, ...]
    verdicts: int
    """Number of verdicts that were requested from the judge."""
    bases: int
    """Number of good answers on which the judge gave a verdict."""
    usage: Usage = field(default_factory=Usage)
    models: tuple[str, ...] = ()
    """Names of the models that judged, as their server returned them."""
    attacks: CanaryReport | None = None
    """Results of the attacks on this judge; None if no attacks were run. Without attacks, the checks alone
    decide."""

    @property
    def verdict(self) -> AdmissionDecision:
        """``admitted``, ``not admitted`` or ``inconclusive``."""
        statuses = [status for _, status in self.reasons]
        if "failed" in statuses:
            return "not admitted"
        return "inconclusive" if statuses or not any(check.required for check in self.checks) else "admitted"

    @property
    def reasons(self) -> tuple[tuple[ReasonName, CheckStatus], ...]:
        """What keeps the judge from admission: checks, ``bases`` (too few) or ``attacks``, with status."""
        reasons: list[tuple[ReasonName, CheckStatus]] = [
            (check.name, check.status) for check in self.checks if check.required and check.status != "passed"
        ]
        if self.bases < MIN_BASES:
            reasons.append(("bases", "unclear"))
        if self.attacks is not None and self.attacks.status != "passed":
            reasons.append(("attacks", self.attacks.status))
        return tuple(reasons)

    @property
    def silent(self) -> bool:
        """Whether the judge gave no verdict to any query."""
        values = [value for check in self.checks for trial in check.trials for value in trial.values]
        return bool(values) and all(value is None for value in values)

    def __getitem__(self, name: CheckName) -> Check:
        """Return the check that has this name."""
        return next(check for check in self.checks if check.name == name)

    def as_dict(self) -> dict[str, Any]:
        """Return the report without the results of the attacks, as plain values that are ready for JSON."""
        return {
            "judge": self.judge,
            "rubric": self.rubric,
            "cases": self.cases,
            "language": self.language,
            "verdict": self.verdict,
            "reasons": [" ".join(reason) for reason in self.reasons],
            "bases": self.bases,
            "verdicts": self.verdicts,
            "usage": asdict(self.usage),
            "models": list(self.models),
            "checks": {check.name: _check_dict(check) for check in self.checks},
        }


def _check_dict(check: Check) -> dict[str, Any]:
    criterion = CRITERIA[check.name]
    return {
        "status": check.status,
        "n": check.n,
        "passed": check.passed,
        "failed": check.failed,
        "no_verdict": check.no_verdict,
        "rate": check.rate,
        "interval": None if check.interval is None else list(check.interval),
        "bar": criterion.rate,
        "chance": criterion.chance,
        "note": check.note,
        "by_kind": check.by_kind,
        "trials": [trial.as_dict() for trial in check.trials],
    }


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
