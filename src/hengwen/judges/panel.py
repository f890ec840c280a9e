"""Several judges of one rubric as one judge: who failed is left out and named, disagreement is kept.

What the members say becomes one score by a reducer:

- ``mean`` and ``median`` of the members' values;
- ``majority``: the value that most members gave (the most, not more than half). A tie falls back to the
  median of the tied values, and ``details["tied"]`` names them: two judges that disagree meet half-way, which
  favours neither, where the lower or the first value would, and no verdict that was paid for is thrown away.

A reduced value may lie between two levels, so the scale of a panel's score has none, under any reducer.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

from hengwen.errors import HengwenError, JudgeError, StoreError
from hengwen.protocols import AcceptsEvidence
from hengwen.records import STATUSES, Failure, Outcome, Score, Usage, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.protocols import Judge
    from hengwen.records import Response, Sample, Scale, Status

PanelReducer = Literal["mean", "median", "majority"]

VERSION = 1
"""Goes up whenever the way from the members' values to a score changes."""


class Panel:
    """Judges by several judges of the same rubric, all asked at the same time.

    A member that raises, or gives a ``Failure`` for a score, is left out of that score, never counted as a
    low one; ``details["left_out"]`` says who and why. Below the quorum the outcome is a ``Failure``: of the
    status that most left-out members have, and ``not_applicable`` only where too many members cannot see
    the thing for a quorum to be reached at all. In ``details`` are also each member's value (``members``,
    by signature), their ``range`` and ``agreement``: the share of pairs of members that say the same, None
    for one member.

    Args:
        judges: At least two, with different signatures; the order does not matter.
        reducer: How values become one: ``mean``, ``median`` or ``majority`` (a tie: the median of what tied).
        quorum: Members that must have scored; default: more than half.
        name: First part of the score names; default: that of the members.

    Raises:
        ValueError: The judges are too few, give different names, use different rubrics or are the same
            twice; the reducer is unknown; the quorum is not from 1 to the number of judges.

    Examples:
        >>> import asyncio
        >>> from hengwen.judges import RulesJudge
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.records import Response, Sample
        >>> rubric = load_rubric("persona_generic")
        >>> one, other = RulesJudge(rubric=rubric), RulesJudge(rubric=rubric, markers=["meow"])
        >>> panel = Panel(judges=[one, other], reducer="mean")
        >>> answer = Response(sample_id="1", text="Good night, meow.")
        >>> level = asyncio.run(panel.judge(Sample(id="1"), answer)).outcomes[0]
        >>> sorted(level.details["members"].values()), level.value, level.details["agreement"]
        ([0.75, 1.0], 0.875, 0.0)
    """

    def __init__(
        self,
        *,
        judges: Sequence[Judge],
        reducer: PanelReducer = "median",
        quorum: int | None = None,
        name: str | None = None,
    ) -> None:
        _check_judges(judges)
        if reducer not in get_args(PanelReducer):
            raise ValueError(f"reducer must be one of {', '.join(get_args(PanelReducer))}, got {reducer!r}")
        if quorum is not None and not 1 <= quorum <= len(judges):
            raise ValueError(f"quorum must be from 1 to {len(judges)}, the number of judges, got {quorum}")
        self.judges: tuple[Judge, ...] = tuple(sorted(judges, key=lambda judge: judge.signature))
        self.reducer: PanelReducer = reducer
        self.quorum = len(judges) // 2 + 1 if quorum is None else quorum
        self.name = name or judges[0].names[0].partition(".")[0]
        self.reads_facts = any(getattr(judge, "reads_facts", False) for judge in judges)
        members = [judge.signature for judge in self.judges]
        self._signature = (
            f"{self.name}|panel:{reducer}|quorum:{self.quorum}|[{'; '.join(members)}]|v:{VERSION}"
        )
        self._named = {old: _renamed(old, self.name) if name else old for old in judges[0].names}
        self._labels = dict(zip(members, _short_labels(members), strict=True))

    def __repr__(self) -> str:
        return f"Panel({self.signature!r})"

    @property
    def signature(self) -> str:
        """Reducer, quorum and the members' signatures; never that of a single judge."""
        return self._signature

    @property
    def names(self) -> Sequence[str]:
        """Those of the members, under the panel's name."""
        return tuple(self._named.values())

    async def judge(
        self,
        sample: Sample,
        response: Response,
        *,
        earlier: Sequence[Response] = (),
        facts: Sequence[str] = (),
    ) -> Verdict:
        """Judge an answer by all members; usage is their sum, latency the longest.

        Args:
            sample: What was asked.
            response: The answer.
            earlier: The answers with a lower ``repeat``; handed to each member.
            facts: What rules found; handed to the members that read facts.

        Raises:
            StoreError: A member could not keep what was paid for.
            ValueError: Members use different scales.
        """

        async def ask(judge: Judge) -> Verdict:
            if isinstance(judge, AcceptsEvidence) and judge.reads_facts:
                return await judge.judge(sample, response, earlier=earlier, facts=facts)
            return await judge.judge(sample, response, earlier=earlier)

        results = await asyncio.gather(*map(ask, self.judges), return_exceptions=True)
        said = {
            judge.signature: settle(judge, result) for judge, result in zip(self.judges, results, strict=True)
        }
        verdicts = {
            judge.signature: result
            for judge, result in zip(self.judges, results, strict=True)
            if isinstance(result, Verdict)
        }
        raw = {signature: verdict.raw for signature, verdict in verdicts.items() if verdict.raw}
        return Verdict(
            outcomes=tuple(
                self._outcome(new, {signature: outcomes[old] for signature, outcomes in said.items()})
                for old, new in self._named.items()
            ),
            reason=self._labelled({key: verdict.reason for key, verdict in verdicts.items()}),
            raw=json.dumps(raw, ensure_ascii=False) if raw else "",
            usage=sum((verdict.usage for verdict in verdicts.values()), Usage()),
            latency=max((verdict.latency for verdict in verdicts.values()), default=0.0),
            model=", ".join(sorted({verdict.model for verdict in verdicts.values() if verdict.model})),
        )

    def _outcome(self, name: str, said: Mapping[str, Outcome]) -> Outcome:
        scores = {key: outcome for key, outcome in said.items() if isinstance(outcome, Score)}
        failures = {key: outcome for key, outcome in said.items() if isinstance(outcome, Failure)}
        if len(scores) < self.quorum:
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
        details |= _label_of(value, scores) | ({"tied": tied} if tied else {})
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
        told = "; ".join(f"{self._labels[key]}: {failure.status}" for key, failure in failures.items())
        count = f"{len(scores)} of {len(self.judges)} judges gave a score"
        kept = {key: score.value for key, score in scores.items()}
        why = {
            key: {"status": failure.status, "message": failure.message, "raw": failure.raw}
            for key, failure in failures.items()
        }
        return Failure(
            name=name,
            status=self._status(failures),
            message=f"{count}, the quorum is {self.quorum}: {told}",
            signature=self.signature,
            kind="judge",
            raw=json.dumps({"members": kept, "left_out": why}, ensure_ascii=False),
        )

    def _status(self, failures: Mapping[str, Failure]) -> Status:
        """Of the most; where two are as common, the first in ``STATUSES``."""
        counts = Counter(failure.status for failure in failures.values())
        blind = counts.pop("not_applicable", 0)
        if len(self.judges) - blind < self.quorum:
            return "not_applicable"
        return max(counts, key=lambda status: (counts[status], -STATUSES.index(status)))

    def _labelled(self, reasons: Mapping[str, str]) -> str:
        return "\n".join(f"[{self._labels[key]}] {reason}" for key, reason in reasons.items() if reason)


def settle(judge: Judge, result: Verdict | BaseException) -> dict[str, Outcome]:
    """Return an outcome for each name of a judge, from its verdict or from what it raised.

    An exception, or a verdict that does not hold what the judge promises, becomes Failures.

    Args:
        judge: Who was asked.
        result: What came of it, as ``asyncio.gather(..., return_exceptions=True)`` gives it.

    Raises:
        BaseException: The result, where it is a ``StoreError`` or no ``Exception`` (a cancellation).
    """
    if isinstance(result, JudgeError):
        return _failures(judge, result.status, str(result), result.raw)
    if isinstance(result, Exception) and not isinstance(result, StoreError):
        known = isinstance(result, (HengwenError, ValueError))
        message = str(result) if known else f"{type(result).__name__}: {result}"
        return _failures(judge, "scorer_error", message)
    if isinstance(result, BaseException):
        raise result
    given = {outcome.name: outcome for outcome in result.outcomes}
    if len(given) < len(result.outcomes) or set(given) - set(judge.names):
        names = [outcome.name for outcome in result.outcomes]
        return _failures(judge, "scorer_error", f"gave {names}, but promised {list(judge.names)}, each once")
    return _failures(judge, "scorer_error", "no outcome was given for this name") | given


def _failures(judge: Judge, status: str, message: str, raw: str = "") -> dict[str, Outcome]:
    known: Status = next((one for one in STATUSES if one == status), "scorer_error")
    return {
        name: Failure(
            name=name, status=known, message=message, signature=judge.signature, kind="judge", raw=raw
        )
        for name in judge.names
    }


def _check_judges(judges: Sequence[Judge]) -> None:
    if len(judges) < 2:
        raise ValueError(f"a panel needs at least two judges, got {len(judges)}")
    names = {tuple(judge.names) for judge in judges}
    if len(names) > 1:
        shown = " and ".join(", ".join(found) for found in sorted(names)[:2])
        raise ValueError(f"the judges of a panel must give the same scores, got {shown}")
    rubrics = {_rubric_of(judge) for judge in judges} - {""}
    if len(rubrics) > 1:
        raise ValueError(f"the judges of a panel must use the same rubric, got {', '.join(sorted(rubrics))}")
    signatures = Counter(judge.signature for judge in judges)
    twice = [signature for signature, count in signatures.items() if count > 1]
    if twice:
        raise ValueError(f"judge {twice[0]!r} sits in the panel twice; ask one judge again with repeats")


def _rubric_of(judge: Judge) -> str:
    """Name, version and hash, where a judge tells its rubric."""
    rubric: Any = getattr(judge, "rubric", None)
    return f"{rubric.name} {rubric.version}.{rubric.hash}" if hasattr(rubric, "hash") else ""


def _renamed(name: str, panel: str) -> str:
    return f"{panel}.{name.partition('.')[2] or name}"


def _short_labels(signatures: Sequence[str]) -> list[str]:
    """Say what tells each signature from the others, or all of it where that is not enough."""
    parts = [signature.split("|") for signature in signatures]
    shared = set(parts[0]).intersection(*parts[1:])
    short = ["|".join(part for part in own if part not in shared) for own in parts]
    return short if all(short) and len(set(short)) == len(short) else list(signatures)


def _common_scale(scores: Mapping[str, Score]) -> Scale | None:
    """The members' scale without its levels: one that takes the mean of samples has none either."""
    scales = {score.scale and replace(score.scale, levels=None) for score in scores.values()}
    if len(scales) > 1:
        shown = "; ".join(f"{key}: {score.scale}" for key, score in scores.items())
        raise ValueError(f"the judges of a panel must use one scale, got {shown}")
    return scales.pop()


def _label_of(value: float, scores: Mapping[str, Score]) -> dict[str, str]:
    """The label of a level, where a member whose scale has levels named it for this very value."""
    for score in scores.values():
        if score.value == value and score.scale and score.scale.levels and "label" in score.details:
            return {"label": score.details["label"]}
    return {}


def _reduce(reducer: PanelReducer, values: list[float]) -> tuple[float, list[float]]:
    """Return the reduced value, and the values that tied for the majority."""
    if reducer == "mean":
        return statistics.fmean(values), []
    if reducer == "median":
        return statistics.median(values), []
    most = sorted(statistics.multimode(values))
    return statistics.median(most), most if len(most) > 1 else []


def _agreement(values: Sequence[float]) -> float | None:
    pairs = [a == b for a, b in combinations(values, 2)]
    return sum(pairs) / len(pairs) if pairs else None
