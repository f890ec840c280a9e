"""Stored answers in one file, judged into another: no plan to write, nothing generated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.io.row_writer import check_target, row_writer
from hengwen.plans.plan import Plan
from hengwen.records import Score
from hengwen.runs.run_plan import RunResult, run_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from hengwen.io.row_writer import JsonRow
    from hengwen.store.store import Store

TASK = "answers"
CHECKPOINT = "file"


def judge_file(
    source: Path,
    target: Path,
    *,
    rubric: str,
    store: Store,
    judge: str | None = None,
    base_url: str | None = None,
    columns: Mapping[str, str] | None = None,
    language: str = "zh",
    concurrency: int = 16,
    limit: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> RunResult:
    """Judge a file of answers by a rubric; what the store has already is not bought again.

    Args:
        source: JSONL or CSV with id (unique), output, and input and references where the rubric uses them.
        target: ``.jsonl`` or ``.csv``: id, repeat, each score, status, reason, signature.
        rubric: A packaged one, or the path of one.
        store: Keeps every attempt; the run is named after the file.
        judge: ``openai/MODEL``; default: the rules judge.
        base_url: Of an OpenAI-compatible server.
        columns: Foreign names to ours.
        language: Of the prompt, ``zh`` or ``en``.
        concurrency: Calls in flight.
        limit: Only the first so many.
        progress: As in ``run_plan``.

    Raises:
        ConfigError: The rubric, the judge or the target is wrong.
        DataError: A row is wrong; the message names file and line.
    """
    check_target(target)
    path = str(source.resolve())
    plan = Plan.model_validate(
        {
            "name": _name(source),
            "tasks": [
                {
                    "name": TASK,
                    "samples": path,
                    "columns": dict(columns or {}),
                    "judges": [{"rubric": rubric, "language": language}],
                }
            ],
            "checkpoints": [{"name": CHECKPOINT, "responses": path, "columns": dict(columns or {})}],
        }
    )
    result = run_plan(
        plan,
        store=store,
        judge=judge,
        base_url=base_url,
        concurrency=concurrency,
        limit=limit,
        progress=progress,
    )
    names = [address.partition("/")[2] for address in result.runs[0].layout]
    judged = [name for name in names if not name.startswith(("human.", "anchor."))]
    with row_writer(target, ["id", "repeat", *judged, "status", "reason", "signature"]) as write:
        for row in _rows(store, result, judged):
            write(row)
    return result


def _name(source: Path) -> str:
    kept = "".join(char if char.isalnum() or char in "_-." else "-" for char in source.stem)
    return f"judge-{kept}"[:100]


def _rows(store: Store, result: RunResult, names: list[str]) -> Iterator[JsonRow]:
    for answer in store.answers(result.runs[0]):
        outcomes = {outcome.name: outcome for outcome in answer.outcomes}
        if names[0] not in outcomes:
            continue
        level = outcomes[names[0]]
        scores: dict[str, Any] = {
            name: outcome.value for name, outcome in outcomes.items() if isinstance(outcome, Score)
        }
        yield {
            "id": answer.sample_id,
            "repeat": answer.repeat,
            **scores,
            "status": "ok" if isinstance(level, Score) else level.status,
            "reason": level.reason if isinstance(level, Score) else level.message,
            "signature": level.signature,
        }
