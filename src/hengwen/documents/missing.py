"""Words about answers without a score: how many, what they could change, and whether another run helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hengwen.documents.blocks import Verdict
from hengwen.results.coverage import MAX_EMPTY_SHARE, MIN_COVERAGE, RETRYABLE, EmptyAnswers
from hengwen.text.language import NOTED, Bilingual, say
from hengwen.text.numbers import number, percent

MAX_EMPTY = 3
"""Maximum number of checkpoints whose empty answers have a line of their own."""
_NOT_REACHED = say("prompts were not reached: run without --limit")
_RUN_AGAIN = say("run again to fill the gaps: hengwen run")
_ASK_AGAIN = say(
    "running again asks the model once more; if it fails again, read the replies and change the judge"
)
_RECORDED = say(
    "the replies are recorded, so running again changes nothing: record them anew, or ask a live model"
)
_IMPORTED = say("the scores are imported: add what is missing to the file, and import it again")
_MENDS: Mapping[str, Bilingual] = {
    **dict.fromkeys(RETRYABLE, _RUN_AGAIN),
    "missing": say("the file of answers lacks them: add them, then run again"),
    "rejected": say("the endpoint rejected the requests: mend what it rejects, then run again"),
    "scorer_error": say("the scorer failed: mend it, then run again"),
}
"""What to do about failures, by their status; for other statuses, the model gave no usable reply."""


def missing_text(
    checkpoint: str, prompts: float, answers: float, bounds: tuple[float, float] | None, decimals: int
) -> Bilingual:
    """Return which shares of a checkpoint's prompts and answers have a score, and what that leaves open."""
    text = say(
        "{checkpoint} has a score for {prompts} of the prompts, {answers} of the answers",
        checkpoint=checkpoint,
        prompts=percent(prompts),
        answers=percent(answers),
    )
    if bounds is None:
        return text
    low, high = (number(end, decimals) for end in bounds)
    means = say("mean {low} to {high} if the missing ones score lowest or highest", low=low, high=high)
    return NOTED.format(text, means)


def empty_text(item: EmptyAnswers) -> Bilingual:
    """Return how many answers of a checkpoint are empty, and what to do."""
    checkpoint, _, empty, n = item
    return say(
        "{empty} of {n} answers of {checkpoint} {value} empty; empty answers are scored like others, "
        "so find out why",
        empty=empty,
        n=n,
        checkpoint=checkpoint,
        value="is" if empty == 1 else "are",
    )


def empty_verdicts(items: Iterable[EmptyAnswers]) -> tuple[Verdict, ...]:
    """Return a line for each checkpoint and task with empty answers; of many, the worst and a count."""
    ordered = sorted(items, key=lambda item: -item.empty / item.answers)
    lines = [
        Verdict(tone="worse", subject=item.task, sentence=empty_text(item)) for item in ordered[:MAX_EMPTY]
    ]
    rest = len(ordered) - MAX_EMPTY
    if rest > 0:
        text = say(
            "{rest} more with over {max_empty_share} empty answers (JSON: empty_answers)",
            rest=rest,
            max_empty_share=percent(MAX_EMPTY_SHARE),
        )
        lines.append(Verdict(tone="worse", sentence=text))
    return tuple(lines)


def least_text() -> Bilingual:
    """Return why missing answers allow no verdict."""
    least = percent(MIN_COVERAGE)
    return say("below {least}, so no verdict: the missing answers may be the bad ones", least=least)


def mend_text(
    failures: Mapping[str, int], *, is_recorded: bool = False, is_imported: bool = False
) -> Bilingual:
    """Return what mends the most frequent failures; another run is advised only where it can help."""
    if is_imported:
        return _IMPORTED
    status = max(failures, key=failures.__getitem__, default="")
    if not status:
        return _NOT_REACHED
    mend = _MENDS.get(status, _ASK_AGAIN)
    return _RECORDED if is_recorded and mend in (_RUN_AGAIN, _ASK_AGAIN) else mend
