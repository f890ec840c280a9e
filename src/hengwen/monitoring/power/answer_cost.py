"""``answer_costs``: calls, tokens and cost of one answer of each task, including the calls of its judges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hengwen.engine.budget import MILLION
from hengwen.runs.estimate_plan import estimate_suite
from hengwen.runs.options import RunOptions
from hengwen.store.store import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.plans.plan import CheckpointSpec
    from hengwen.plans.suite import LoadedPlan, LoadedTask
    from hengwen.records import Run, Usage
    from hengwen.runs.estimate_plan import CostEstimate
    from hengwen.store.store import Store

SAMPLES = 50
"""Number of samples of a task from which the cost of an answer is estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCost:
    """Expected calls, tokens and cost of generating one answer and of judging it."""

    calls: float
    input_tokens: float
    output_tokens: float
    cost: float | None
    """Cost at the prices of the plan, else as listed; None if a price is unknown."""
    unpriced: tuple[str, ...] = ()
    """Backends without a price."""
    measured: bool = False
    """Whether the tokens of a call were measured in the baseline run; otherwise they are estimated."""


def answer_costs(suite: LoadedPlan, store: Store, baseline: Run) -> dict[str, AnswerCost]:
    """Return the cost of one answer for each task of a plan."""
    plan = suite.plan
    checkpoint = next((item for item in plan.checkpoints if item.name == baseline.checkpoint), None)
    checkpoint = checkpoint or plan.checkpoints[0]
    estimates = {task.spec.name: _estimates(suite, task, checkpoint) for task in suite.tasks}
    answers = {task.spec.name: _answers(suite, task, checkpoint) for task in suite.tasks}
    factors = _token_factors(
        [
            (estimate, len(task.samples.samples) / max(1, answers[task.spec.name]))
            for task in suite.tasks
            for estimate in estimates[task.spec.name]
        ],
        store.usage([baseline]),
    )
    return {name: _answer_cost(estimates[name], answers[name], factors) for name in estimates}


def _estimates(suite: LoadedPlan, task: LoadedTask, checkpoint: CheckpointSpec) -> list[CostEstimate]:
    """Return the estimated calls and tokens of the first samples of a task: one repeat, without anchors."""
    spec = task.spec.model_copy(update={"repeats": 1})
    part = replace(
        suite,
        plan=suite.plan.model_copy(update={"tasks": [spec], "checkpoints": [checkpoint]}),
        tasks=(replace(task, spec=spec),),
        labels=(),
        anchors=(),
    )
    with open_store("sqlite://") as empty:
        return estimate_suite(part, empty, RunOptions(limit=SAMPLES, fresh=True))


def _answers(suite: LoadedPlan, task: LoadedTask, checkpoint: CheckpointSpec) -> int:
    """Return the number of answers from which the cost of one answer of a task is estimated."""
    samples = task.samples.take(SAMPLES)
    stored = suite.responses.get(checkpoint.name)
    if stored is None:
        return len(samples)
    return sum(len(stored.for_sample(task.spec.name, sample.id)) for sample in samples)


def _token_factors(
    estimates: Sequence[tuple[CostEstimate, float]], usage: Mapping[str, Usage]
) -> dict[str, tuple[float, float]]:
    """Return, for each role, the ratios of measured to estimated tokens of a call: (input, output)."""
    factors = {}
    for role, measured in usage.items():
        parts = [(estimate.usage, weight) for estimate, weight in estimates if estimate.role == role]
        calls, tokens_in, tokens_out = (
            sum(getattr(part, name) * weight for part, weight in parts)
            for name in ("calls", "input_tokens", "output_tokens")
        )
        if measured.calls and measured.input_tokens and tokens_in and tokens_out:
            share = calls / measured.calls
            factors[role] = (
                measured.input_tokens * share / tokens_in,
                measured.output_tokens * share / tokens_out,
            )
    return factors


def _answer_cost(
    estimates: Sequence[CostEstimate],
    answers: int,
    factors: Mapping[str, tuple[float, float]],
) -> AnswerCost:
    calls = tokens_in = tokens_out = cost = 0.0
    used = [estimate for estimate in estimates if estimate.usage.calls]
    for estimate in used:
        factor_in, factor_out = factors.get(estimate.role, (1.0, 1.0))
        usage = estimate.usage
        calls += usage.calls / answers
        backend_in, backend_out = (
            usage.input_tokens * factor_in / answers,
            usage.output_tokens * factor_out / answers,
        )
        tokens_in, tokens_out = tokens_in + backend_in, tokens_out + backend_out
        price = estimate.price
        if price is not None:
            cost += (backend_in * price.input + backend_out * price.output) / MILLION
    unpriced = tuple(dict.fromkeys(item.backend for item in used if item.price is None))
    return AnswerCost(
        calls=calls,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost=None if unpriced else cost,
        unpriced=unpriced,
        measured=bool(used) and all(item.role in factors for item in used),
    )
