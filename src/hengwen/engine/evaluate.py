"""Scorers and judges to outcomes: the one place where an exception becomes a ``Failure``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.engine.job import signatures_by_name
from hengwen.errors import HengwenError, JudgeError, StoreError
from hengwen.records import STATUSES, Failure, Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.protocols import GroupScorer, Judge, Scorer
    from hengwen.records import Response, Sample, Status


def score(
    scorer: Scorer, sample: Sample, response: Response, earlier: Sequence[Response] = ()
) -> list[Outcome]:
    """Score an answer; whatever goes wrong becomes a Failure for each of the scorer's names."""
    try:
        after = getattr(scorer, "score_after", None)  # of a HistoryScorer
        given = scorer.score(sample, response) if after is None else after(sample, response, earlier)
        return _complete(scorer, list(given), "code")
    except Exception as error:
        return failures(scorer, error, "code")


def score_set(scorer: GroupScorer, items: Sequence[tuple[Sample, Response]]) -> list[Outcome]:
    """Score a set of answers; whatever goes wrong becomes a Failure for each of the scorer's names."""
    try:
        return _complete(scorer, list(scorer.score_set(items)), "code")
    except Exception as error:
        return failures(scorer, error, "code")


async def judge(
    judge: Judge, sample: Sample, response: Response, earlier: Sequence[Response]
) -> list[Outcome]:
    """Judge an answer; whatever goes wrong becomes a Failure for each of the judge's names.

    Raises:
        StoreError: What was paid for cannot be kept: the run must stop.
    """
    try:
        verdict = await judge.judge(sample, response, earlier=earlier)
        return _complete(judge, list(verdict.outcomes), "judge")
    except StoreError:
        raise
    except Exception as error:
        return failures(judge, error, "judge")


def derive(
    judge: Judge,
    outcomes: Sequence[Outcome],
    sample: Sample,
    response: Response,
    earlier: Sequence[Response],
) -> list[Outcome] | None:
    """Derive from outcomes of before what a judge derives; None where it is not one that can."""
    derive = getattr(judge, "derive", None)  # of a Rederivable judge
    if derive is None:
        return None
    try:
        derived = derive(outcomes, sample, response, earlier)
        return _complete(judge, [*outcomes, *derived], "judge")
    except Exception as error:
        return failures(judge, error, "judge")


def failures(weigher: Scorer | GroupScorer | Judge, error: Exception, kind: Kind) -> list[Outcome]:
    """Make a Failure for each name of a scorer or judge that raised."""
    status: Status = "scorer_error"
    raw = ""
    if isinstance(error, JudgeError):
        raw = error.raw
        status = next((known for known in STATUSES if known == error.status), "scorer_error")
    known = isinstance(error, (HengwenError, ValueError))
    message = str(error) if known else f"{type(error).__name__}: {error}"
    return [
        Failure(name=name, status=status, message=message, signature=signature, kind=kind, raw=raw)
        for name, signature in signatures_by_name(weigher).items()
    ]


def _complete(weigher: Scorer | GroupScorer | Judge, outcomes: list[Outcome], kind: Kind) -> list[Outcome]:
    """Add a Failure for each promised name that is not there; what was not promised is an error."""
    given = [outcome.name for outcome in outcomes]
    if given == list(weigher.names):
        return outcomes
    extra = sorted(set(given) - set(weigher.names))
    if extra or len(set(given)) < len(given):
        raise ValueError(f"{weigher.signature} gave {given}, but promised {list(weigher.names)}, each once")
    absent = [(name, own) for name, own in signatures_by_name(weigher).items() if name not in given]
    return outcomes + [
        Failure(
            name=name,
            status="scorer_error",
            message="no outcome was given for this name",
            signature=own,
            kind=kind,
        )
        for name, own in absent
    ]
