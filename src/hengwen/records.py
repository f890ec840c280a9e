"""The records that all packages share: frozen, keyword-only, checked when they are created.

``Outcome = Score | Failure``: an answer without a score is a ``Failure``, never 0 and never NaN.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from hengwen.argument_types import check_fields, checked_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
"""Reason for a missing score. ``rejected``: the endpoint refused the request, and would again, such as for a
wrong key or too long a prompt. ``missing``: there is no answer. ``not_applicable`` is counted separately."""

STATUSES: tuple[Status, ...] = get_args(Status)
Kind = Literal["scorer", "judge", "human"]
Reducer = Literal["mean", "median", "mode", "worst", "best"]
"""How the values of a prompt's repeats are reduced to one."""
Message = tuple[str, str]
"""(role, content); role is ``system``, ``user`` or ``assistant``."""
AnswerKey = tuple[str, str, str, int]
"""(task, sample id, checkpoint, repeat): identifies one answer."""
LabelKey = tuple[str, str, str, int, str]
"""(task, sample id, checkpoint, repeat, score): what one rater labels once."""
RowKey = tuple[str, str, str | None, int | None, str]
"""(run id, task, sample id, repeat, score name): identifies one row."""

MAX_SCHEMAS = 256
"""JSON schemas whose digests are cached."""
_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str, check_circular=False
)


def digest(*parts: object) -> str:
    """Return the sha256 (hex) of JSON-serializable parts, the same on every machine and in every process.

    Examples:
        >>> digest("a", {"y": 1, "x": 2}) == digest("a", {"x": 2, "y": 1})
        True
    """
    text = _CANONICAL.encode(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of(parts: Iterable[object]) -> str:
    """Return the sha256 (hex) of many parts, consumed one by one.

    Examples:
        >>> digest_of(["a", "b"]) == digest_of(iter(["a", "b"])) != digest_of(["b", "a"])
        True
    """
    sha = hashlib.sha256()
    for part in parts:
        sha.update(_CANONICAL.encode(part).encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One prompt with its references and metadata."""

    id: str
    input: str | tuple[Message, ...] = ""
    references: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Any values by name; a lyric template is ``metadata["template"]``."""
    task: str = ""
    cluster: str = ""
    """Samples of one cluster are not independent (same song, same user); default: the id."""
    _hash: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.cluster:
            object.__setattr__(self, "cluster", self.id)

    @property
    def text(self) -> str:
        """Input as one string; messages are joined by line feeds."""
        if isinstance(self.input, str):
            return self.input
        return "\n".join(content for _, content in self.input)

    @property
    def hash(self) -> str:
        """The sha256 of all fields that a score may depend on; ``task`` and ``cluster`` are excluded."""
        if not self._hash:
            sha = digest(self.id, self.input, self.references, dict(self.metadata))
            object.__setattr__(self, "_hash", sha)
        return self._hash


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer of one checkpoint to one sample."""

    sample_id: str
    text: str
    task: str = ""
    checkpoint: str = ""
    repeat: int = 1
    """Number of the answer among those to the same sample, from 1."""
    metadata: Mapping[str, object] = field(default_factory=dict)


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A human value for one answer: an answer of the plan by its key, or a frozen one with its text."""

    task: str
    id: str
    """Id of the sample."""
    checkpoint: str = ""
    repeat: int = 1
    output: str = ""
    """The text that was labelled; empty: the stored answer with this key."""
    score: str
    """Name of the score, such as ``muice_live.level``."""
    value: float
    rater: str = ""
    drawn: str = ""
    """How the answer was chosen, such as ``random|seed:0|from:189|strata:none``; empty: unknown."""
    input: str | tuple[Message, ...] = ""
    references: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def answer_key(self) -> AnswerKey:
        """Key of the labelled answer."""
        return self.task, self.id, self.checkpoint, self.repeat

    @property
    def key(self) -> LabelKey:
        """Key of the labelled answer and score; the same for all raters."""
        return self.task, self.id, self.checkpoint, self.repeat, self.score


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The values that a score may take, and which end is better."""

    low: float
    high: float
    levels: tuple[float, ...] | None = None
    """Allowed values, ascending; None for a continuous scale."""
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise ValueError(f"a scale needs finite low < high, got {self.low} and {self.high}")

    def holds(self, value: float) -> bool:
        """Return whether the value is on the scale, with a tolerance of 1e-9 of its width.

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


_USUAL_TYPES = {(str, value, str, scale) for value in (float, int) for scale in (Scale, type(None))}
"""Types of name, value, signature and scale of a score: other checks would slow down each score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One finite number about one answer, or about a set of answers."""

    name: str
    """``<scorer>.<part>``; stable, because it is a key in stores."""
    value: float
    signature: str
    """All settings that can change the number; only series of equal signatures are compared."""
    scale: Scale | None = None
    kind: Kind = "scorer"
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (type(self.name), type(self.value), type(self.signature), type(self.scale)) not in _USUAL_TYPES:
            check_fields(self)
        if not isfinite(self.value):
            raise ValueError(f"score {self.name!r} must be finite, got {self.value}")
        if self.scale is not None and not self.scale.holds(self.value):
            raise ValueError(f"score {self.name!r} is off its scale: {self.value} is not on {self.scale}")


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no score."""

    name: str
    status: Status
    message: str
    signature: str
    kind: Kind = "scorer"
    raw: str = ""
    """The raw reply, if there was one."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown failure status {self.status!r}, known: {', '.join(STATUSES)}")


Outcome = Score | Failure


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more calls; ``calls`` counts paid replies."""

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
    """One call to a backend, with all that identifies it."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """JSON schema of the reply; None for free text."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Sampling parameters that override those of the backend."""
    signature: str = ""
    """Signature of the calling judge or subject, without repeats."""
    identity: str = ""
    """The prompt with a placeholder for its random fence; default: the messages."""
    repeat: int = 1
    logprobs: int | None = None
    """Alternatives per token to return with their log-probabilities; None for no log-probabilities."""

    def key(self, endpoint: str) -> str:
        """Return the call key: equal keys mean the same call, which is paid for only once.

        Args:
            endpoint: ``Backend.endpoint``.
        """
        identity: object = self.identity or self.messages
        return digest(
            self.signature, endpoint, identity, _schema_digest(self.schema), dict(self.params), self.repeat
        )


_SCHEMAS: dict[int, tuple[object, str]] = {}


def _schema_digest(schema: Mapping[str, Any] | None) -> str:
    """Return the digest of a schema; cached, because a judge passes the same object in each call."""
    if schema is None:
        return ""
    entry = _SCHEMAS.get(id(schema))
    if entry is None:
        if len(_SCHEMAS) >= MAX_SCHEMAS:
            _SCHEMAS.clear()
        # the entry keeps the schema alive, so that no other object gets its id
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
    """In seconds."""
    finish: str = "stop"
    response_format: str = ""
    """How the schema was sent: ``json_schema``, ``json_object``, ``tool`` or ``text``; empty without one."""
    logprobs: tuple[tuple[bytes, float, tuple[tuple[bytes, float], ...]], ...] | None = None
    """For each token its bytes, log-probability and alternatives; None if the endpoint returned none."""


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's outcomes for one answer: the level and each criterion."""

    outcomes: tuple[Outcome, ...]
    reason: str = ""
    raw: str = ""
    usage: Usage = Usage()
    latency: float = 0.0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The record of one call to a backend. Unique on (call_key, cache_scope, attempt_no)."""

    call_key: str
    cache_scope: str
    """Empty, or the run id for anchors and under ``--fresh``: only attempts of the same value are reused."""
    attempt_no: int
    """From 1, counting the tries of this call."""
    status: str
    """``ok`` or a failure status; only ``ok`` attempts are reused."""
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
    """An outcome with its item, unique on ``key``; a tuple, which is created faster than a dataclass."""

    run_id: str
    task: str
    checkpoint: str
    sample_id: str | None
    """None for a value of a set of answers."""
    repeat: int | None
    cluster: str
    outcome: Outcome
    item_hash: str = ""
    """The sha256 of the scored sample and answer, or of the scored set."""

    @property
    def key(self) -> RowKey:
        """Key of the row."""
        return self.run_id, self.task, self.sample_id, self.repeat, self.outcome.name


@checked_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One evaluation of one checkpoint by one plan."""

    id: str
    plan: str
    plan_hash: str
    """Hash of all that determines this run's rows: tasks, this checkpoint and data, not other checkpoints."""
    checkpoint: str
    order: int = 0
    """Position of the checkpoint in the plan: the order of training."""
    step: int | None = None
    started: str = ""
    """ISO 8601, UTC."""
    versions: Mapping[str, str] = field(default_factory=dict)
    score_order: tuple[str, ...] = ()
    """The run's scores (TASK/SCORE) in the order of the plan."""
    reducers: Mapping[str, Reducer] = field(default_factory=dict)
    """How repeats are reduced, by task; a task that is not listed uses the mean."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """What decides whether runs are comparable, see ``runs/run_facts.py``; empty in older runs."""
    seed: int = 0
    status: Literal["running", "interrupted", "finished", "failed"] = "running"
    """``failed``: an error ended the run, or nothing was scored; the same command resumes it."""
