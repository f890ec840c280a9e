"""Turn the Muice evaluation document, as it was published, into a plan that can be run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from hengwen._internal.plugins import whole_number
from hengwen.importers.conversations import Exchange, read_exchanges
from hengwen.importers.muice.contamination import find_contamination
from hengwen.importers.muice.document import Document, DocumentTask, protocol_task, read_document
from hengwen.importers.muice.markdown_source import ImportNote
from hengwen.importers.muice.samples import exchange_rows, item_rows, topic_rows
from hengwen.importers.muice.tables import Example, split_clauses
from hengwen.importers.muice.tags import choose_topics
from hengwen.io.output_files import JsonRow
from hengwen.objective.duplicates.training_set import read_answers
from hengwen.personas.persona import Persona, load_persona, system_prompt, to_jsonl, write_folder
from hengwen.personas.plan_text import (
    DEFAULT_PRESET,
    JUDGE_YAML,
    SUBJECT_YAML,
    PersonaTask,
    PlannedTask,
    plan_text,
    sampling,
    single_line,
    yaml_block,
)
from hengwen.prompts import load_rubric
from hengwen.text.language import localized


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceOptions:
    """Options of ``hengwen import muice``, for settings that the imported evaluation document leaves open."""

    topics: str = "code"
    """Prompts that ask the model for a post (``<生成推文: ...>``). ``code``: the six prompts in the code of
    the Muice program; ``legacy5``: the five prompts in the program's configuration template."""
    subchoice: str = "one"
    """``one``: the plan has a single prompt, which is a greeting or a holiday prompt. ``one_of_each``: the
    plan has one greeting prompt and one holiday prompt."""
    pick: str | None = None
    """Name of the greeting or holiday prompt to use, such as ``早上``; with ``one_of_each``, it must be a
    greeting. None selects the prompt by ``seed``."""
    seed: int = 0
    """Index of the greeting or holiday prompt, modulo the number of prompts to select from. With
    ``one_of_each``, the seed selects only the greeting."""
    preset: str = DEFAULT_PRESET
    """Preset of sampling parameters. The Muice document only says "default", which stands for different
    parameters in different programs."""
    exempt_duplicates: bool = False
    """Whether a model may repeat an answer to a calculation, for which only one number is right. The Muice
    document forbids repeated answers."""

    def __post_init__(self) -> None:
        whole_number("seed", self.seed, 0)
        if not isinstance(self.exempt_duplicates, bool):
            raise ValueError(f"exempt_duplicates must be true or false, got {self.exempt_duplicates!r}")


def suite_plan(
    source: str, planned: Sequence[PlannedTask], topics: Sequence[Mapping[str, Any]], options: MuiceOptions
) -> str:
    """Return the text of the plan."""
    selected = ", ".join(row["input"] for row in topics if not row["id"].startswith("post-"))
    head = [
        f"The persona tasks of {source}, weighed by its scoring tables; the published scores are 0..10.",
        f"Where it is open: topics={options.topics}, subchoice={options.subchoice}: {selected};",
        "suites with other topic prompts are not comparable.",
        f'Its "default parameters" are the sampling preset {options.preset}; no prompt has a history.',
        "The .md.j2 files say who she is in words of ours: put there what your model was trained with.",
        "What was mended and what deserves a look: repairs.json.",
        "",
        "  hengwen validate plan.yaml",
        "  hengwen run plan.yaml --dry-run        # what it would cost",
        "  hengwen run plan.yaml -o report.html",
    ]
    tail = f"{SUBJECT_YAML}  {JUDGE_YAML} # costs money; any other will do\n"
    return plan_text(name="muice", head=head, tasks=planned, tail=tail)


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


REPAIRS = "repairs.json"
"""Name of the file that lists the options of the import and all its notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceImportResult:
    """Summary of an import: the parsed Muice document, and what was written."""

    plan: Path
    """Path of plan.yaml."""
    document: Document
    """The parsed Muice document."""
    samples: Mapping[str, int]
    """Number of samples, by task; 0 for a task that is left out of the plan."""
    notes: tuple[ImportNote, ...]
    """Repairs, warnings and remarks, in the order of the document's lines."""

    @property
    def examples(self) -> int:
        """Number of published examples, which are part of the rubrics."""
        return sum(len(examples) for examples in self.document.examples.values())

    def count(self, kind: str) -> int:
        """Return the number of notes of a kind: ``repair``, ``warning`` or ``note`` (no action needed)."""
        return sum(note.kind == kind for note in self.notes)


@dataclass(slots=True)
class _Suite:
    """The files of an imported plan and the notes about the import, before anything is written."""

    files: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    planned: list[PlannedTask] = field(default_factory=list)
    notes: list[ImportNote] = field(default_factory=list)


def import_muice(
    file: Path,
    folder: Path,
    *,
    test_split: Path | None = None,
    corpus: Path | None = None,
    options: MuiceOptions | None = None,
    force: bool = False,
) -> MuiceImportResult:
    """Write a plan with samples, prompts and rubrics from the Muice evaluation document."""
    options = options or MuiceOptions()
    params = sampling(options.preset)
    topics = choose_topics(options.topics, options.subchoice, seed=options.seed, pick=options.pick)
    document = read_document(file)
    exchanges = read_exchanges(test_split) if test_split else []
    suite = _Suite(notes=list(document.notes))
    persona = muice_persona()
    texts, notes = rubric_files(document, file.name)
    suite.files |= texts
    suite.notes += notes
    rows: dict[str, list[JsonRow]] = {
        task.name: item_rows(task, exempt_duplicates=options.exempt_duplicates) for task in document.tasks
    }
    rows["new_topic"], notes = topic_rows(topics, persona, document)
    suite.notes += notes
    if test_split:
        rows["comprehensive"], notes = exchange_rows(exchanges, test_split, document)
        suite.notes += notes
    suite.notes += _corpus_notes(exchanges, test_split, corpus)
    corpus_path = _path_in_plan(corpus, folder)
    for task in document.tasks:
        _add_task(suite, task, rows[task.name], persona, params, options.preset, corpus_path)
    sorted_notes = sorted(suite.notes, key=lambda note: note.line or 0)
    suite.files["plan.yaml"] = suite_plan(file.name, suite.planned, rows["new_topic"], options)
    suite.files[REPAIRS] = _repairs(file, document, suite.counts, rows["new_topic"], options, sorted_notes)
    inputs = [path for path in (file, test_split, corpus) if path is not None]
    write_folder(folder, suite.files, force=force, inputs=inputs)
    return MuiceImportResult(
        plan=folder / "plan.yaml", document=document, samples=suite.counts, notes=tuple(sorted_notes)
    )


def muice_persona() -> Persona:
    """Return the persona of the tasks; its description is this project's text, not the published prompt."""
    return load_persona(Path(str(files("hengwen.importers.muice"))) / "persona.yaml")


def _corpus_notes(
    exchanges: Sequence[Exchange], test_split: Path | None, corpus: Path | None
) -> list[ImportNote]:
    if corpus is None:
        message = "no training data (--corpus): leakage of answers is not assessed"
        return [ImportNote(kind="note", code="no_corpus", message=message)]
    if test_split is None:
        read_answers([str(corpus)])  # so that an unreadable file is an error now, not in the run
        return []
    return find_contamination(exchanges, test_split, corpus)


def _path_in_plan(path: Path | None, folder: Path) -> str | None:
    """Return a path relative to the plan's folder, or the full path if no relative path exists."""
    if path is None:
        return None
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # the path is on another drive
        return path.resolve().as_posix()


def _add_task(
    suite: _Suite,
    task: DocumentTask,
    rows: list[JsonRow],
    persona: Persona,
    params: Mapping[str, float],
    preset: str,
    corpus: str | None,
) -> None:
    name = f"{task.name}.jsonl"
    suite.counts[task.name] = len(rows)
    suite.files[f"{task.name}.md.j2"] = system_prompt(persona, task.name)
    absence_reason = ""
    if rows:
        suite.files[name] = to_jsonl(rows)
    else:
        absence_reason = _absence_reason(task)
        message = f"{task.name} is left out of the plan: {absence_reason}"
        suite.notes.append(ImportNote(kind="warning", code="left_out", message=message, line=task.line))
    suite.planned.append(
        PlannedTask(
            task=_adapted_protocol(task),
            samples=name,
            count=len(rows),
            rubric=f"{task.rubric}.yaml",
            params=params,
            preset=preset,
            has_number=any("number" in row["metadata"] for row in rows),
            corpus=corpus,
            backend="judge",
            absence_reason=absence_reason,
        )
    )


def _absence_reason(task: DocumentTask) -> str:
    if task.name == "comprehensive":
        return (
            "its prompts are the test split of a data set; import again with --test-split FILE "
            "(the published examples are few-shot and no test)"
        )
    return "this revision of the document lists no prompts for it"


def _adapted_protocol(task: DocumentTask) -> PersonaTask:
    """Return a task of the Muice protocol, with the settings that the imported document states."""
    protocol = protocol_task(task.name)
    rules = tuple(rule for rule in protocol.rules if rule != "near_duplicate" or task.near_duplicates)
    if task.near_duplicates and "near_duplicate" not in rules:
        rules = ("broken", "near_duplicate", *rules[1:])
    about = "chats about the day, as a friend in the contacts" if task.name == "daily" else protocol.about
    return replace(protocol, name=task.name, about=about, repeats=task.repeats, rules=rules, scale=task.scale)


def _repairs(
    file: Path,
    document: Document,
    counts: Mapping[str, int],
    topics: Sequence[Mapping[str, Any]],
    options: MuiceOptions,
    notes: Sequence[ImportNote],
) -> str:
    content = {
        "source": {"name": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()},
        "choices": {
            "topics": options.topics,
            "subchoice": options.subchoice,
            "asked": [row["input"] for row in topics],
            "seed": options.seed,
            "preset": options.preset,
        },
        "tasks": [
            {
                "name": task.name,
                "title": task.title,
                "line": task.line,
                "rubric": task.rubric,
                "items": len(task.items),
                "samples": counts[task.name],
                "repeats": task.repeats,
                "scale": {task.scale[0]: task.scale[1]},
            }
            for task in document.tasks
        ],
        "rubrics": {
            name: {
                "line": scoring.line,
                "clauses": {f"{level:g}": split_clauses(text) for level, text in scoring.levels.items()},
                "examples": [example.line for example in document.examples.get(name, ())],
            }
            for name, scoring in document.scorings.items()
        },
        "findings": [note.as_dict() for note in notes],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
