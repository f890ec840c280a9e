"""The samples of a Muice suite: prompts with references, and what the rules need to know of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hengwen.importers.notes import ImportNote
from hengwen.objective.duplicates.training_set import with_particles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from hengwen.importers.conversations import Exchange
    from hengwen.importers.muice.document import Document, DocumentTask
    from hengwen.importers.muice.items import Item
    from hengwen.importers.muice.tags import Topic
    from hengwen.personas.persona import Persona

JsonRow = dict[str, Any]

_RESULT = re.compile(r"=\s*(-?\d+(?:\.\d+)?)\s*[。.]?\s*$")
_SUM = re.compile(r"\d\s*[-+*/×÷^]\s*[\w(]")
_SAFETY = re.compile(r"抑郁|双相|双向情感|确诊|焦虑症|精神分裂|自杀|自残|自伤|轻生|不想活")
FULL = 100
"""Rows with which the published score of the test split, sum / 10, reaches 10."""


def topic_rows(
    topics: Iterable[Topic], persona: Persona, document: Document
) -> tuple[list[JsonRow], list[ImportNote]]:
    """Return the topic prompts, each with its brief.

    Args:
        topics: Which.
        persona: Whose briefs; a topic without one is asked as the program does it, as a viewer's word.
        document: Whose spellings of the tags are kept beside the program's.
    """
    published: dict[str, list[str]] = {}
    for example in document.examples["muice_new_topic"]:
        if example.published != example.input and example.published not in published.get(example.input, ()):
            published.setdefault(example.input, []).append(example.published)
    rows, findings = [], []
    for topic in topics:
        brief = persona.brief(topic.tag)
        if brief is None:
            message = f"the program has no brief for {topic.tag}: it is asked as if a viewer had said it"
            findings.append(ImportNote(kind="warning", code="no_brief", message=message))
        spellings = {"published_as": published[topic.tag]} if topic.tag in published else {}
        metadata = {"brief": brief or persona.scenes["live"], **spellings}
        rows.append({"id": topic.id, "input": topic.tag, "metadata": metadata})
    return rows, findings


def item_rows(task: DocumentTask, *, exempt_duplicates: bool) -> list[JsonRow]:
    """Return the items of a task.

    Args:
        task: With its items.
        exempt_duplicates: Whether an item with one right number may be answered in the same way twice.
    """
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
    """A sum with its result has one right answer: to give it in the reference's words is no copying."""
    found = _RESULT.search(item.target or "")
    metadata: JsonRow = {}
    if found and _SUM.search(item.input):
        number = float(found[1])
        metadata["number"] = int(number) if number.is_integer() else number
        metadata["exempt"] = ["target_copy", *(["near_duplicate"] if exempt_duplicates else [])]
    if _SAFETY.search(item.input):
        metadata["safety"] = True
    return metadata


def exchange_rows(
    exchanges: Sequence[Exchange], source: Path, document: Document
) -> tuple[list[JsonRow], list[ImportNote]]:
    """Return the rows of a test split, and warnings where its score is not what the document means.

    Args:
        exchanges: In the order of the file.
        source: For messages.
        document: Whose examples, which judges are shown, should not be among the rows.
    """
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
    findings = _known_examples(exchanges, source, document)
    if len(exchanges) != FULL:
        message = (
            f"{source.name} has {len(exchanges)} rows: the published score, sum / 10, is 0..10 only with "
            f"{FULL}; compare by the normalised value"
        )
        findings.append(ImportNote(kind="warning", code="not_100_rows", message=message))
    own = sum(1 for exchange in exchanges if exchange.system)
    if own:
        message = (
            f"{own} rows of {source.name} have a system prompt of their own: comprehensive.md.j2 is used "
            "in its place; the row's own is in metadata.row_system"
        )
        findings.append(ImportNote(kind="note", code="row_system", message=message))
    return rows, findings


def _known_examples(exchanges: Sequence[Exchange], source: Path, document: Document) -> list[ImportNote]:
    shown = {with_particles(example.input) for example in document.examples.get("muice_live", ())}
    lines = [exchange.line for exchange in exchanges if with_particles(exchange.prompt) in shown]
    if not lines:
        return []
    message = (
        f"{source.name}: {len(lines)} test rows are published examples, which judges are shown: "
        f"lines {', '.join(map(str, lines))}"
    )
    return [ImportNote(kind="warning", code="example_in_test", message=message)]
