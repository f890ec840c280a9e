"""Whether a test split stands in the training data."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hengwen.errors import DataError
from hengwen.importers.conversations import read_exchanges
from hengwen.importers.notes import ImportNote
from hengwen.objective.duplicates.training_files import read_answers
from hengwen.objective.duplicates.training_set import TrainingSet, with_particles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from hengwen.importers.conversations import Exchange

_SAID = {
    "exact": "have a label that is an answer of the training data",
    "particle_only": "have a label that is an answer of the training data but for particles",
    "near": "have a label that shares at least 0.8 of its 5-grams with an answer of the training data",
    "prompt": "have a prompt of the training data",
    "pair": "have both a prompt and its answer of the training data",
}
SHOWN = 8
"""Lines that a message names."""


def find_contamination(test: Sequence[Exchange], source: Path, corpus: Path) -> list[ImportNote]:
    """Return a warning for each way in which test rows stand in the training data.

    Args:
        test: The test split.
        source: Its file, for messages.
        corpus: The training data; a text file has answers only, so that prompts cannot be compared.

    Raises:
        DataError: The training data cannot be read.
    """
    try:
        train = TrainingSet(read_answers([str(corpus)])[0])
    except ValueError as error:
        raise error if isinstance(error, DataError) else DataError(f"{corpus}: {error}") from None
    pairs, findings = _pairs(corpus)
    prompts = {prompt for prompt, _ in pairs}
    places: dict[str, list[int]] = {kind: [] for kind in _SAID}
    for exchange in test:
        for kind in _kinds(exchange, train, prompts, pairs):
            places[kind].append(exchange.line)
    found = [_finding(kind, lines, len(test), source, corpus) for kind, lines in places.items() if lines]
    return [*findings, *found]


def _pairs(corpus: Path) -> tuple[set[tuple[str, str]], list[ImportNote]]:
    """Every prompt of the training data with its answer, letters and digits only."""
    try:
        exchanges = read_exchanges(corpus)
    except DataError as error:  # answers alone, which is all that the leakage rule needs
        message = f"prompts are not compared with the training data, only labels: {error}"
        return set(), [ImportNote(kind="note", code="no_training_prompts", message=message)]
    said = [[*one.turns, ("assistant", one.label)] for one in exchanges]
    pairs = {
        (with_particles(asked), with_particles(answer))
        for turns in said
        for (role, asked), (other, answer) in pairwise(turns)
        if (role, other) == ("user", "assistant")
    }
    return pairs, []


def _kinds(
    exchange: Exchange, train: TrainingSet, prompts: set[str], both: set[tuple[str, str]]
) -> Iterable[str]:
    pair = (with_particles(exchange.prompt), with_particles(exchange.label))
    if pair[0] and pair[0] in prompts:
        yield "prompt"
    if all(pair) and pair in both:
        yield "pair"
    try:
        kind: Any = train.find(exchange.label).kind
    except ValueError:  # a label of signs alone: nothing can be said
        return
    if kind != "none":
        yield kind


def _finding(kind: str, lines: Sequence[int], total: int, source: Path, corpus: Path) -> ImportNote:
    shown = ", ".join(map(str, lines[:SHOWN])) + (
        f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    )
    message = f"{source.name}: {len(lines)} of {total} test rows {_SAID[kind]} ({corpus.name}): lines {shown}"
    return ImportNote(kind="warning", code=f"contamination_{kind}", message=message)
