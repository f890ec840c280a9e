"""What an admission test found: trials, checks with their bars and intervals, and a verdict."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from hengwen.records import Usage
from hengwen.stats.proportions import wilson

if TYPE_CHECKING:
    from collections.abc import Mapping

Name = Literal["examples_exact", "examples_near", "persona_swap", "degraded", "repeats"]
NAMES: tuple[Name, ...] = get_args(Name)
TrialResult = Literal["passed", "failed", "no_verdict"]
CheckStatus = Literal["passed", "failed", "unclear", "not_applicable"]
Decision = Literal["admitted", "not admitted", "inconclusive"]

COVERAGE = 0.8
"""Least share of trials that must have got their verdicts, for a check to be passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionCriterion:
    """What a check asks for."""

    rate: float
    """Least share of trials passed. Where even the upper end of the interval lies below, the check failed."""
    chance: float | None = None
    """What the lower end of the interval must lie above: the share that a coin would reach."""
    each: float | None = None
    """Least share for every kind of trial: a judge that is blind to one kind must not pass by the others."""


BARS: Mapping[Name, AdmissionCriterion] = {
    # A rubric has 2 to 6 examples: no interval that short a list allows lies above anything worth asking.
    "examples_exact": AdmissionCriterion(rate=0.5),
    "examples_near": AdmissionCriterion(rate=0.8),
    # "Lower" is a question with two answers: a judge that tosses a coin must not pass.
    "persona_swap": AdmissionCriterion(rate=0.75, chance=0.5),
    "degraded": AdmissionCriterion(rate=0.8, chance=0.5, each=0.5),
    # Good judges at temperature 0 still flip one or two in seven borderline items.
    "repeats": AdmissionCriterion(rate=0.7),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One question to the judge that it passes or fails."""

    check: Name
    item: str
    """Which answer: ``example 1``, ``scales.day`` or the caller's id."""
    kind: str = ""
    """How a degraded copy was made, or under whose description a swap was judged."""
    fate: TrialResult
    """``no_verdict``: a value is missing, so it is neither passed nor failed."""
    values: tuple[float | None, ...]
    """What the judge gave: one value; the original's and the other's; or one for each repeat."""
    wanted: float | None = None
    """The level of an example."""
    message: str = ""
    """Why a value is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The trials of one kind, counted."""

    name: Name
    trials: tuple[Trial, ...] = ()
    note: str = ""
    """Why there are none, or what to know about them."""
    counts: bool = True
    """Whether the verdict needs it; not where the rubric has nothing to try."""

    @property
    def n(self) -> int:
        """Trials with their verdicts."""
        return self.passed + self.failed

    @property
    def passed(self) -> int:
        """Trials passed."""
        return sum(trial.fate == "passed" for trial in self.trials)

    @property
    def failed(self) -> int:
        """Trials failed."""
        return sum(trial.fate == "failed" for trial in self.trials)

    @property
    def no_verdict(self) -> int:
        """Trials without a verdict: neither passed nor failed."""
        return len(self.trials) - self.n

    @property
    def rate(self) -> float | None:
        """Share of ``n`` that passed; None where n is 0."""
        return self.passed / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the rate (Wilson), which takes trials for independent."""
        return wilson(self.passed, self.n) if self.n else None

    @property
    def by_kind(self) -> dict[str, dict[TrialResult, int]]:
        """Fates for each kind, in the order of the trials."""
        counts = {kind: Counter(trial.fate for trial in trials) for kind, trials in self._kinds().items()}
        return {kind: {fate: found[fate] for fate in get_args(TrialResult)} for kind, found in counts.items()}

    @property
    def status(self) -> CheckStatus:
        """``passed`` or ``failed`` by the bar; ``unclear`` between them, or with too few verdicts."""
        if not self.counts:
            return "not_applicable"
        bar, rate, interval = BARS[self.name], self.rate, self.interval
        if rate is None or interval is None:
            return "unclear"
        kinds = [Check(name=self.name, trials=tuple(of_kind)) for of_kind in self._kinds().values()]
        if interval[1] < bar.rate or any(kind._surely_below(bar.each) for kind in kinds):
            return "failed"
        told = self.n >= COVERAGE * len(self.trials)
        above = bar.chance is None or interval[0] > bar.chance
        each = bar.each is None or all((kind.rate or 0.0) >= bar.each for kind in kinds)
        return "passed" if told and above and each and rate >= bar.rate else "unclear"

    def _kinds(self) -> dict[str, list[Trial]]:
        found: dict[str, list[Trial]] = {}
        for trial in self.trials:
            found.setdefault(trial.kind, []).append(trial)
        return found

    def _surely_below(self, rate: float | None) -> bool:
        interval = self.interval
        return rate is not None and interval is not None and interval[1] < rate


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionReport:
    """Whether a judge may be trusted with a rubric, as far as these checks can tell.

    ``not admitted``: at least one check failed: the upper end of its interval, or of that of one kind of
    degraded copies, lies below its bar (``BARS``).
    ``admitted``: every check that applies passed. ``inconclusive``: anything between, too few verdicts or too
    few trials among them. Canaries and human labels ask other questions and are not part of it.
    """

    judge: str
    """Signature."""
    rubric: str
    """Name, version and hash."""
    cases: str
    """8 hex digits of the packaged cases."""
    language: str
    checks: tuple[Check, ...]
    verdicts: int
    """Verdicts that were asked for."""
    usage: Usage = field(default_factory=Usage)

    @property
    def verdict(self) -> Decision:
        """``admitted``, ``not admitted`` or ``inconclusive``."""
        statuses = {check.status for check in self.checks if check.counts}
        if "failed" in statuses:
            return "not admitted"
        return "admitted" if statuses == {"passed"} else "inconclusive"

    @property
    def silent(self) -> bool:
        """Whether the judge was asked and gave no verdict at all."""
        values = [value for check in self.checks for trial in check.trials for value in trial.values]
        return bool(values) and all(value is None for value in values)

    def __getitem__(self, name: Name) -> Check:
        """Return a check by name."""
        return next(check for check in self.checks if check.name == name)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, ready for JSON."""
        return {
            "judge": self.judge,
            "rubric": self.rubric,
            "cases": self.cases,
            "language": self.language,
            "verdict": self.verdict,
            "verdicts": self.verdicts,
            "usage": asdict(self.usage),
            "checks": {check.name: _check_dict(check) for check in self.checks},
        }


def _check_dict(check: Check) -> dict[str, Any]:
    bar = BARS[check.name]
    return {
        "status": check.status,
        "n": check.n,
        "passed": check.passed,
        "failed": check.failed,
        "no_verdict": check.no_verdict,
        "rate": check.rate,
        "interval": None if check.interval is None else list(check.interval),
        "bar": bar.rate,
        "chance": bar.chance,
        "note": check.note,
        "by_kind": check.by_kind,
        "trials": [{**asdict(trial), "values": list(trial.values)} for trial in check.trials],
    }
