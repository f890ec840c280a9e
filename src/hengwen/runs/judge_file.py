"""Judge the answers in one file, and write the judge's levels with their reasons to another file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.io.output_files import check_target, row_writer
from hengwen.plans.input_files import files_in
from hengwen.plans.overrides import resolve_plan
from hengwen.plans.plan import Plan
from hengwen.records import Score
from hengwen.runs.options import RunOptions
from hengwen.runs.run_plan import RunResult, run_resolved
from hengwen.store import store_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hengwen.io.output_files import JsonRow
    from hengwen.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class FileJudgeResult(RunResult):
    """Result of a judged file."""

    answers: int
    """Number of answers."""
    judged: int
    """Number of answers to which the judge gave a level."""
    first_reason: str = ""
    """The reason why the judge gave no level to the first answer without a level."""


TASK = "answers"
CHECKPOINT = "file"


def judge_file(  # noqa: PLR0913 - keyword-only options
    source: Path,
    target: Path,
    *,
    rubric: str,
    store: Store,
    judge: str | None = None,
    base_url: str | None = None,
    columns: Mapping[str, str] | None = None,
    language: str = "zh",
    options: RunOptions | None = None,
) -> FileJudgeResult:
    """Judge a file of answers by a rubric; answers that were judged before are not judged again."""
    check_target(target, [source, *files_in({"rubric": rubric}), *store_files(store.name)])
    path = str(source.resolve())
    plan = Plan.model_validate(
        {
            "name": _plan_name(source),
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
    result = run_resolved(resolve_plan(plan, judge=judge, base_url=base_url), store, options or RunOptions())
    scores = {score.address: score for score in store.statuses(result.runs)}
    judge_names = [scores[address].name for address in result.runs[0].score_order if address in scores]
    counts: Counter[bool] = Counter()
    first_reason = ""
    try:
        with row_writer(target, ["id", "repeat", *judge_names, "status", "reason", "signature"]) as write:
            for row in _rows(store, result, level_name=judge_names[0]):
                has_level = row["status"] == "ok"
                counts[has_level] += 1
                first_reason = first_reason or ("" if has_level else row["reason"])
                write(row)
    except ConfigError as error:
        raise ConfigError(
            f"{error}; the verdicts are in {store.name}, the same command writes them"
        ) from None
    return FileJudgeResult(
        **{field.name: getattr(result, field.name) for field in fields(result)},
        answers=counts.total(),
        judged=counts[True],
        first_reason=first_reason,
    )


def _plan_name(source: Path) -> str:
    stem = "".join(char if char.isalnum() or char in "_-." else "-" for char in source.stem)
    return f"judge-{stem}"[:100]


def _rows(store: Store, result: RunResult, level_name: str) -> Iterator[JsonRow]:
    for answer in store.answers(result.runs[0]):
        outcomes = {score.name: outcome for score, outcome in answer.outcomes.items()}
        level = outcomes.get(level_name)
        if level is None:
            continue
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
