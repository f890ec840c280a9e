"""Record types that all packages share. Records are frozen, keyword-only, and checked when they are created.

An answer that cannot be scored gets a ``Failure``, never 0 or NaN. Outcome means ``Score`` or ``Failure``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

from hengwen.score_id import ScoreId

Status = Literal[
    "transport_error",
    "rejected",
    "rate_limited",
    "timeout",
    "truncated",
    "parse_error",
    "off_scale",
    "refused",
    "budget",
    "scorer_error",
    "missing",
    "not_applicable",
]
"""Reason for a missing score. ``rejected``: the endpoint refused the request and would refuse it again (wrong
key, prompt too long). ``missing``: there is no answer. ``not_applicable``: no score is possible."""

STATUSES: tuple[Status, ...] = get_args(Status)
Kind = Literal["scorer", "judge", "human"]
Reducer = Literal["mean", "median", "mode", "worst", "best"]
"""How to combine the scores of several answers to one prompt into one value."""
Message = tuple[str, str]
"""(role, content); role is ``system``, ``user`` or ``assistant``."""
AnswerKey = tuple[str, str, str, int]
"""(task, sample id, checkpoint, repeat): key that identifies one answer."""
LabelKey = tuple[str, str, str, int, str]
"""(task, sample id, checkpoint, repeat, score name): a rater gives at most one label per key."""

MAX_SCHEMAS = 256
"""Maximum number of JSON schemas whose hashes are cached."""
_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str, check_circular=False
)


def digest(*parts: object) -> str:
    """Return the sha256 (hex) of JSON-serializable parts, the same on every machine and in every process.

    Examples:
        >>> digest("a", {"y": 1, "x": 2}) == digest("a", {"x": 2, "y": 1})
        True
    """
    return hashlib.sha256(_CANONICAL.encode(parts).encode("utf-8", "surrogatepass")).hexdigest()


def digest_of(parts: Iterable[object]) -> str:
    """Return the sha256 (hex) of many parts, without holding all of them in memory.

    Examples:
        >>> digest_of(["a", "b"]) == digest_of(iter(["a", "b"])) != digest_of(["b", "a"])
        True
    """
    sha = hashlib.sha256()
    for part in parts:
        sha.update(_CANONICAL.encode(part).encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()


def _check(name: str, value: object, kind: type | tuple[type, ...], title: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} must be {title}, got {value!r:.40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One prompt with its references and metadata."""

    id: str
    input: str | tuple[Message, ...] = ""
    references: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Further data of the prompt by name, such as a lyric's ``metadata["template"]``; values of any type."""
    task: str = ""
    cluster: str = ""
    """Name shared by samples that are not independent (same song, same user); default: the sample's id."""
    _hash: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check("id", self.id, str, "text")
        _check("references", self.references, (tuple, list), "a list of texts")
        if not self.cluster:
            object.__setattr__(self, "cluster", self.id)

    @property
    def text(self) -> str:
        """The input as one string; the texts of several messages are joined by line feeds."""
        return self.input if isinstance(self.input, str) else "\n".join(text for _, text in self.input)

    @property
    def hash(self) -> str:
        """The sha256 of the sample's fields except ``task`` and ``cluster``, which cannot change a score."""
        if not self._hash:
            sha = digest(self.id, self.input, self.references, dict(self.metadata))
            object.__setattr__(self, "_hash", sha)
        return self._hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer that a checkpoint of a model gave to one sample."""

    sample_id: str
    text: str
    task: str = ""
    checkpoint: str = ""
    repeat: int = 1
    """Number of this answer, counted from 1, if the model answered the prompt several times."""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A score that a human gave one answer: a stored answer, or the text in ``output``."""

    task: str
    id: str
    """Id of the sample."""
    checkpoint: str = ""
    repeat: int = 1
    output: str = ""
    """The text that was labelled; if it is empty, the label is for the stored answer with the label's key."""
    score: str
    """Name of the score, such as ``muice_live.level``."""
    value: float
    rater: str = ""
    drawn: str = ""
    """How the answer was selected, such as at random (``random|seed:0|from:189|...``); empty if unknown."""
    input: str | tuple[Message, ...] = ""
    references: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def answer_key(self) -> AnswerKey:
        """Key of the labelled answer."""
        return self.task, self.id, self.checkpoint, self.repeat

    @property
    def key(self) -> LabelKey:
        """Key of the labelled answer and its score name; the same for all raters."""
        return self.task, self.id, self.checkpoint, self.repeat, self.score


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Range of the values of a score, and whether higher values are better."""

    low: float
    high: float
    levels: tuple[float, ...] | None = None
    """Allowed values in ascending order; None if every value of the range is allowed."""
    higher_is_better: bool = True
    discrete: bool = False
    """Whether a value is a level, a pass or a count, or a mean of a few; True if there are ``levels``. Other
    scales are continuous: intervals of means then rely on values not seen being like those seen."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "discrete", self.discrete or self.levels is not None)
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise ValueError(f"a scale needs finite low < high, got {self.low} and {self.high}")

    def holds(self, value: float) -> bool:
        """Return whether the scale allows a value, with a tolerance of 1e-9 of the scale's width.

        Examples:
            >>> Scale(low=0, high=1, levels=(0, 0.5, 1)).holds(0.25)
            False
        """
        if self.levels is not None and value in self.levels:
            return True
        tolerance = 1e-9 * (self.high - self.low)
        if self.levels is not None:
            return any(abs(value - level) <= tolerance for level in self.levels)
        return self.low - tolerance <= value <= self.high + tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One finite number about one answer, or about a set of answers."""

    name: str
    """``<scorer>.<part>``; it stays the same in all versions of Hengwen, because it is a key in stores."""
    value: float
    signature: str
    """Text with every setting that can change the number; only scores of equal signatures are compared."""
    scale: Scale | None = None
    kind: Kind = "scorer"
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        types = type(self.name), type(self.value), type(self.signature)
        if types != (str, float, str):  # rarely, so faster
            _check("name", self.name, str, "text")
            _check("signature", self.signature, str, "text")
            _check("value", self.value, Real, "a number")
        if not isfinite(self.value):
            raise ValueError(f"score {self.name!r} must be finite, got {self.value}")
        if self.scale is not None and not self.scale.holds(self.value):
            raise ValueError(f"score {self.name!r} is off its scale: {self.value} is not on {self.scale}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The reason why an answer has no score."""

    name: str
    status: Status
    message: str
    signature: str
    kind: Kind = "scorer"
    raw: str = ""
    """The raw reply of the judge or model, if there was a reply."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown failure status {self.status!r}, known: {', '.join(STATUSES)}")


Outcome = Score | Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Number of tokens that one or more calls used; ``calls`` is the number of replies that were paid for."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call to a backend (the client of a model), with everything that identifies the call."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """JSON schema of the reply; None for free text."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Sampling parameters of this request, which override the parameters of the backend."""
    signature: str = ""
    """Signature (text of all settings) of the judge or of the model under test that makes the call."""
    identity: str = ""
    """The prompt with a placeholder for its random fences (marks around data); default: the messages."""
    repeat: int = 1
    logprobs: int | None = None
    """Number of most likely tokens to return with log-probabilities at each position; None to return none."""

    def key(self, endpoint: str) -> str:
        """Return the call key at an endpoint; requests with equal keys are one call, paid for once."""
        identity: object = self.identity or self.messages
        schema = _schema_digest(self.schema)
        return digest(self.signature, endpoint, identity, schema, dict(self.params), self.repeat)


_SCHEMAS: dict[int, tuple[object, str]] = {}


def _schema_digest(schema: Mapping[str, Any] | None) -> str:
    """Return the hash of a JSON schema, cached because a judge uses one schema object in all calls."""
    if schema is None:
        return ""
    entry = _SCHEMAS.get(id(schema))
    if entry is None:
        if len(_SCHEMAS) >= MAX_SCHEMAS:
            _SCHEMAS.clear()
        # the cache entry holds the schema, so that no other object can get the same id() while it is cached
        entry = _SCHEMAS[id(schema)] = (schema, digest(schema))
    return entry[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A backend's reply to one request."""

    text: str
    model: str = ""
    """Model name as the server returned it."""
    usage: Usage = Usage()
    latency: float = 0.0
    """Duration of the call in seconds."""
    finish: str = "stop"
    response_format: str = ""
    """How the JSON schema was sent: ``json_schema``, ``json_object``, ``tool`` or ``text``; "" if none was
    sent."""
    logprobs: tuple[tuple[bytes, float, tuple[tuple[bytes, float], ...]], ...] | None = None
    """For each token its bytes, log-probability and alternatives; None if the endpoint returned none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Result of judging one answer: a Score or Failure for the overall level, and one for each criterion."""

    outcomes: tuple[Outcome, ...]
    reason: str = ""
    raw: str = ""
    usage: Usage = Usage()
    latency: float = 0.0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The record of one try of a call to a backend; ``(call_key, cache_scope, attempt_no)`` is unique."""

    call_key: str
    cache_scope: str
    """Empty if every run may reuse the reply; otherwise the id of the only run that may reuse it."""
    attempt_no: int
    """Number of this attempt, counted from 1, among the attempts of the same call."""
    status: str
    """``ok``, or why the call failed (a ``Failure`` status); only replies of ``ok`` attempts are reused."""
    run_id: str
    role: Literal["judge", "subject"]
    request: Mapping[str, Any]
    raw: str
    usage: Usage = Usage()
    latency: float = 0.0
    model: str = ""
    finish: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Response format and log-probabilities of the reply, if it has them."""


class Row(NamedTuple):
    """A Score or Failure with the key of the answer that it belongs to; ``key`` is unique in a store."""

    run_id: str
    score: ScoreId
    checkpoint: str
    sample_id: str | None
    """Id of the prompt; None if the Score or Failure belongs to a set of answers."""
    repeat: int | None
    cluster: str
    outcome: Outcome
    item_hash: str = ""
    """Hash of the sample and the scored answer, or of the scored set of answers."""

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.score.task

    @property
    def key(self) -> tuple[str, ScoreId, str | None, int | None]:
        """Run, score, sample and repeat."""
        return self.run_id, self.score, self.sample_id, self.repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One evaluation of one checkpoint by one plan."""

    id: str
    plan: str
    plan_hash: str
    """Hash of everything that can change this run's results: tasks, data and this checkpoint."""
    checkpoint: str
    order: int = 0
    """Position of the checkpoint in the plan, which lists checkpoints in the order of training."""
    step: float | None = None  # a training step, or an epoch such as 0.5
    started: str = ""
    """Start of the run, in ISO 8601 and UTC."""
    versions: Mapping[str, str] = field(default_factory=dict)
    score_order: tuple[str, ...] = ()
    """Addresses (TASK/SCORE) of the scores of the run's answers and tasks, in the order of the plan."""
    reducers: Mapping[str, Reducer] = field(default_factory=dict)
    """For each task, how the scores of several answers to one prompt are combined; default: the mean."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """Facts that decide whether two runs can be compared; empty in runs of older versions of Hengwen."""
    seed: int = 0
    status: Literal["running", "interrupted", "finished", "failed"] = "running"
    """``failed``: an error ended the run, or nothing was scored; the same command, run again, resumes it."""
    rejudges: str = ""
    """Id of the run whose stored answers this run judges again; empty for every other run."""
