"""The Muice evaluation document, as it is published, to a suite that can be run."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hengwen.importers.contamination import find_contamination
from hengwen.importers.conversations import Exchange, read_exchanges
from hengwen.importers.muice.document import Document, DocumentTask, read_document
from hengwen.importers.muice.options import MuiceOptions
from hengwen.importers.muice.plan import suite_plan
from hengwen.importers.muice.rubrics import rubric_files
from hengwen.importers.muice.samples import exchange_rows, item_rows, topic_rows
from hengwen.importers.muice.tables import split_clauses
from hengwen.importers.muice.tags import choose_topics
from hengwen.importers.notes import ImportNote
from hengwen.objective.duplicates.training_files import read_answers
from hengwen.personas.folder import to_jsonl, write_folder
from hengwen.personas.persona import Persona, load_persona
from hengwen.personas.plan_text import PlannedTask
from hengwen.personas.system_prompts import system_prompt
from hengwen.personas.tasks import TASKS, PersonaTask, sampling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPAIRS = "repairs.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMuice:
    """What was read and written."""

    plan: Path
    document: Document
    samples: Mapping[str, int]
    """Samples by task; 0 for a task that is left out of the plan."""
    findings: tuple[ImportNote, ...]
    """Every repair, warning and note, by line."""

    @property
    def items(self) -> int:
        """Prompts that the document lists."""
        return sum(len(task.items) for task in self.document.tasks)

    @property
    def examples(self) -> int:
        """Published examples, which went into the rubrics."""
        return sum(len(examples) for examples in self.document.examples.values())

    def count(self, kind: str) -> int:
        """How many findings are of a kind."""
        return sum(finding.kind == kind for finding in self.findings)


@dataclass(slots=True)
class _Suite:
    """What is gathered before anything is written."""

    files: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    planned: list[PlannedTask] = field(default_factory=list)
    findings: list[ImportNote] = field(default_factory=list)


def import_muice(
    file: Path,
    folder: Path,
    *,
    test_split: Path | None = None,
    corpus: Path | None = None,
    options: MuiceOptions | None = None,
    force: bool = False,
) -> ImportedMuice:
    """Write a plan with samples, prompts and rubrics from the evaluation document.

    Args:
        file: The document, in any of its revisions.
        folder: Where plan.yaml and all that it names go, and repairs.json: every repair and warning.
        test_split: The rows of the comprehensive task; without them it stands in the plan as a comment.
        corpus: Training data: adds the leakage rule, and the test split is searched for in it.
        options: What the document leaves open.
        force: Write over files that are there.

    Raises:
        DataError: A file is not what it should be; file and line are named, nothing is written.
        ConfigError: An option is unknown, or files are there already.
    """
    options = options or MuiceOptions()
    params = sampling(options.preset)
    topics = choose_topics(options.topics, options.subchoice, seed=options.seed, pick=options.pick)
    document = read_document(file)
    exchanges = read_exchanges(test_split) if test_split else []
    suite = _Suite(findings=list(document.findings))
    persona = muice_persona()
    texts, found = rubric_files(document, file.name)
    suite.files |= texts
    suite.findings += found
    rows: dict[str, list[dict[str, Any]]] = {
        task.name: item_rows(task, exempt_duplicates=options.exempt_duplicates) for task in document.tasks
    }
    rows["new_topic"], found = topic_rows(topics, persona, document)
    suite.findings += found
    if test_split:
        rows["comprehensive"], found = exchange_rows(exchanges, test_split, document)
        suite.findings += found
    suite.findings += _corpus_findings(exchanges, test_split, corpus)
    for task in document.tasks:
        _add_task(suite, task, rows[task.name], persona, params, options.preset, _beside(corpus, folder))
    findings = sorted(suite.findings, key=lambda finding: finding.line or 0)
    suite.files["plan.yaml"] = suite_plan(file.name, suite.planned, rows["new_topic"], options)
    suite.files[REPAIRS] = _repairs(file, document, suite.counts, rows["new_topic"], options, findings)
    write_folder(folder, suite.files, force=force)
    return ImportedMuice(
        plan=folder / "plan.yaml", document=document, samples=suite.counts, findings=tuple(findings)
    )


def muice_persona() -> Persona:
    """Return the character of the tasks, in words of our own."""
    return load_persona(Path(str(files("hengwen.importers.muice"))) / "persona.yaml")


def _corpus_findings(
    exchanges: Sequence[Exchange], test_split: Path | None, corpus: Path | None
) -> list[ImportNote]:
    if corpus is None:
        message = "no training data is given (--corpus): whether answers stand in it is not assessed"
        return [ImportNote(kind="note", code="no_corpus", message=message)]
    if test_split is None:
        read_answers([str(corpus)])  # a file that no rule can read is told now
        return []
    return find_contamination(exchanges, test_split, corpus)


def _beside(path: Path | None, folder: Path) -> str | None:
    """A path as the plan names it: from its folder, or in full where there is no way."""
    if path is None:
        return None
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()


def _add_task(
    suite: _Suite,
    task: DocumentTask,
    rows: list[dict[str, Any]],
    persona: Persona,
    params: Mapping[str, float],
    preset: str,
    corpus: str | None,
) -> None:
    name = f"{task.name}.jsonl"
    suite.counts[task.name] = len(rows)
    suite.files[f"{task.name}.md.j2"] = system_prompt(persona, task.name)
    absent = ""
    if rows:
        suite.files[name] = to_jsonl(rows)
    else:
        absent = _why_absent(task)
        message = f"{task.name} is left out of the plan: {absent}"
        suite.findings.append(ImportNote(kind="warning", code="left_out", message=message, line=task.line))
    suite.planned.append(
        PlannedTask(
            task=_protocol(task),
            samples=name,
            count=len(rows),
            rubric=f"{task.rubric}.yaml",
            params=params,
            preset=preset,
            has_number=any("number" in row["metadata"] for row in rows),
            corpus=corpus,
            backend="judge",
            absent=absent,
        )
    )


def _why_absent(task: DocumentTask) -> str:
    if task.name == "comprehensive":
        return (
            "its prompts are the test split of a data set; import again with --test-split FILE "
            "(the published examples are few-shot and no test)"
        )
    return "this revision of the document lists no prompts for it"


def _protocol(task: DocumentTask) -> PersonaTask:
    """The task of the protocol, with what this document says in another way."""
    usual = TASKS["emotion" if task.name == "daily" else task.name]
    wanted = task.near_duplicates
    rules = tuple(rule for rule in usual.rules if rule != "near_duplicate" or wanted)
    if wanted and "near_duplicate" not in rules:
        rules = ("broken", "near_duplicate", *rules[1:])
    about = "chats about the day, as a friend in the contacts" if task.name == "daily" else usual.about
    return replace(usual, name=task.name, about=about, repeats=task.repeats, rules=rules, scale=task.scale)


def _repairs(
    file: Path,
    document: Document,
    counts: Mapping[str, int],
    topics: Sequence[Mapping[str, Any]],
    options: MuiceOptions,
    findings: Sequence[ImportNote],
) -> str:
    said = {
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
        "findings": [finding.as_dict() for finding in findings],
    }
    return json.dumps(said, ensure_ascii=False, indent=2) + "\n"
