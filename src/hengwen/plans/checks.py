"""Checks of a loaded plan: errors and warnings that must come before any call is paid for."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, did_you_mean
from hengwen.judges.trust.model_families import same_family_warning
from hengwen.plans.plan import PromptSpec
from hengwen.prompts.render import render_persona, render_subject_prompt
from hengwen.protocols import SampleValidator
from hengwen.records import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.io.row_reader import DataRow
    from hengwen.plans.datasets import ResponseSet
    from hengwen.plans.plan import Plan
    from hengwen.plans.suite import LoadedTask
    from hengwen.records import Label


def check_score_names(task: LoadedTask) -> None:
    """Check that no two scorers or judges of a task give a score of the same name.

    Raises:
        ConfigError: A name occurs twice.
    """
    names = task.scorer_names
    for judge in task.panel:
        names += judge.score_names
        names += [f"{judge.name}.final"] if judge.rules else []
    names += task.task_scores
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"task {task.spec.name!r} gives {name!r} twice; set name: on one of the judges, "
                "or remove a scorer that is already configured as a rule"
            )


def sample_warnings(tasks: Iterable[LoadedTask]) -> list[str]:
    """Return the warnings of scorers that check each sample; equal ones are merged.

    Raises:
        DataError: A sample can never be scored; the message names file and line.
    """
    return [warning for task in tasks for warning in _sample_warnings(task)]


def _sample_warnings(task: LoadedTask) -> list[str]:
    locations: dict[str, list[str]] = {}
    validators = [scorer for scorer in task.scorers if isinstance(scorer, SampleValidator)]
    for sample in task.samples.samples.values() if validators else ():
        row = task.samples.row(sample.id)
        try:
            for validator in validators:
                for warning in validator.check_sample(sample):
                    locations.setdefault(warning, []).append(f"{row.path}:{row.number}")
        except ValueError as error:
            row.fail(str(error))
    return [
        f"{first}: {warning}" + (f" (and {len(others)} more)" if others else "")
        for warning, (first, *others) in locations.items()
    ]


def missing_answer_warnings(tasks: Sequence[LoadedTask], responses: Mapping[str, ResponseSet]) -> list[str]:
    """Return a warning for each checkpoint and task with samples that have no stored answer.

    Args:
        tasks: The loaded tasks.
        responses: Stored answers by checkpoint.
    """
    warnings = []
    for checkpoint, answers in responses.items():
        for task in tasks:
            missing = (name for name in task.samples.samples if not answers.for_sample(task.spec.name, name))
            first = next(missing, None)
            if first is not None:
                warnings.append(
                    f"checkpoint {checkpoint!r} has no answer to {1 + sum(1 for _ in missing)} of "
                    f"{len(task.samples.samples)} samples of task {task.spec.name!r}, "
                    f"first {first!r}: counted as missing"
                )
    return warnings


def scale_warnings(tasks: Iterable[LoadedTask]) -> list[str]:
    """Return a warning for each task whose sum over the prompts does not have the expected maximum of 10."""
    warnings = []
    for task in tasks:
        divisor = task.spec.scale.sum_divided_by if task.spec.scale else None
        n = len(task.samples.samples)
        if divisor is not None and n != 10 * divisor:
            warnings.append(
                f"task {task.spec.name!r}: the sum over {n} prompts divided by {divisor:g} has maximum "
                f"{n / divisor:g}, not 10 (10 needs {10 * divisor:g} prompts); use the normalised value"
            )
    return warnings


def same_family_warnings(plan: Plan) -> list[str]:
    """Return a warning for each pair of judge and model under test whose names tell the same family."""
    judges = sorted({name for task in plan.tasks for judge in task.judges for name in judge.backend_names})
    targets = [checkpoint.backend for checkpoint in plan.checkpoints if checkpoint.backend]
    models = {name: spec.model for name, spec in plan.backends.items()}
    warnings = [same_family_warning(models[judge], models[target]) for judge in judges for target in targets]
    return [warning for warning in dict.fromkeys(warnings) if warning]


def step_warnings(plan: Plan) -> list[str]:
    """Return a warning for each checkpoint whose step is not above that of the checkpoint before it."""
    steps = [(item.name, item.step) for item in plan.checkpoints if item.step is not None]
    return [
        f"step {step} of {name!r} is not above {step_before} of {before!r}: reports order checkpoints by step"
        for (before, step_before), (name, step) in pairwise(steps)
        if step <= step_before
    ]


def label_warnings(plan: Plan, labels: Iterable[Label]) -> list[str]:
    """Return a warning if labels name checkpoints that the plan does not have."""
    unknown = {label.checkpoint for label in labels} - {checkpoint.name for checkpoint in plan.checkpoints}
    return (
        [f"labels of checkpoints that the plan does not have: {', '.join(sorted(unknown))}"]
        if unknown
        else []
    )


def check_prompts(plan: Plan, tasks: Iterable[LoadedTask]) -> None:
    """Render every prompt and persona of the plan once, so that template errors come first.

    Raises:
        ConfigError: A template is wrong, or uses a value that a sample does not have.
    """
    prompts = [checkpoint.prompt for checkpoint in plan.checkpoints if checkpoint.backend is not None]
    for task in tasks:
        if task.has_persona_template:
            for sample in task.samples.samples.values():
                render_persona(task.persona, sample)
        for prompt in prompts:
            spec = prompt or task.spec.prompt or PromptSpec()
            for sample in task.samples.samples.values():
                render_subject_prompt(spec.system, spec.user, sample)


def check_label(row: DataRow, label: Label, tasks: Sequence[LoadedTask], *, frozen: bool = False) -> None:
    """Check a label or an anchor against the tasks.

    Args:
        row: The row of the label.
        label: The label.
        tasks: The loaded tasks.
        frozen: Whether the label is an anchor.

    Raises:
        DataError: The task, sample or score is unknown, the value is off the scale, or an anchor does not
            render the persona; the message names file and line.
    """
    by_name = {task.spec.name: task for task in tasks}
    task = by_name.get(label.task)
    if task is None:
        row.fail(f"unknown task {label.task!r}{did_you_mean(label.task, by_name)}")
    if not frozen and label.id not in task.samples.samples:
        row.fail(f"task {label.task!r} has no sample {label.id!r}")
    if frozen and task.has_persona_template:
        _check_anchor(row, label, task)
    rubrics = task.rubrics
    if label.score not in rubrics:
        row.fail(f"no judge of task {label.task!r} gives {label.score!r}{did_you_mean(label.score, rubrics)}")
    scale = rubrics[label.score].scale
    if not scale.holds(label.value):
        levels = ", ".join(f"{level:g}" for level in scale.levels or (scale.low, scale.high))
        row.fail(f"value {label.value:g} is no level of {label.score}: {levels}")


def _check_anchor(row: DataRow, label: Label, task: LoadedTask) -> None:
    """Render the persona that a judge of this anchor sees."""
    sample = Sample(id=label.id, input=label.input, references=label.references, metadata=label.metadata)
    try:
        render_persona(task.persona, sample)
    except ConfigError as error:
        row.fail(f"anchor: {error}")
