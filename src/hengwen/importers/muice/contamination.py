"""Find rows of a test split that are also in the training data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from hengwen.errors import DataError
from hengwen.importers.conversations import Exchange, read_exchanges
from hengwen.importers.muice.markdown_source import ImportNote
from hengwen.objective.duplicates.training_set import TrainingSet, read_answers, with_particles

_DESCRIPTIONS = {
    "exact": "have a label that is also an answer in the training data",
    "particle_only": "have a label that equals an answer in the training data except for particles",
    "near": "have a label that shares at least 0.8 of its 5-grams with an answer in the training data",
    "prompt": "have a prompt that is also in the training data",
    "pair": "have a prompt that is in the training data with the same answer",
}
MAX_LINES_LISTED = 8
"""Maximum number of lines that a message lists."""


def find_contamination(test: Sequence[Exchange], source: Path, corpus: Path) -> list[ImportNote]:
    """Return a warning for each kind of overlap between test rows and training data."""
    try:
        train = TrainingSet(read_answers([str(corpus)])[0])
    except ValueError as error:
        raise error if isinstance(error, DataError) else DataError(f"{corpus}: {error}") from None
    pairs, notes = _pairs(corpus)
    prompts = {prompt for prompt, _ in pairs}
    lines: dict[str, list[int]] = {kind: [] for kind in _DESCRIPTIONS}
    for exchange in test:
        for kind in _kinds(exchange, train, prompts, pairs):
            lines[kind].append(exchange.line)
    warnings = [
        _warning(kind, numbers, len(test), source, corpus) for kind, numbers in lines.items() if numbers
    ]
    return [*notes, *warnings]


def _pairs(corpus: Path) -> tuple[set[tuple[str, str]], list[ImportNote]]:
    """Return every (prompt, answer) of the training data; both texts are reduced to letters and digits."""
    try:
        exchanges = read_exchanges(corpus)
    except DataError as error:  # the file has only answers, which are enough for the leakage rule
        message = f"only labels are compared with the training data, not prompts: {error}"
        return set(), [ImportNote(kind="note", code="no_training_prompts", message=message)]
    conversations = [[*exchange.turns, ("assistant", exchange.label)] for exchange in exchanges]
    pairs = {
        (with_particles(prompt), with_particles(answer))
        for turns in conversations
        for (role, prompt), (next_role, answer) in pairwise(turns)
        if (role, next_role) == ("user", "assistant")
    }
    return pairs, []


def _kinds(
    exchange: Exchange, train: TrainingSet, prompts: set[str], pairs: set[tuple[str, str]]
) -> Iterable[str]:
    pair = (with_particles(exchange.prompt), with_particles(exchange.label))
    if pair[0] and pair[0] in prompts:
        yield "prompt"
    if all(pair) and pair in pairs:
        yield "pair"
    try:
        kind: Any = train.find(exchange.label).kind
    except ValueError:  # the answer has no letters or digits
        return
    if kind != "none":
        yield kind


def _warning(kind: str, lines: Sequence[int], total: int, source: Path, corpus: Path) -> ImportNote:
    listed = ", ".join(map(str, lines[:MAX_LINES_LISTED]))
    if len(lines) > MAX_LINES_LISTED:
        listed += f" and {len(lines) - MAX_LINES_LISTED} more"
    rows = f"{len(lines)} of {total} test rows {_DESCRIPTIONS[kind]}"
    message = f"{source.name}: {rows} ({corpus.name}): lines {listed}"
    return ImportNote(kind="warning", code=f"contamination_{kind}", message=message)
