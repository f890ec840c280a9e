"""Words of the pages of ``hengwen view``."""

from __future__ import annotations

from collections.abc import Sequence

from hengwen.labels.desk import RaterAgreement
from hengwen.text.language import NO_TEXT, Bilingual, say
from hengwen.text.numbers import number, plural

PAGES = {
    "/": say("Home"),
    "/grid": say("Grid"),
    "/compare": say("Compare"),
    "/answer": say("Answer"),
    "/judges": say("Judges"),
    "/label": say("Label"),
}
"""The addresses of pages with their titles, in the order of the table of contents."""
NO_COOKIE = say(
    "No key: open the address that hengwen view printed; if it was used before, run the command again."
)
BAD_TOKEN = say(
    "The key in the address is wrong, or was used: run hengwen view again, and open the address it prints."
)
CROSS_SITE = say("This form comes from another site; it was refused.")
READ_ONLY = say("Read-only: to label, open it with hengwen view --label PLAN.")
TOO_LONG = say("The form is too long.")
STORE_PROBLEM = say("The store cannot be read.")
NOT_THERE = say("There is nothing here.")

# the grid
SCORE = say("score")
CHECKPOINT = say("checkpoint")
SHOW = say("show")
AGAINSTS = {
    "before": say("the one before"),
    "best": say("best seen of the others"),
    "baseline": say("the pinned baseline"),
}
SORTS = {
    "drop": say("largest drop"),
    "rise": say("largest rise"),
    "spread": say("spread of its answers"),
    "disagreement": say("judge against scorer"),
    "plan": say("plan order"),
}
EARLIER, FURTHER = say("earlier prompts"), say("further prompts")
SETTINGS_DIFFER = say("not comparable: ")


def grid_size(prompts: int, checkpoints: int) -> Bilingual:
    """Return the size of the grid."""
    return say("{prompts} prompts × {checkpoints} checkpoints", prompts=prompts, checkpoints=checkpoints)


def shown_rows(start: int, end: int, count: int) -> Bilingual:
    """Return which rows of a list are shown."""
    return say("{start}–{end} of {count} prompts shown", start=start, end=end, count=count)


def grid_sentence(label: str, other: str | None, merits: Sequence[float]) -> Bilingual:
    """Return how many prompts are worse and better than at the other checkpoint."""
    worse, better = sum(merit < 0 for merit in merits), sum(merit > 0 for merit in merits)
    equal = len(merits) - worse - better
    return say(
        "{label} against {other}: {worse} prompts worse, {better} better, {equal} equal.",
        label=label,
        other=other,
        worse=worse,
        better=better,
        equal=equal,
    )


# the comparison
CHANGES = {
    "worse": say("worse"),
    "equal": say("equal"),
    "better": say("better"),
}
SEARCH = say("search prompts and answers")
STATUS = say("status")
COMPUTING = say("The tests are being computed; this page updates itself.")

# the first page
REPORT = say("whole report")


def progress_text(
    answers: int, expected: int | None, calls: int, cost: str, seconds_left: float | None
) -> Bilingual:
    """Return how far a run is, what it cost, and how long it still takes."""
    of_zh, of_en = (f"，共 {expected} 个", f" of {expected}") if expected else ("", "")
    if seconds_left is None:
        left = NO_TEXT
    else:
        minutes = max(1, round(seconds_left / 60))
        left = say(", about {minutes} min left", minutes=minutes)
    return Bilingual(
        f"{answers} 个回答{of_zh}，{calls} 次调用，费用 {cost or '未知'}{left.zh}",
        f"{answers}{of_en} answers, {calls} calls, cost {cost or 'unknown'}{left.en}",
    )


# the labels
BLIND = say("blind to checkpoint and judge")
ORDER = say("in random order, spread over checkpoints and prompts")


def agreement_text(agreement: RaterAgreement) -> Bilingual:
    """Return how well the raters agree with each other."""
    raters, shared, alpha = agreement
    if not shared:
        return say(
            "{raters}; no answer has the labels of two people yet.",
            raters=plural(raters, "rater"),
            raters2=raters,
        )
    value = number(alpha, 2)
    return say(
        "{raters}, {answers} labelled by two or more: Krippendorff's alpha {value}.",
        raters=plural(raters, "rater"),
        answers=plural(shared, "answer"),
        value=value,
        raters2=raters,
        shared=shared,
    )
