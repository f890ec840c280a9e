"""Cells and words that documents of several kinds have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import floor, isinf, log10
from typing import Any, NamedTuple, TypeVar

from hengwen.documents.blocks import Bar, Bounds, Cell, Column, Table, Text, Tone, Value, Verdict
from hengwen.records import Run, Scale
from hengwen.results.aggregate import Summary
from hengwen.results.decide import rewards_of
from hengwen.score_id import FINAL, LEVEL
from hengwen.stats.power import MIN_UNITS
from hengwen.text.language import COLON, MAX_LENGTH, NO_TEXT, NOTED, Bilingual, bilingual, both, say
from hengwen.text.numbers import (
    MAX_REASON,
    NOTHING,
    count,
    interval,
    minus,
    number,
    one_line,
    p_number,
    percent,
    plural,
    signed,
)

Item = TypeVar("Item")
MIN_DECIMALS = 2
"""Least decimals of a difference, which is smaller than the means."""
SCORE = Column(key="score", head=say("score"))
PROMPTS = Column(key="prompts", head=say("prompts", context="cells"), align="right")
P = Column(key="p", head="p", align="right")


def left(key: str, zh: str, en: str, *, is_detail: bool = False) -> Column:
    """Return a column of texts."""
    return Column(key=key, head=Bilingual(zh, en), is_detail=is_detail)


def right(key: str, zh: str, en: str, *, is_detail: bool = False) -> Column:
    """Return a column of numbers."""
    return Column(key=key, head=Bilingual(zh, en), align="right", is_detail=is_detail)


def table_of(
    items: Iterable[Item],
    *columns: tuple[Column, Callable[[Item], Cell]],
    key: str,
    title: Text = "",
    notes: tuple[Text, ...] = (),
) -> Table:
    """Return a table with a row for each item; beside each column stands what its cell shows of an item."""
    rows = tuple(tuple(cell(item) for _, cell in columns) for item in items)
    return Table(key=key, title=title, columns=tuple(head for head, _ in columns), rows=rows, notes=notes)


def number_cell(value: float | None, decimals: int = 3) -> Cell:
    """Return a cell with a number, which stands unrounded in its values."""
    return Cell(text=number(value, decimals), values={"": value})


def bar_limits(*bars: Bounds | float | None) -> Bounds:
    """Return the ends of the axis of differences: a round number on both sides of 0."""
    flat = [end for item in bars for end in (item if isinstance(item, tuple) else (item or 0.0,))]
    largest = max((abs(end) for end in flat if not isinf(end)), default=0.0) or 1.0
    unit = 10.0 ** floor(log10(largest))
    end = next(
        unit * step for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if largest <= unit * step * (1 + 1e-9)
    )
    return -end, end


def signed_cell(value: float | None, decimals: int) -> Cell:
    """Return a cell with a difference without an interval."""
    return Cell(text=signed(value, decimals), values={"": value})


def difference_bar(
    value: float,
    bounds: Bounds | None,
    scale: Scale | None,
    family: Bounds | None = None,
    limits: Bounds | None = None,
) -> Bar:
    """Return a difference of a score with its intervals beside 0, by default on an axis of its own."""
    return Bar(
        value=value,
        interval=bounds,
        family_interval=family,
        limits=limits or bar_limits(value, bounds, family),
        lower_is_better=scale is not None and not scale.higher_is_better,
    )


def interval_cell(
    value: float | None, bounds: Bounds | None, decimals: int = 3, bar: Bar | None = None
) -> Cell:
    """Return a cell with a number and its interval."""
    low, high = bounds or (None, None)
    text = f"{number(value, decimals)} {interval(bounds, decimals) if bounds else ''}".rstrip()
    return Cell(text=text, values={"": value, "low": low, "high": high}, bar=bar)


def count_cell(value: int | None) -> Cell:
    """Return a cell with a whole number."""
    return Cell(text=NOTHING if value is None else str(value), values={"": value})


def thousands_cell(value: float | None) -> Cell:
    """Return a cell with a count that may be large, with thousands separators."""
    return Cell(text=NOTHING if value is None else count(value), values={"": value})


def difference_cell(
    value: float | None, bounds: Bounds | None, decimals: int, further: Mapping[str, Value] | None = None
) -> Cell:
    """Return a cell with a difference and its interval."""
    low, high = bounds or (None, None)
    text = f"{signed(value, decimals)} {interval(bounds, decimals) if bounds else ''}".rstrip()
    return Cell(text=text, values={"": value, "low": low, "high": high, **(further or {})})


NO_DIFFERENCE = difference_cell(None, None, 0)


def p_cell(p: float | None, p_adjusted: float | None = None, *, correction: str = "") -> Cell:
    """Return a cell with a p-value, corrected for the number of tests where it is known."""
    if p is None:
        return Cell(text=NOTHING, values={"": None, "raw": None})
    text: Text = p_number(p if p_adjusted is None else p_adjusted)
    if p_adjusted is None:
        text = NOTED.format(text, say("not corrected"))
    elif correction:
        text = NOTED.format(text, correction)
    return Cell(text=text, values={"": p_adjusted, "raw": p})


def family_text(tests: int) -> Bilingual:
    """Return for how many tests together a p-value is corrected; 0 if there were too few prompts."""
    if not tests:
        return say("too few prompts to test")
    if tests == 1:
        return say("the only test")
    return say("corrected for {tests} tests", tests=tests)


def percent_cell(share: float | None) -> Cell:
    """Return a cell with a share as a percentage."""
    return Cell(text=percent(share), values={"": share})


def plain_p_cell(p: float | None) -> Cell:
    """Return a cell with a p-value of which the head of the column says that it is not corrected."""
    return Cell(text=NOTHING if p is None else p_number(p), values={"": p})


def prompts_cell(prompts: int, clusters: int) -> Cell:
    """Return a cell with the number of prompts, and of the clusters that they form."""
    return Cell(text=prompts_short(prompts, clusters), values={"": prompts, "clusters": clusters})


def prompts_short(prompts: int, clusters: int) -> Text:
    """Return the number of prompts for a cell, and of clusters where several prompts form one."""
    if prompts == clusters:
        return str(prompts)
    return say(
        "{prompts} in {clusters}", prompts=prompts, clusters=plural(clusters, "cluster"), clusters2=clusters
    )


def verdict_cell(text: Text, value: str, tone: Tone) -> Cell:
    """Return a cell with a verdict in words; its value is the word of the record."""
    return Cell(text=text, values={"": value}, tone=tone)


def detectable_text(value: float | None, decimals: int, clusters: int, prompts: int = 0) -> Bilingual:
    """Return the smallest difference that would usually be detected, or why it is not known."""
    if value is not None:
        # the variance of few clusters is usually estimated too small
        least = say("at least ") if clusters < prompts else NO_TEXT
        text = say("smallest detectable difference {}about {}")
        return text.format(least, number(value, decimals))
    if clusters < MIN_UNITS:
        return say(
            "fewer than {min_units} independent prompts, too few to estimate the smallest detectable "
            "difference",
            min_units=MIN_UNITS,
        )
    return say("the smallest detectable difference cannot be estimated from these differences")


CANNOT_TELL = say("cannot be told")
"""Verdict of a score by which no difference could have been seen."""


def cannot_tell_text(clusters: int, *, all_differ: bool = False) -> Bilingual:
    """Return the verdict of a score by which no difference could have been seen, with the reason."""
    if clusters < MIN_UNITS or all_differ:
        return NOTED.format(CANNOT_TELL, say("too few prompts"))
    return NOTED.format(CANNOT_TELL, say("too few prompts differ"))


def too_few_text(needed: int) -> Bilingual:
    """Return how many independent prompts a test needs."""
    return say(
        "at least {needed} independent prompts are needed for any result to be significant", needed=needed
    )


def left_out_prompts_text(n: int) -> Bilingual:
    """Return how many prompts differ between two runs and are left out."""
    subject, verb = ("1 prompt that differs", "is") if n == 1 else (f"{n} prompts that differ", "are")
    return say("{subject} between the runs {verb} left out", subject=subject, verb=verb, n=n)


def fields(item: object, *names: str) -> dict[str, Any]:
    """Return attributes of a result by their names, as JSON data."""
    return {name: getattr(item, name) for name in names}


def run_record(run: Run) -> dict[str, Any]:
    """Return id, plan, checkpoint and step of a run as JSON data."""
    return fields(run, "id", "plan", "checkpoint", "step")


def reason_text(message: str) -> Bilingual:
    """Return why there is no score, on one line."""
    return Bilingual(*(one_line(text, MAX_REASON) for text in bilingual(one_line(message, MAX_LENGTH))))


_KNOWN: Mapping[str, Bilingual] = {
    "lyric.total": say("lyric form"),
    "distinct_1": say("variety of words"),
    "distinct_1.checkpoint": say("variety of words"),
    "distinct_2": say("variety of wording"),
    "distinct_2.checkpoint": say("variety of wording"),
    "lyric_craft": say("lyric craft"),
    "persona_generic": say("character"),
    "relevance": say("relevance"),
    "muice_live": say("reply in character"),
    "muice_new_topic": say("opening in character"),
}
"""Names of the scorers and rubrics that come with Hengwen; others are called as their plan calls them."""
_OF_REWARDS = say(
    "the model was trained on it. Its rise shows that the training works; whether the answers "
    "are better is told by scores that were no reward."
)


class ScoreName(NamedTuple):
    """The name of a score in words."""

    words: Bilingual
    is_known: bool
    is_reward: bool = False
    """Whether the model was trained on the score."""

    @property
    def head(self) -> Bilingual:
        """The name as it begins a line."""
        return self.words.capitalized if self.is_known else self.words


def score_names(addresses: Iterable[str], runs: Iterable[Run] = ()) -> dict[str, ScoreName]:
    """Return the name of each score in words, by address; names that would be equal get the task.

    Scores that the models of the runs were trained on are marked.
    """
    rewards = rewards_of(runs)
    plain = {address: _name(address.partition("/")[2]) for address in addresses}
    words = [name.words for name in plain.values()]
    named = {
        address: name
        if words.count(name.words) == 1
        else name._replace(words=NOTED.format(name.words, address.partition("/")[0]))
        for address, name in plain.items()
    }
    return {address: _as_reward(name) if address in rewards else name for address, name in named.items()}


def reward_verdicts(names: Mapping[str, ScoreName]) -> Iterator[Verdict]:
    """Yield for each score that was a reward what its rise does not show."""
    for name in names.values():
        if name.is_reward:
            sentence = COLON.join([name.words, _OF_REWARDS])
            yield Verdict(tone="open", subject=say("Reward"), sentence=sentence)


def verdicts_on_rewards(rewards: Iterable[str]) -> tuple[Verdict, ...]:
    """Return the same for addresses that are known to be those of rewards."""
    names = {address: _as_reward(name) for address, name in score_names(rewards).items()}
    return tuple(reward_verdicts(names))


def _as_reward(name: ScoreName) -> ScoreName:
    return name._replace(words=NOTED.format(name.words, say("reward")), is_reward=True)


def _name(name: str) -> ScoreName:
    known = _KNOWN.get(name)
    if known is None and name.endswith((f".{LEVEL}", f".{FINAL}")):
        known = _KNOWN.get(name.rpartition(".")[0])
    return ScoreName(known or both(name), known is not None)


def mean_text(value: float | None, decimals: int) -> str:
    """Format a mean."""
    return minus(number(value, decimals))


def value_text(summary: Summary, decimals: int, *, has_interval: bool = True) -> str:
    """Format the mean of a checkpoint, with its interval; empty without a mean."""
    if summary.mean is None:
        return ""
    ends = f" {interval(summary.interval, decimals)}" if has_interval and summary.interval else ""
    return minus(f"{number(summary.mean, decimals)}{ends}")


def difference_text(value: float, bounds: Bounds | None, decimals: int) -> str:
    """Format a difference with its interval; an end that would round to 0 gets more digits."""
    ends = f" [{', '.join(_end(end, bounds, decimals) for end in bounds)}]" if bounds else ""
    return minus(f"{signed(value, decimals)}{ends}")


def without_interval(difference: str) -> str:
    """Return the text of a difference without its interval, or the values that it is of."""
    return re.split(r" [\[(]|（", difference)[0]


def _end(value: float, bounds: Bounds, decimals: int) -> str:
    is_apart = bounds[0] > 0 or bounds[1] < 0
    while is_apart and value and not float(number(value, decimals)) and decimals < 6:
        decimals += 1
    return number(value, decimals)
