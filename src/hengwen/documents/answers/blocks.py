"""The blocks that show answers: two answers to one prompt side by side, and the table of all answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from hengwen.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from hengwen.objective.lyrics.side_by_side import SectionPair
    from hengwen.text.language import Bilingual

    Text = str | Bilingual

EMPTY = "empty"
"""Status of an answer without text that no scorer or judge failed on."""
Size = Literal["numbers", "excerpts", "full"]
"""How much of the answers a document holds: no text, the first words, or the whole text and all reasons."""


def check_size(value: str | None) -> Size | None:
    """Return a size that a user names; None if none is named."""
    if value is not None and value not in get_args(Size):
        raise ConfigError(
            f"answers are numbers, excerpts or full, got {value!r}{did_you_mean(value, get_args(Size))}"
        )
    return cast("Size | None", value)


class Marked(NamedTuple):
    """A stretch of a text, and why it is marked."""

    text: str
    mark: Literal["", "differs", "reference"] = ""
    """``differs``: the other answer does not have it; ``reference``: it stands in a reference answer."""


class AnswerFilter(NamedTuple):
    """Rows of the table of all answers, such as those behind a mean; they are sorted by the score."""

    checkpoint: str
    """Empty for all checkpoints."""
    task: str
    score: str = ""
    """Empty if the score has no column: the rows keep their order."""
    status: str = ""
    """Empty for answers of any status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOutcome:
    """One score or failure of an answer."""

    name: str
    kind: str
    text: str
    """The value as it is printed; empty for a failure."""
    status: str = "ok"
    reason: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSide:
    """One of the two answers of a pair."""

    checkpoint: str
    value: str
    """Value of the prompt, as it is printed: the mean of its answers."""
    answers: tuple[str, ...] = ()
    """Values of the answers from which the value is computed, as they are printed."""
    answer: int = 0
    """Which of them the text is of, from 0: the one that is nearest to the value."""
    ticks: tuple[float, ...] = ()
    """The same values as numbers."""
    text: tuple[Marked, ...] = ()
    """The text; empty if it is not shown, or if ``sections`` of the pair show it."""
    faults: Text = ""
    """What is wrong with the text, counted."""
    outcomes: tuple[AnswerOutcome, ...] = ()
    """What judges said of the answer, and its failures."""
    links: tuple[str, ...] = ()
    """Where each of the answers is shown: in the table of all answers, or on a page; empty if nowhere."""

    @property
    def link(self) -> str:
        """Where the answer of the text is shown; empty if nowhere."""
        return self.links[self.answer] if self.links else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPair:
    """Two answers to one prompt."""

    key: str
    sample_id: str
    prompt: str
    change: str
    """Later minus earlier value, as it is printed."""
    values: tuple[float, float]
    """The two values."""
    lost_on: Text
    before: AnswerSide
    after: AnswerSide
    has_texts: bool = True
    """Whether both answers are shown; if not, only the values are."""
    sections: tuple[SectionPair, ...] = ()
    """Both answers line by line, if they are lyrics."""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPairs:
    """The prompts on which a score changed most, each with both answers; the largest change first."""

    key: str
    score: Bilingual
    """Name of the score in words."""
    tone: Literal["better", "worse"]
    before: str
    """Name of the checkpoint of the earlier answers."""
    after: str
    pairs: tuple[AnswerPair, ...]
    limits: tuple[float, float]
    """Ends of the axis of the values."""
    omitted: int = 0
    """Number of prompts that changed likewise and are not in ``pairs``."""
    command: str = ""
    """Command that shows them."""
    is_open: bool = True
    """Whether the first pair is shown unfolded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumn:
    """A score in the table of all answers."""

    head: str
    decimals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One answer in the table of all answers."""

    key: str
    checkpoint: str
    task: str
    sample_id: str
    repeat: int
    status: str
    """``ok``, ``empty``, or the status of the first failure."""
    values: tuple[float | None, ...]
    """One for each column."""
    length: int
    """Number of characters of the answer."""
    excerpt: str = ""
    text: str = ""
    """The answer, cut if it is very long; empty if the table does not hold whole answers."""
    prompt: str = ""
    outcomes: tuple[AnswerOutcome, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """All answers with their scores, the lowest first."""

    key: str
    columns: tuple[ScoreColumn, ...]
    rows: tuple[AnswerRow, ...]
    size: Size
    omitted: int = 0
    """Number of answers that are not in ``rows``."""
    command: str = ""
    """Command that shows what is left out; empty if nothing is."""
