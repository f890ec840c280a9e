"""The records that travel through the house: frozen, keyword-only, checked where they are made.

``Outcome = Score | Failure``: what could not be scored is a ``Failure``, never 0 and never NaN.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Status = Literal[
    "transport_error",
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
"""Why there is no score. ``missing``: there is no answer to score. ``not_applicable`` is counted apart."""

STATUSES: tuple[Status, ...] = get_args(Status)
Kind = Literal["code", "judge", "human"]
Reducer = Literal["mean", "median", "mode", "worst", "best"]
"""How the repeats of a prompt become its value."""
Message = tuple[str, str]
"""(role, content); role is ``system``, ``user`` or ``assistant``."""


MOST_SCHEMAS = 256
"""Schemas whose digests are kept."""
_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str, check_circular=False
)


def digest(*parts: object) -> str:
    """Return the sha256 (hex) of JSON-able parts, the same on every machine and in every process.

    Examples:
        >>> digest("a", {"y": 1, "x": 2}) == digest("a", {"x": 2, "y": 1})
        True
    """
    text = _CANONICAL.encode(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of(parts: Iterable[object]) -> str:
    """Return the sha256 (hex) of many parts, one after the other: they need not be in memory together.

    Examples:
        >>> digest_of(["a", "b"]) == digest_of(iter(["a", "b"])) != digest_of(["b", "a"])
        True
    """
    found = hashlib.sha256()
    for part in parts:
        found.update(_CANONICAL.encode(part).encode("utf-8", "surrogatepass") + b"\n")
    return found.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One thing to answer: a prompt with what is known about a good answer."""

    id: str
    input: str | tuple[Message, ...] = ""
    references: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Free values by name; a lyric template is ``metadata["template"]``."""
    task: str = ""
    cluster: str = ""
    """Samples of one cluster are not independent (one song, one user); default: the id."""
    _hash: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.cluster:
            object.__setattr__(self, "cluster", self.id)

    @property
    def text(self) -> str:
        """The input as one string; messages are joined by line feeds."""
        if isinstance(self.input, str):
            return self.input
        return "\n".join(content for _, content in self.input)

    @property
    def hash(self) -> str:
        """What a score may depend on, as sha256; ``task`` and ``cluster`` are not in it."""
        if not self._hash:
            found = digest(self.id, self.input, self.references, dict(self.metadata))
            object.__setattr__(self, "_hash", found)
        return self._hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer of one checkpoint to one sample."""

    sample_id: str
    text: str
    task: str = ""
    checkpoint: str = ""
    repeat: int = 1
    """1 for the first answer to the sample."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The values that a score may take, and which end is good."""

    low: float
    high: float
    levels: tuple[float, ...] | None = None
    """The only values allowed, ascending; None for a continuous scale."""
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise ValueError(f"a scale needs finite low < high, got {self.low} and {self.high}")

    def holds(self, value: float) -> bool:
        """Whether the value is on the scale, to a relative 1e-9.

        Examples:
            >>> Scale(low=0, high=1, levels=(0, 0.5, 1)).holds(0.25)
            False
        """
        if self.levels is not None and value in self.levels:
            return True
        room = 1e-9 * (self.high - self.low)
        if self.levels is not None:
            return any(abs(value - level) <= room for level in self.levels)
        return self.low - room <= value <= self.high + room


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One finite number about one answer, or about a set of answers."""

    name: str
    """``<scorer>.<part>``, stable for ever: a key in stores."""
    value: float
    signature: str
    """Everything that can move the number; series are compared only where signatures are equal."""
    scale: Scale | None = None
    kind: Kind = "code"
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isfinite(self.value):
            raise ValueError(f"score {self.name!r} must be finite, got {self.value}")
        if self.scale is not None and not self.scale.holds(self.value):
            raise ValueError(f"score {self.name!r} is off its scale: {self.value} is not on {self.scale}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no score."""

    name: str
    status: Status
    message: str
    signature: str
    kind: Kind = "code"
    raw: str = ""
    """The reply as it came, where there was one."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown failure status {self.status!r}, known: {', '.join(STATUSES)}")


Outcome = Score | Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or many calls; ``calls`` counts replies that were paid for."""

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
    """One call to a backend, with what makes it the same call the next time."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """JSON schema that the reply must satisfy; None for free text."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Sampling parameters over those of the backend."""
    signature: str = ""
    """Of the judge or the subject that asks, without repeats."""
    identity: str = ""
    """The prompt rendered with a fixed placeholder fence; default: the messages."""
    repeat: int = 1
    logprobs: int | None = None
    """How many alternatives to each token of the reply are wanted, with log-probabilities; None for none."""

    def key(self, endpoint: str) -> str:
        """The call key: equal for calls that must not be bought twice."""
        identity: object = self.identity or self.messages
        return digest(
            self.signature, endpoint, identity, _schema_digest(self.schema), dict(self.params), self.repeat
        )


_SCHEMAS: dict[int, tuple[object, str]] = {}


def _schema_digest(schema: Mapping[str, Any] | None) -> str:
    """The digest of a schema; those of judges are written once, for they ask with the same one each time."""
    if schema is None:
        return ""
    found = _SCHEMAS.get(id(schema))
    if found is None:
        if len(_SCHEMAS) >= MOST_SCHEMAS:
            _SCHEMAS.clear()
        # the schema is kept too: while it lives, no other object has its id
        found = _SCHEMAS[id(schema)] = (schema, digest(schema))
    return found[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a backend gave back."""

    text: str
    model: str = ""
    """As the server returned it."""
    usage: Usage = Usage()
    latency: float = 0.0
    """Seconds."""
    finish: str = "stop"
    response_format: str = ""
    """How a schema was sent: ``json_schema``, ``json_object``, ``tool`` or ``text``; empty: there is none."""
    logprobs: tuple[tuple[bytes, float, tuple[tuple[bytes, float], ...]], ...] | None = None
    """For each token its bytes, log-probability and alternatives; None where the endpoint gave none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge said of one answer: an outcome for the level and for each criterion."""

    outcomes: tuple[Outcome, ...]
    reason: str = ""
    raw: str = ""
    usage: Usage = Usage()
    latency: float = 0.0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call to a backend, kept for ever. Unique on (call_key, scope, number)."""

    call_key: str
    scope: str
    """Empty, but the run id for anchors and under ``--fresh``."""
    number: int
    status: str
    """``ok`` or a failure status; only ``ok`` attempts are used again."""
    run_id: str
    role: Literal["judge", "subject"]
    request: Mapping[str, Any]
    raw: str
    usage: Usage = Usage()
    latency: float = 0.0
    model: str = ""
    finish: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Form and log-probabilities of the reply, where it had them."""


class Row(NamedTuple):
    """Where an outcome belongs. Unique in a run on (task, sample_id, repeat, name).

    A tuple, for every score has one: it is made in half the time of a frozen dataclass.
    """

    run_id: str
    task: str
    checkpoint: str
    sample_id: str | None
    """None for a value of a whole set."""
    repeat: int | None
    cluster: str
    outcome: Outcome
    item_hash: str = ""
    """sha256 of the sample and the answer (or the set) that were scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One checkpoint weighed once by one plan."""

    id: str
    plan: str
    plan_hash: str
    """Of all that decides this run's rows: tasks, this checkpoint, data; not the other checkpoints."""
    checkpoint: str
    order: int = 0
    """Position of the checkpoint in the plan: the order of training."""
    step: int | None = None
    started: str = ""
    """ISO 8601, UTC."""
    versions: Mapping[str, str] = field(default_factory=dict)
    layout: tuple[str, ...] = ()
    """Its scores (TASK/SCORE) in the order of the plan."""
    reducers: Mapping[str, Reducer] = field(default_factory=dict)
    """How the repeats of a prompt become its value, by task, where it is not the mean."""
    seed: int = 0
    status: Literal["running", "interrupted", "finished", "failed"] = "running"
