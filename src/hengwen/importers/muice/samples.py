"""Build the samples (prompts, references, metadata) of a plan imported from the Muice document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from hengwen.importers.conversations import Exchange
from hengwen.importers.muice.document import Document, DocumentTask
from hengwen.importers.muice.items import Item
from hengwen.importers.muice.markdown_source import ImportNote
from hengwen.importers.muice.tags import Topic
from hengwen.io.output_files import JsonRow
from hengwen.objective.duplicates.training_set import with_particles
from hengwen.personas.persona import Persona

_RESULT = re.compile(r"=\s*(-?\d+(?:\.\d+)?)\s*[。.]?\s*$")
_SUM = re.compile(r"\d\s*[-+*/×÷^]\s*[\w(]")
_SAFETY = re.compile(r"抑郁|双相|双向情感|确诊|焦虑症|精神分裂|自杀|自残|自伤|轻生|不想活")
FULL_TEST_SPLIT = 100
"""Number of rows of a complete test split, with which the published score, sum / 10, has the maximum 10."""


def topic_rows(
    topics: Iterable[Topic], persona: Persona, document: Document
) -> tuple[list[JsonRow], list[ImportNote]]:
    """Return the topic prompts with their briefs (instructions), and warnings for topics without a brief."""
    published: dict[str, list[str]] = {}
    for example in document.examples["muice_new_topic"]:
        if example.published != example.input and example.published not in published.get(example.input, ()):
            published.setdefault(example.input, []).append(example.published)
    rows, notes = [], []
    for topic in topics:
        brief = persona.brief(topic.tag)
        if brief is None:
            message = f"the program has no brief for {topic.tag}: it is sent like a viewer's message"
            notes.append(ImportNote(kind="warning", code="no_brief", message=message))
        spellings = {"published_as": published[topic.tag]} if topic.tag in published else {}
        metadata = {"brief": brief or persona.scenes["live"], **spellings}
        rows.append({"id": topic.id, "input": topic.tag, "metadata": metadata})
    return rows, notes


def item_rows(task: DocumentTask, *, exempt_duplicates: bool) -> list[JsonRow]:
    """Return the samples of a task."""
    width = max(2, len(str(len(task.items))))
    return [
        {
            "id": f"{task.name}-{item.number:0{width}}",
            "input": item.input,
            "references": [item.target] if item.target else [],
            "metadata": _metadata(item, exempt_duplicates),
        }
        for item in task.items
    ]


def _metadata(item: Item, exempt_duplicates: bool) -> JsonRow:
    """Return the metadata of an item, such as the right number of a calculation."""
    match = _RESULT.search(item.target or "")
    metadata: JsonRow = {}
    if match and _SUM.search(item.input):
        number = float(match[1])
        metadata["number"] = int(number) if number.is_integer() else number
        metadata["exempt"] = ["target_copy", *(["near_duplicate"] if exempt_duplicates else [])]
    if _SAFETY.search(item.input):
        metadata["safety"] = True
    return metadata


def exchange_rows(
    exchanges: Sequence[Exchange], source: Path, document: Document
) -> tuple[list[JsonRow], list[ImportNote]]:
    """The samples of a test split, and notes such as warnings about rows that would distort the score."""
    width = max(3, len(str(len(exchanges))))
    rows = [
        {
            "id": f"test-{number:0{width}}",
            "input": exchange.input,
            "references": [exchange.label],
            "metadata": {"row_system": exchange.system} if exchange.system else {},
        }
        for number, exchange in enumerate(exchanges, 1)
    ]
    notes = _known_examples(exchanges, source, document) + _duplicates(exchanges, source)
    if len(exchanges) != FULL_TEST_SPLIT:
        message = (
            f"{source.name} has {len(exchanges)} rows: the published score, sum / 10, is 0..10 only with "
            f"{FULL_TEST_SPLIT}; compare the normalised value"
        )
        notes.append(ImportNote(kind="warning", code="not_100_rows", message=message))
    with_system = sum(1 for exchange in exchanges if exchange.system)
    if with_system:
        message = (
            f"{with_system} rows of {source.name} have a system prompt: comprehensive.md.j2 is used instead; "
            "the prompt of the row is in metadata.row_system"
        )
        notes.append(ImportNote(kind="note", code="row_system", message=message))
    return rows, notes


def _duplicates(exchanges: Sequence[Exchange], source: Path) -> list[ImportNote]:
    first_lines: dict[object, int] = {}
    lines = [
        exchange.line
        for exchange in exchanges
        if first_lines.setdefault((exchange.turns, exchange.label), exchange.line) != exchange.line
    ]
    if not lines:
        return []
    message = (
        f"{source.name}: {len(lines)} test rows repeat an earlier row and count twice: "
        f"lines {', '.join(map(str, lines))}"
    )
    return [ImportNote(kind="warning", code="duplicate_in_test", message=message)]


def _known_examples(exchanges: Sequence[Exchange], source: Path, document: Document) -> list[ImportNote]:
    examples = {with_particles(example.input) for example in document.examples.get("muice_live", ())}
    lines = [exchange.line for exchange in exchanges if with_particles(exchange.prompt) in examples]
    if not lines:
        return []
    message = (
        f"{source.name}: {len(lines)} test rows are published examples, which judges see: "
        f"lines {', '.join(map(str, lines))}"
    )
    return [ImportNote(kind="warning", code="example_in_test", message=message)]
