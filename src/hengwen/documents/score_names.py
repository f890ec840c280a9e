"""Names of scores in words, for titles and tables that are read before anything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hengwen.documents.blocks import Verdict
from hengwen.results.decide import rewards_of
from hengwen.score_id import FINAL, LEVEL
from hengwen.text.language import COLON, NOTED, Bilingual, both, say
from hengwen.text.numbers import interval, minus, number, signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hengwen.documents.blocks import Bounds
    from hengwen.records import Run
    from hengwen.results.aggregate import Summary

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
