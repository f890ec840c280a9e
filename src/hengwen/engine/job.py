"""Input of the engine for one run: samples with their scorers, judges and targets (models under test)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hengwen.protocols import Backend, GroupScorer, Judge, Scorer
from hengwen.records import Response, Row, Run, Sample, digest

ITEM_HASH_LENGTH = 32
"""Number of hexadecimal digits of the hash that is stored with each evaluation of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One response to evaluate, together with everything on which its scores may depend."""

    sample: Sample
    response: Response
    earlier: Sequence[Response] = ()
    """Earlier responses of the same checkpoint to the same sample (smaller ``repeat`` number)."""
    hash: str
    """Hash of the sample, the response and the earlier responses to the sample (``earlier``)."""

    @classmethod
    def build(
        cls, sample: Sample, response: Response, earlier: Sequence[Response] = (), namespace: str = ""
    ) -> Item:
        """Build an item and compute its hash; for the arguments, see ``item_hash``."""
        return cls(
            sample=sample,
            response=response,
            earlier=earlier,
            hash=item_hash(sample, response, earlier, namespace),
        )


def item_hash(
    sample: Sample, response: Response, earlier: Sequence[Response] = (), namespace: str = ""
) -> str:
    """Return the hash (128 bits) of everything on which the scores of a response may depend."""
    parts = (namespace, sample.hash, response.text, [before.text for before in earlier])
    return digest(*parts)[:ITEM_HASH_LENGTH]


def group_hash(answered: Iterable[tuple[Sample, Response]]) -> str:
    """Return the hash (128 bits) of everything on which the scores of a group of responses may depend."""
    sha = hashlib.sha256(b"[[")
    separator = b""
    for sample, response in answered:
        pair = json.dumps([sample.hash, response.text], ensure_ascii=False, separators=(",", ":"))
        sha.update(separator + pair.encode("utf-8", "surrogatepass"))
        separator = b","
    sha.update(b"]]")
    return sha.hexdigest()[:ITEM_HASH_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Model under test: the backend whose replies are evaluated, and the prompt that it gets."""

    backend: Backend
    signature: str
    system: str | None
    user: str
    params: Mapping[str, object] = field(default_factory=dict)
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskJob:
    """Samples of a task with their responses, scorers and judges."""

    name: str
    samples: Collection[Sample]
    answers: Callable[[str], Sequence[Response]] = lambda _: ()
    """Return the stored responses to a sample by its id; not called if there is a model under test."""
    target: Target | None = None
    scorers: Sequence[Scorer] = ()
    set_scorers: Sequence[GroupScorer] = ()
    judges: Sequence[Judge] = ()
    anchors: Sequence[tuple[Sample, Response]] = ()
    """Anchors: frozen responses that are judged again in every run, to show whether the judge changes."""
    anchor_judges: Sequence[Judge] = ()

    def sorted_answers(self, sample_id: str) -> list[Response]:
        """Return the stored responses to a sample in the order of their repeats."""
        return sorted(self.answers(sample_id), key=lambda response: response.repeat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run: a checkpoint, its tasks, and the scores from human labels."""

    run: Run
    tasks: Sequence[TaskJob]
    human_rows: Sequence[Row] = ()
    fresh: bool = False
    """Whether everything is evaluated again, instead of reusing the scores of earlier runs."""
