"""Decide whether to resume an earlier run: only if plan, answers, labels and versions have not changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.records import digest, digest_of
from hengwen.runs.run_facts import scoring_versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.plans.datasets import ResponseSet
    from hengwen.plans.plan import CheckpointSpec
    from hengwen.plans.suite import LoadedPlan, LoadedTask
    from hengwen.protocols import Backend, Judge
    from hengwen.records import Run


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """A task of the plan, together with its judges as they were built for one run."""

    task: LoadedTask
    judges: Sequence[Judge]


def resumes(earlier: Run, new_hash: str, *, fresh: bool, has_anchors: bool) -> bool:
    """Whether to resume an earlier run of the same plan and checkpoint instead of starting a new one."""
    return (
        earlier.plan_hash == new_hash
        and earlier.facts.get("versions") == scoring_versions()
        and not fresh
        and not (has_anchors and earlier.status == "finished")
    )


def plan_hash(
    suite: LoadedPlan,
    checkpoint: CheckpointSpec,
    tasks: Sequence[JudgedTask],
    responses: ResponseSet,
    backends: Mapping[str, Backend],
) -> str:
    """Return a hash of what determines a run's scores, except package versions; file paths do not matter."""
    parts = [
        [
            judged.task.spec.name,
            digest_of(sample.hash for sample in judged.task.samples.samples.values()),
            [scorer.signature for scorer in judged.task.scorers],
            [scorer.signature for scorer in judged.task.set_scorers],
            [judge.signature for judge in judged.judges],
            [judged.task.spec.prompt, judged.task.spec.repeats] if checkpoint.backend else None,
        ]
        for judged in tasks
    ]
    answers = digest_of((r.task, r.sample_id, r.repeat, r.text) for r in responses)
    target = backends[checkpoint.backend].signature if checkpoint.backend else None
    labels = [label for _, label in (*suite.labels, *suite.anchors)]
    return digest(suite.plan.name, checkpoint.name, parts, answers, target, checkpoint.prompt, labels)
