"""Collect the facts of a run: what it evaluates, where signatures say how; reports compare those of runs."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import asdict
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from hengwen._internal.plugins import is_location
from hengwen._internal.version import installed_versions
from hengwen.io.git import git_state
from hengwen.plans.input_files import input_files
from hengwen.protocols import parts_read
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from hengwen.engine.budget import Price
    from hengwen.plans.datasets import ResponseSet, Samples
    from hengwen.plans.plan import CheckpointSpec
    from hengwen.plans.suite import LoadedPlan, LoadedTask
    from hengwen.protocols import Backend

SCORING_PACKAGES = ("jieba", "opencc", "pypinyin", "sacrebleu")
"""Packages whose versions can change the score of a deterministic scorer."""
USUAL_SHARE = 0.95
"""If at least this share of the prompts have the same number of answers, only this number is recorded."""


class FactCollector:
    """Collect the facts of the runs of one plan, such as hashes of prompts."""

    def __init__(
        self,
        suite: LoadedPlan,
        backends: Mapping[str, Backend],
        limit: int | None,
        price: Callable[[str], Price | None],
    ) -> None:
        self._suite = suite
        self._backends = backends
        self._limit = limit
        self._price = price
        self._hashes: dict[tuple[str, int], dict[str, str]] = {}

    def facts(self, order: int, responses: ResponseSet, earlier: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts of the run of one checkpoint."""
        plan = self._suite.plan
        tasks = {
            task.spec.name: self._task(
                task, plan.checkpoints[order], responses, earlier.get("tasks", {}).get(task.spec.name, {})
            )
            for task in self._suite.tasks
        }
        prompts = sorted(
            (task.spec.name, self._sample_hashes(task, len(task.samples.samples))["prompts"])
            for task in self._suite.tasks
        )
        return {
            "sequence": digest([checkpoint.name for checkpoint in plan.checkpoints]),
            "position": order,
            "prompts": digest(prompts),
            "versions": dict(scoring_versions()),
            "tasks": tasks,
            **self._commits(earlier),
            **({"language": plan.language} if plan.language else {}),
            **({"margins": plan.margins} if plan.margins else {}),
            **({"ranges": plan.ranges} if plan.ranges else {}),
            **({"rewards": plan.rewards} if plan.rewards else {}),
        }

    def _commits(self, earlier: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fact ``commits``: git commits at which the run was started or resumed; {} if unknown."""
        commits = list(earlier.get("commits", []))
        if self._commit is not None and self._commit not in commits:
            commits.append(self._commit)
        return {"commits": commits} if commits else {}

    @cached_property
    def _commit(self) -> dict[str, Any] | None:
        plan = self._suite.plan
        if plan.file is None:
            return None
        path = plan.file.path.resolve()
        state = git_state(path.parent, [path, *input_files(plan)])
        return None if state is None else state._asdict()

    def _task(
        self,
        task: LoadedTask,
        checkpoint: CheckpointSpec,
        responses: ResponseSet,
        earlier: Mapping[str, Any],
    ) -> dict[str, Any]:
        name, total = task.spec.name, len(task.samples.samples)
        taken = max(len(task.samples.take(self._limit)), min(total, int(earlier.get("samples_taken", 0))))
        hashes = self._sample_hashes(task, taken)
        repeats = str(task.spec.repeats)
        if checkpoint.backend is None:
            samples = task.samples.take(taken)
            repeats = usual_repeats(len(responses.for_sample(name, sample.id)) for sample in samples)
        anchors = [label for _, label in self._suite.anchors if label.task == name]
        return {
            "samples": hashes["samples"],
            "references": hashes["references"],
            "samples_total": total,
            "samples_taken": taken,
            "repeats": repeats,
            "reducer": task.spec.repeat_reducer,
            "anchors": digest(sorted(map(repr, anchors))) if anchors else "",
            "judges": self.judges(task),
            "scorers": _reproducible_scorers(task),
        }

    def judges(self, task: LoadedTask) -> dict[str, Any]:
        """Return endpoints, models, prices and rubric of each judge of a task, and whether rules cap it."""
        return {
            judge.name: {
                "endpoints": [self._backends[backend].endpoint for backend in judge.spec.backend_names],
                "models": [self._suite.plan.used_backends[name].model for name in judge.spec.backend_names],
                "prices": [price and asdict(price) for price in map(self._price, judge.spec.backend_names)],
                "rules": judge.rules is not None,
                "rubric": str(judge.spec.rubric),
            }
            for judge in task.panel
        }

    def _sample_hashes(self, task: LoadedTask, taken: int) -> dict[str, str]:
        key = (task.spec.name, taken)
        if key not in self._hashes:
            self._hashes[key] = sample_hashes(task.samples.take(taken))
        return self._hashes[key]


def _reproducible_scorers(task: LoadedTask) -> list[dict[str, Any]]:
    """Return the names and options of scorers, so that reports can compute the reasons for scores again."""
    if not any("details" in parts_read(scorer) for scorer in task.scorers):
        return []
    return [
        {"name": spec.name, "options": spec.options}
        for spec in task.spec.scorers
        if not is_location(spec.name) and not spec.score_prefix
    ]


def sample_hashes(samples: Samples | Collection[Any]) -> dict[str, str]:
    """The hashes ``samples``, ``references`` and ``prompts`` of samples, independent of their order."""
    sums = dict.fromkeys(("samples", "references", "prompts"), 0)
    for sample in samples:
        sums["samples"] += int(digest(sample.id, sample.input, dict(sample.metadata)), 16)
        sums["references"] += int(digest(sample.id, sample.references), 16)
        sums["prompts"] += int(digest(sample.id, sample.input), 16)
    return {name: digest(f"{total:x}") for name, total in sums.items()}


def usual_repeats(counts: Iterable[int]) -> str:
    """Return the number of answers per prompt; a range such as ``1-3`` if it differs between many prompts."""
    answered = Counter(count for count in counts if count)
    if not answered:
        return "0"
    (usual, prompts), *_ = answered.most_common(1)
    if prompts >= USUAL_SHARE * answered.total():
        return str(usual)
    return f"{min(answered)}-{max(answered)}"


@cache
def scoring_versions() -> Mapping[str, str]:
    """Return the package versions that can change the score of a deterministic scorer."""
    return {"unicode": unicodedata.unidata_version, **installed_versions(SCORING_PACKAGES)}
