"""Override settings of a plan for one run: the model of its judges, and the number of repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hengwen.errors import ConfigError
from hengwen.plans.plan import BackendSpec, Plan, load_plan

OVERRIDE = "--judge"
"""Name of the backend that replaces the backends of all judges; a plan cannot contain this name."""
RULES_JUDGE = "rules"
"""Name of the rules judge, which can replace every model and makes no calls."""


def resolve_plan(
    plan: Plan | str | Path,
    *,
    judge: str | None = None,
    base_url: str | None = None,
    repeat: int | None = None,
) -> Plan:
    """Load the plan if it is a path, and return it with the overrides that are not None."""
    resolved = plan if isinstance(plan, Plan) else load_plan(plan)
    if judge is not None:
        resolved = with_judge(resolved, judge, base_url)
    if repeat is not None:
        if repeat < 1:
            raise ConfigError(f"repeat counts from 1, got {repeat}")
        tasks = [task.model_copy(update={"repeats": repeat}) for task in resolved.tasks]
        resolved = resolved.model_copy(update={"tasks": tasks})
    return resolved


def with_judge(plan: Plan, judge: str, base_url: str | None = None) -> Plan:
    """Return the plan with the model of every judge replaced by one model."""
    by_rules = judge == RULES_JUDGE
    backends = plan.backends if by_rules else {**plan.backends, OVERRIDE: judge_spec(judge, base_url)}
    if not any(task.judges for task in plan.tasks):
        raise ConfigError(f"plan {plan.name!r} has no judges that {judge} could replace")
    update: dict[str, object] = {
        "backend": None if by_rules else OVERRIDE,
        "panel": [],
        "quorum": None,
        "judge": RULES_JUDGE if by_rules else "rubric",
        "options": {},
    }
    tasks = [
        task.model_copy(
            update={
                "judges": [
                    spec if by_rules and spec.plugin == RULES_JUDGE else spec.model_copy(update=update)
                    for spec in task.judges
                ]
            }
        )
        for task in plan.tasks
    ]
    return plan.model_copy(update={"tasks": tasks, "backends": backends})


def is_plan_path(judge: str) -> bool:
    """Return whether the name of a judge is the path of a plan that has it."""
    return judge.lower().endswith((".yaml", ".yml"))


def judge_spec(judge: str, base_url: str | None = None) -> BackendSpec:
    """Parse ``PROVIDER/MODEL`` into the settings of a judge's backend, with temperature 0."""
    provider, _, model = judge.partition("/")
    if not provider or not model:
        raise ConfigError(f"--judge must be PROVIDER/MODEL, such as openai/gpt-4o-mini, got {judge!r}")
    return BackendSpec(provider=provider, model=model, base_url=base_url, params={"temperature": 0})


MAX_PATH = 1000
"""Maximum number of characters of a text that may be a path; longer texts are prompts or notes."""


def input_files(plan: Plan) -> list[Path]:
    """Return the files that a plan names, including files in options of scorers, rules and backends."""
    return files_in(plan.model_dump())


def files_in(options: Mapping[str, Any]) -> list[Path]:
    """Return the existing files among the values of options, at any depth of nesting."""
    return [path for path in _paths(options) if _is_file(path)]


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _paths(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, Path):
        yield value
    elif isinstance(value, str) and 0 < len(value) <= MAX_PATH:
        yield Path(value)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # the text is too long for a path, or has a null character
        return False
