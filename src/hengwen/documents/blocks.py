"""The blocks of a document.

A text is either the same in both languages (a ``str``: names, numbers, what comes from outside) or a
``Bilingual``. A block says what is shown and what it means, never how a face draws it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from hengwen.errors import ConfigError, did_you_mean
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from hengwen.objective.lyrics.scorer import SectionPair

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


Value = str | float | int | bool | None
"""A value as it stands in CSV, Parquet and JSON."""
Tone = Literal["plain", "better", "worse", "none", "open", "rejected", "untested"]
"""What a text says of a score: ``none``: no difference is seen; ``open``: more data would tell; of a judge:
``rejected``: it failed a test; ``untested``: there is no evidence."""
Mark = Literal["", "best", "newest", "best and newest"]
"""Whether a point of a series is the best seen, the newest, or both."""
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A part of a sentence that leads to another place of the document."""

    text: Text
    """Part of the sentence; if the sentence does not have it, it is put behind the sentence."""
    target: str
    """Key of the block that is meant; on pages of a server, an address, which begins with a slash."""
    rows: AnswerFilter | None = None
    """The answers that are meant, if the block is the table of all answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was concluded about one thing."""

    tone: Tone
    sentence: Text
    subject: Text = ""
    """What the verdict is about, such as the address of a score, or what it says in a word: fell, rose."""
    evidence: tuple[Text, ...] = ()
    """Sentences with the numbers on which the verdict rests."""
    link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One paragraph."""

    text: Text
    tone: Tone = "plain"
    is_note: bool = False
    """Whether the text explains or limits what stands beside it, and is drawn with less weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that the reader may run next."""

    line: str
    purpose: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table."""

    key: str
    """Name of the column in CSV and Parquet."""
    head: Text
    align: Literal["left", "right"] = "left"
    is_detail: bool = False
    """Whether a terminal leaves it out unless it is asked for all."""
    is_whole: bool = False
    """Whether its texts are not broken over lines, because they are typed as they stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A value and its intervals beside a limit, most often a difference beside 0; left is worse."""

    value: float
    """Of a difference, the later value minus the earlier one."""
    interval: Bounds | None
    """95 % interval of this comparison alone; None if it is unbounded."""
    family_interval: Bounds | None = None
    """Interval for all comparisons together, never narrower; None if there is no other comparison. An
    infinite end is drawn to the end of the axis."""
    limits: Bounds
    """Ends of the axis; of differences, they lie as far to the one side of 0 as to the other."""
    reference: float | None = 0.0
    """What the value is compared with: 0, or a limit; None if it is compared with nothing."""
    lower_is_better: bool = False
    tone: Tone = "plain"
    """Of a bar in a cell; in a line of scores, the tone of the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table."""

    text: Text
    values: Mapping[str, Value] = field(default_factory=dict)
    """The values behind the text, unrounded; the key is appended to the key of the column in CSV and Parquet
    (``{"low": 1.5}`` in the column ``mean`` becomes ``mean_low``), an empty key adds nothing. Without values,
    the text is the value."""
    tone: Tone = "plain"
    bar: Bar | None = None
    """The text as a drawing; a face that draws nothing leaves it out."""
    link: str = ""
    """Key of the block or answer with what is behind the cell; empty if the document does not have it."""
    answers: AnswerFilter | None = None
    """The answers behind the cell; None if the document does not have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells."""

    key: str
    """Name of the table, unique in its document."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: Text = ""
    notes: tuple[Text, ...] = ()
    records: tuple[Mapping[str, Value], ...] = ()
    """The values of the table for CSV and Parquet if its columns differ from one document to another, such as
    a column for each score: one record for each value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value of a series, such as the mean of a score at a checkpoint."""

    x: float
    label: str
    value: float | None
    text: str = ""
    """The value as it is printed."""
    interval: Bounds | None = None
    hint: Text = ""
    """Full name, value and interval, for a pointer or a screen reader."""
    is_connected: bool = True
    """Whether a line joins the point with the one before; False after a change of settings."""
    tone: Tone = "plain"
    mark: Mark = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points from left to right."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """The course of one or more series over the same x."""

    key: str
    """Name of the chart, unique in its document."""
    title: Text
    series: tuple[Series, ...]
    description: Text = ""
    """What the chart shows, in words, for readers who do not see it."""
    limits: Bounds | None = None
    """Ends of the scale; None if the score has no scale."""
    lane: Series | None = None
    """What a judge gave to frozen answers (anchors): drawn below on the same x, because it is the judge that
    moved if this line moves."""
    lane_title: Text = ""
    is_in_table: bool = False
    """Whether a table beside the chart has its values; Markdown, which draws no chart, leaves it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLine:
    """One score in the table of scores: its course, two compared values, their difference and a verdict."""

    key: str
    """Key of the line, unique in its document; other blocks link to it."""
    name: Text
    """Name in words."""
    address: str
    """``TASK/SCORE``, or the name of the score in its task."""
    scale: Text = ""
    """Range of the values, such as ``0–110``."""
    course: Series | None = None
    before: Text = ""
    """The earlier value as it is printed."""
    after: Text = ""
    answers: tuple[AnswerFilter | None, AnswerFilter | None] = (None, None)
    """The answers behind both values; None if the document does not have them."""
    before_name: str = ""
    """Name of the checkpoint, run or version that the earlier value is of."""
    after_name: str = ""
    bar: Bar | None = None
    difference: Text = ""
    """The difference with its interval, as it is printed."""
    p: Text = ""
    """The p-value with its sign, such as ``p = .020``."""
    family: Text = ""
    """For which tests the p-value is corrected, such as ``corrected for 30 tests``."""
    chosen: str = ""
    """The value of the checkpoint to ship or keep, with its interval."""
    prompts: Text = ""
    """On how many prompts the difference rests, and how many of them became better and worse."""
    tone: Tone = "plain"
    word: Text = ""
    """The verdict in a word or two."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """The values behind the line, unrounded, for CSV and Parquet."""
    details: tuple[Text, ...] = ()
    """Sentences with the statistics behind the verdict; folded where a face can fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The table of scores of a first screen."""

    key: str
    """Name of the table, unique in its document."""
    lines: tuple[ScoreLine, ...]
    title: Text = ""
    compared: Text = ""
    """Which values are compared, as the head of their column: ``best seen → newest``."""
    chosen: str = ""
    """Name of the checkpoint to ship or keep, whose values the lines have."""
    legend: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is decided, on what it rests, and how far its judges can be trusted: the first screen."""

    title: Text
    """What to do, in one sentence."""
    bullets: tuple[Verdict, ...] = ()
    """At most three reasons; ``subject`` is their label."""
    scores: Scores | None = None
    judges: tuple[Verdict, ...] = ()
    """What the reasons leave open beyond the bullets, then one line for each judge."""
    details: tuple[Block, ...] = ()
    """The statistics behind the sentences; folded where a face can fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Blocks under a heading."""

    title: Text
    blocks: tuple[Block, ...]
    is_open: bool = True
    """Whether the blocks are shown at once; a terminal leaves out closed ones unless it is asked for all."""
    key: str = ""
    """Where links lead; an open part of the document itself with a key is in the table of contents."""


Block = Decision | Scores | Verdict | Sentence | Command | Table | Chart | AnswerPairs | AnswerTable | Details


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One result, as blocks from the conclusion to the method; ``write_document`` writes it to a file.

    Args:
        kind: Kind of the result, such as ``compare``; also the name of the JSON Schema of ``record``.
        title: Title, the same in both languages or a text in both.
        blocks: What the document shows, from the conclusion to the method.
        record: The result itself, as the JSON face prints it.
        notes: Facts about the whole document, such as its time and version.

    Examples:
        >>> from hengwen import Document
        >>> Document(kind="note", title="a note", blocks=()).record
        {}
    """

    kind: str
    title: Text
    blocks: tuple[Block, ...]
    record: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[Text, ...] = ()
