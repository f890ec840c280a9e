"""Write rubrics: levels and examples come from a Muice document, criteria from packaged rubrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.importers.notes import ImportNote
from hengwen.personas.yaml_text import single_line, yaml_block
from hengwen.prompts import load_rubric
from hengwen.text.catalogue import localized

if TYPE_CHECKING:
    from hengwen.importers.muice.document import Document
    from hengwen.importers.muice.tables import Example

_TITLES = {
    "muice_new_topic": ("主动开话题（文档所刊标准）", "Opening a topic, by the published scale"),
    "muice_live": ("对话（文档所刊标准）", "Chat, by the published scale"),
}
_HEAD = (
    "levels and examples as published, in Chinese also where English is asked for",
    "instructions and criteria: those of the packaged rubric of the same name",
    "judges are shown the examples: keep them out of test sets, anchors and labels",
    "the file is yours to change; raise version when you do",
)


def rubric_files(document: Document, source: str) -> tuple[dict[str, str], list[ImportNote]]:
    """Return the text of a rubric file for each scoring table of the document, and notes about the tables."""
    files, notes = {}, []
    for name, scoring in document.scorings.items():
        source_line = f"{single_line(source)}:{scoring.line}"
        head = "".join(f"# {line}\n" for line in (source_line, *map(localized, _HEAD)))
        examples = document.examples.get(name, ())
        files[f"{name}.yaml"] = head + yaml_block(_rubric(name, scoring.levels, examples))
        message = f"rubric {name}: the table has only one language, its text is used for both"
        notes.append(ImportNote(kind="warning", code="one_language", message=message, line=scoring.line))
    return files, notes


def _rubric(name: str, levels: dict[float, str], examples: tuple[Example, ...]) -> dict[str, Any]:
    packaged = load_rubric(name).model_dump(mode="json", exclude_none=True)
    labels = {float(value): level["label"] for value, level in packaged["levels"].items()}
    zh, en = _TITLES[name]
    return {
        "name": name,
        "version": packaged["version"],
        "title": {"zh": zh, "en": en},
        "instructions": packaged["instructions"],
        "levels": {
            int(value) if value.is_integer() else value: {"label": labels[value], "zh": text, "en": text}
            for value, text in levels.items()
        },
        "criteria": packaged["criteria"],
        "examples": [_example(example) for example in examples],
        "uses": packaged["uses"],
        "better_than_reference": packaged["better_than_reference"],
        "rules": packaged["rules"],
    }


def _example(example: Example) -> dict[str, Any]:
    reference = {} if example.label is None else {"reference": example.label}
    return {
        "input": example.input,
        **reference,
        "response": example.response,
        "level": example.score,
        "reason": example.reason,
    }
