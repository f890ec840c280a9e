"""A panel combines the values of several judges with the same rubric; judges that fail are excluded.

A reducer combines the values of the judges (members) into one score:

- ``mean`` and ``median`` are the mean and the median of the members' values;
- ``majority`` is the most frequent value, even if fewer than half of the members gave it. If several values
  are equally frequent, the result is the median of these values, which favours no member, and
  ``details["tied"]`` lists them.

A combined value may lie between two levels, so the scale of a panel's score has no levels.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, get_args

from hengwen._internal.plugins import describe_error
from hengwen.errors import StoreError
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext, Judge, parts_read
from hengwen.records import STATUSES, Failure, Outcome, Response, Sample, Scale, Score, Status, Usage, Verdict
from hengwen.results.comparability import provenance_of
from hengwen.score_id import judge_name, score_ids, score_name

PanelReducer = Literal["mean", "median", "majority"]

VERSION = 1
"""Version of the computation from the members' values to a score; it is a part of the signature."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Panel:
    """Judge an answer by several judges (members) that use the same rubric and run concurrently.

    A member that raises an exception, or gives a ``Failure`` for a score, is excluded from this score; it
    never counts as a low value. If fewer than ``quorum`` members remain, the panel's score is a ``Failure``.
    If the members without the status ``not_applicable`` are fewer than ``quorum``, the panel's ``Failure``
    has the status ``not_applicable``. Otherwise, it has the most frequent status, except ``not_applicable``,
    of the excluded members.

    The details of a score contain ``reducer``, ``members`` (the value of each member) and ``left_out`` (the
    status of each excluded member). The keys of ``members`` and ``left_out`` are the members' signatures
    (texts of all settings). Further details are the members' ``model``, ``form`` (response format) and
    ``method`` (how a value was computed), the ``range`` of the values and ``agreement``.
    ``agreement`` is the share of pairs of members whose two values are equal. The agreement is not corrected
    for chance; it is None if only one member has a value.

    Args:
        judges: At least two judges with different signatures, in any order.
        reducer: ``mean``, ``median`` or ``majority`` (on a tie, the median of the tied values).
        quorum: Number of members that must give a value; default: more than half.
        name: First part of the score names; default: the first part of the members' score names.

    Raises:
        ValueError: There are fewer than two judges, two judges are equal, or the judges give different scores
            or use different rubrics; the reducer is unknown; the quorum is not from 1 to the number of
            judges.

    Examples:
        >>> import asyncio
        >>> from hengwen.judges import RulesJudge
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.records import Response, Sample
        >>> rubric = load_rubric("persona_generic")
        >>> members = [RulesJudge(rubric=rubric), RulesJudge(rubric=rubric, markers=["meow"])]
        >>> panel = Panel(judges=members, reducer="mean")
        >>> answer = Response(sample_id="1", text="Good night, meow.")
        >>> level = asyncio.run(panel.judge(Sample(id="1"), answer)).outcomes[0]
        >>> sorted(level.details["members"].values()), level.value, level.details["agreement"]
        ([0.75, 1.0], 0.875, 0.0)
    """

    judges: Sequence[Judge]
    reducer: PanelReducer = "median"
    quorum: int | None = None
    name: str = ""
    _quorum: int = field(init=False)
    _names_by_member_name: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        judges, quorum = self.judges, self.quorum
        _check_judges(judges)
        if self.reducer not in get_args(PanelReducer):
            choices = ", ".join(get_args(PanelReducer))
            raise ValueError(f"reducer must be one of {choices}, got {self.reducer!r}")
        if quorum is not None and not 1 <= quorum <= len(judges):
            raise ValueError(f"quorum must be from 1 to {len(judges)}, the number of judges, got {quorum}")
        members_name = judge_name(judges[0].names)
        renamed = {
            member_name: score_name(self.name, score.part or member_name) if self.name else member_name
            for member_name, score in score_ids("", judges[0].names, members_name).items()
        }
        object.__setattr__(self, "_names_by_member_name", renamed)
        object.__setattr__(self, "name", self.name or members_name)
        for field_name in ("quorum", "_quorum"):
            object.__setattr__(self, field_name, len(judges) // 2 + 1 if quorum is None else quorum)
        object.__setattr__(self, "judges", tuple(sorted(judges, key=lambda judge: judge.signature)))

    @cached_property
    def _labels(self) -> Mapping[str, str]:
        members = [judge.signature for judge in self.judges]
        return dict(zip(members, short_labels(members), strict=True))

    @cached_property
    def reads(self) -> frozenset[ContextPart]:
        """Parts of the context that a member reads."""
        return frozenset().union(*map(parts_read, self.judges))

    def __repr__(self) -> str:
        return f"Panel({self.signature!r})"

    @cached_property
    def signature(self) -> str:
        """Text with the reducer, the quorum and the signatures of all members."""
        members = "; ".join(judge.signature for judge in self.judges)
        return f"{self.name}|panel:{self.reducer}|quorum:{self._quorum}|[{members}]|v:{VERSION}"

    @property
    def names(self) -> Sequence[str]:
        """Names of the members' scores, with the panel's name as first part."""
        return tuple(self._names_by_member_name.values())

    async def judge(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> Verdict:
        """Let all members judge an answer; used tokens are added up, latency is that of the slowest member.

        Raises:
            StoreError: A member could not store a paid reply.
            ValueError: Members use different scales.
        """
        results = await asyncio.gather(
            *(judge.judge(sample, response, *context.arguments_for(judge)) for judge in self.judges),
            return_exceptions=True,
        )
        outcomes = {
            judge.signature: outcomes_or_failures(judge, result)
            for judge, result in zip(self.judges, results, strict=True)
        }
        verdicts = {
            judge.signature: result
            for judge, result in zip(self.judges, results, strict=True)
            if isinstance(result, Verdict)
        }
        raw = {signature: verdict.raw for signature, verdict in verdicts.items() if verdict.raw}
        return Verdict(
            outcomes=tuple(
                self._outcome(name, {key: by_name[member_name] for key, by_name in outcomes.items()})
                for member_name, name in self._names_by_member_name.items()
            ),
            reason=self._labelled({key: verdict.reason for key, verdict in verdicts.items()}),
            raw=json.dumps(raw, ensure_ascii=False) if raw else "",
            usage=sum((verdict.usage for verdict in verdicts.values()), Usage()),
            latency=max((verdict.latency for verdict in verdicts.values()), default=0.0),
            model=", ".join(sorted({verdict.model for verdict in verdicts.values() if verdict.model})),
        )

    def _outcome(self, name: str, outcomes: Mapping[str, Outcome]) -> Outcome:
        scores = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, Score)}
        failures = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, Failure)}
        if len(scores) < self._quorum:
            return self._failure(name, scores, failures)
        scale = _common_scale(scores)
        values = {key: score.value for key, score in scores.items()}
        value, tied = _reduce(self.reducer, list(values.values()))
        details: dict[str, Any] = {
            "reducer": self.reducer,
            "members": values,
            "left_out": {key: failure.status for key, failure in failures.items()},
            "range": max(values.values()) - min(values.values()),
            "agreement": _agreement(list(values.values())),
        }
        details |= _label_of(value, scores) | _provenance(scores.values()) | ({"tied": tied} if tied else {})
        return Score(
            name=name,
            value=value,
            signature=self.signature,
            scale=scale,
            kind="judge",
            reason=self._labelled({key: score.reason for key, score in scores.items()}),
            details=details,
        )

    def _failure(self, name: str, scores: Mapping[str, Score], failures: Mapping[str, Failure]) -> Failure:
        statuses = "; ".join(f"{self._labels[key]}: {failure.status}" for key, failure in failures.items())
        count = f"{len(scores)} of {len(self.judges)} judges gave a score"
        values = {key: score.value for key, score in scores.items()}
        excluded = {
            key: {"status": failure.status, "message": failure.message, "raw": failure.raw}
            for key, failure in failures.items()
        }
        return Failure(
            name=name,
            status=self._status(failures),
            message=f"{count}, the quorum is {self._quorum}: {statuses}",
            signature=self.signature,
            kind="judge",
            raw=json.dumps({"members": values, "left_out": excluded}, ensure_ascii=False),
        )

    def _status(self, failures: Mapping[str, Failure]) -> Status:
        """Return the status of the panel's ``Failure``."""
        counts = Counter(failure.status for failure in failures.values())
        not_applicable = counts.pop("not_applicable", 0)
        if len(self.judges) - not_applicable < self._quorum:
            return "not_applicable"
        return max(counts, key=lambda status: (counts[status], -STATUSES.index(status)))

    def _labelled(self, reasons: Mapping[str, str]) -> str:
        return "\n".join(f"[{self._labels[key]}] {reason}" for key, reason in reasons.items() if reason)


def outcomes_or_failures(judge: Judge, result: Verdict | BaseException) -> dict[str, Outcome]:
    """Return a ``Score`` or a ``Failure`` for each score name of a judge that was called."""
    if isinstance(result, Exception) and not isinstance(result, StoreError):
        return _failures(judge, *describe_error(result))
    if isinstance(result, BaseException):
        raise result
    outcomes = {outcome.name: outcome for outcome in result.outcomes}
    if len(outcomes) < len(result.outcomes) or set(outcomes) - set(judge.names):
        names = [outcome.name for outcome in result.outcomes]
        return _failures(judge, "scorer_error", f"gave {names}, but promised {list(judge.names)}, each once")
    return _failures(judge, "scorer_error", "no outcome was given for this name") | outcomes


def _failures(judge: Judge, status: Status, message: str, raw: str = "") -> dict[str, Outcome]:
    return {
        name: Failure(
            name=name, status=status, message=message, signature=judge.signature, kind="judge", raw=raw
        )
        for name in judge.names
    }


def _check_judges(judges: Sequence[Judge]) -> None:
    if len(judges) < 2:
        raise ValueError(f"a panel needs at least two judges, got {len(judges)}")
    names = {tuple(judge.names) for judge in judges}
    if len(names) > 1:
        examples = " and ".join(", ".join(group) for group in sorted(names)[:2])
        raise ValueError(f"the judges of a panel must give the same scores, got {examples}")
    rubrics = {_rubric_of(judge) for judge in judges} - {""}
    if len(rubrics) > 1:
        raise ValueError(f"the judges of a panel must use the same rubric, got {', '.join(sorted(rubrics))}")
    signatures = Counter(judge.signature for judge in judges)
    repeated = [signature for signature, count in signatures.items() if count > 1]
    if repeated:
        raise ValueError(
            f"judge {repeated[0]!r} is in the panel twice; use repeats for several verdicts of one judge"
        )


def _rubric_of(judge: Judge) -> str:
    """Return name, version and hash of a judge's rubric; empty if the judge has no rubric."""
    rubric: Any = getattr(judge, "rubric", None)
    return f"{rubric.name} {rubric.version}.{rubric.hash}" if hasattr(rubric, "hash") else ""


def short_labels(signatures: Sequence[str]) -> list[str]:
    """A short name for each signature: its parts (separated by ``|``) that are not in all signatures."""
    parts = [signature.split("|") for signature in signatures]
    shared = set(parts[0]).intersection(*parts[1:])
    short = ["|".join(part for part in signature if part not in shared) for signature in parts]
    return short if all(short) and len(set(short)) == len(short) else list(signatures)


def _common_scale(scores: Mapping[str, Score]) -> Scale | None:
    """Return the members' common scale; its levels are removed, because some members may have no levels."""
    is_discrete = any(score.scale and score.scale.discrete for score in scores.values())
    scales = {
        score.scale and replace(score.scale, levels=None, discrete=is_discrete) for score in scores.values()
    }
    if len(scales) > 1:
        by_member = "; ".join(f"{key}: {score.scale}" for key, score in scores.items())
        raise ValueError(f"the judges of a panel must use one scale, got {by_member}")
    return scales.pop()


def _label_of(value: float, scores: Mapping[str, Score]) -> dict[str, str]:
    """Return the label of a combined value if a member whose scale has levels gave exactly this value."""
    for score in scores.values():
        if score.value == value and score.scale and score.scale.levels and "label" in score.details:
            return {"label": str(score.details["label"])}
    return {}


def _provenance(scores: Iterable[Score]) -> dict[str, list[str]]:
    """Return model, response format (``form``) and method of the members' scores, one value per member."""
    values: dict[str, list[str]] = {}
    for score in scores:
        for part, value in provenance_of(score.details):
            values.setdefault(part, []).append(value)
    return values


def _reduce(reducer: PanelReducer, values: list[float]) -> tuple[float, list[float]]:
    """Return the combined value, and the most frequent values if ``majority`` finds more than one."""
    if reducer == "mean":
        return statistics.fmean(values), []
    if reducer == "median":
        return statistics.median(values), []
    most = sorted(statistics.multimode(values))
    return statistics.median(most), most if len(most) > 1 else []


def _agreement(values: Sequence[float]) -> float | None:
    pairs = [a == b for a, b in combinations(values, 2)]
    return sum(pairs) / len(pairs) if pairs else None


LevelFrom = Literal["holistic", "min_aspect", "median_aspect"]


def parse_level_from(how: str, criteria: Sequence[str]) -> LevelFrom:
    """Check the option ``level_from`` and return it."""
    methods: tuple[LevelFrom, ...] = get_args(LevelFrom)
    for method in methods:
        if method == how:
            if method != "holistic" and not criteria:
                raise ValueError(f"level_from: {how} needs a rubric with criteria")
            return method
    raise ValueError(f"level_from must be one of {', '.join(methods)}, got {how!r}")


def aggregate_level(how: LevelFrom, level: Outcome, aspects: Sequence[Outcome]) -> Outcome:
    """Return the overall level of an answer."""
    if how == "holistic":
        return level
    for aspect in aspects:
        if isinstance(aspect, Failure) and aspect.status != "not_applicable":
            return replace(aspect, name=level.name, message=f"no {how}: {aspect.name}: {aspect.message}")
    scores = [aspect for aspect in aspects if isinstance(aspect, Score)]
    if not scores:
        return Failure(
            name=level.name,
            status="not_applicable",
            message=f"no {how}: no criterion applies",
            signature=level.signature,
            kind="judge",
        )
    values = [score.value for score in scores]
    value = min(values) if how == "min_aspect" else statistics.median_low(values)
    chosen = next(score for score in scores if score.value == value)
    holistic = level if isinstance(level, Score) else None
    details = {
        **chosen.details,
        **({"holistic": holistic.value} if holistic else {}),
        "level_from": how,
        "aspect": score_ids("", [level.name, chosen.name], judge_name([level.name]))[chosen.name].part,
    }
    reason = (holistic.reason if holistic else "") or chosen.reason
    return replace(chosen, name=level.name, value=value, reason=reason, details=details)
