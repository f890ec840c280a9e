"""All that a plan names, read and checked before anything is paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen import registry
from hengwen.datasets import Label, SampleSet, read_labels, read_responses, read_samples
from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.judges.panel import Panel
from hengwen.plan import PromptSpec
from hengwen.prompts import load_rubric
from hengwen.prompts.render import render_subject_prompt
from hengwen.protocols import DatasetChoice, SampleCheck, Scorer, SetScorer
from hengwen.records import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.plan import BackendSpec, JudgeSpec, Plan, TaskSpec
    from hengwen.prompts import Rubric
    from hengwen.protocols import Backend, Judge
    from hengwen.records import Response
    from hengwen.rowfile import Line


@dataclass(frozen=True, slots=True)
class Panelist:
    """A judge as the plan asks for it, with its rubric."""

    spec: JudgeSpec
    rubric: Rubric

    @property
    def name(self) -> str:
        """First part of its score names."""
        return self.spec.name or self.rubric.name

    def build(self, persona: str, backends: Sequence[Backend]) -> Judge:
        """Make the judge, or the panel of judges.

        Args:
            persona: The system prompt of the task, where there is one.
            backends: Who reads the rubric; empty for judges that ask nobody.
        """
        given: dict[str, Any] = {
            "rubric": self.rubric,
            "language": self.spec.language,
            "persona": persona,
            "name": self.name,
        }
        more = [{"backend": backend} for backend in backends] or [{}]
        judges: list[Judge] = [
            registry.build("judges", self.spec.plugin, self.spec.options, **given, **one) for one in more
        ]
        if len(judges) == 1:
            return judges[0]
        return Panel(judges=judges, reducer=self.spec.reduce, quorum=self.spec.quorum, name=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSuite:
    """A task with its samples read and its scorers made."""

    spec: TaskSpec
    samples: SampleSet
    scorers: tuple[Scorer, ...]
    set_scorers: tuple[SetScorer, ...]
    panel: tuple[Panelist, ...]

    @property
    def persona(self) -> str:
        """The system prompt of the task, which judges are shown as the persona."""
        return (self.spec.prompt.system or "") if self.spec.prompt else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A plan with all its files read."""

    plan: Plan
    tasks: tuple[TaskSuite, ...]
    responses: Mapping[str, Sequence[Response]]
    """Stored answers by checkpoint."""
    labels: tuple[tuple[Line, Label], ...] = ()
    anchors: tuple[tuple[Line, Label], ...] = ()
    warnings: tuple[str, ...] = ()

    def scale_of(self, task: str, score: str) -> Scale:
        """The range of a judge's score; without levels, for the mean of several raters may lie between."""
        scale = _judged(next(one for one in self.tasks if one.spec.name == task))[score].scale
        return Scale(low=scale.low, high=scale.high, higher_is_better=scale.higher_is_better)


def load_suite(plan: Plan) -> Suite:
    """Read all that a plan names.

    Raises:
        ConfigError: An unknown scorer, judge, backend, rubric or option.
        DataError: A row or a file is wrong; the message names file and line.
    """
    tasks = tuple(_load_task(spec) for spec in plan.tasks)
    warnings = [warning for task in tasks for warning in _check_samples(task)]
    responses = {
        checkpoint.name: read_responses(
            checkpoint.responses,
            [task.samples for task in tasks],
            checkpoint=checkpoint.name,
            columns=checkpoint.columns,
        )
        for checkpoint in plan.checkpoints
        if checkpoint.responses is not None
    }
    warnings += _missing(tasks, responses)
    _check_prompts(plan, tasks)
    labels = tuple(read_labels(plan.labels)) if plan.labels else ()
    anchors = tuple(read_labels(plan.anchors, frozen=True)) if plan.anchors else ()
    for line, label in (*labels, *anchors):
        _check_label(line, label, tasks, frozen=bool(label.output) and not label.checkpoint)
    names = {checkpoint.name for checkpoint in plan.checkpoints}
    foreign = {label.checkpoint for _, label in labels} - names
    if foreign:
        warnings.append(f"labels of checkpoints that the plan does not have: {', '.join(sorted(foreign))}")
    return Suite(
        plan=plan,
        tasks=tasks,
        responses=responses,
        labels=labels,
        anchors=anchors,
        warnings=tuple(warnings),
    )


def build_backend(spec: BackendSpec) -> Backend:
    """Make a backend of the plan.

    Raises:
        ConfigError: It is unknown, an option is, or its key is not set.
    """
    backend: Backend = registry.build(
        "backends",
        spec.provider,
        spec.options,
        model=spec.model,
        base_url=spec.base_url,
        api_key_env=spec.api_key_env,
        params=spec.params,
        timeout=spec.timeout,
    )
    return backend


def _load_task(spec: TaskSpec) -> TaskSuite:
    samples = read_samples(spec.samples, task=spec.name, columns=spec.columns)
    scorers: list[Scorer] = []
    set_scorers: list[SetScorer] = []
    for plugin in spec.scorers:
        scorer = registry.build("scorers", plugin.name, plugin.options)
        if isinstance(scorer, DatasetChoice):
            scorer = scorer.for_samples(list(samples.samples.values()))
        if isinstance(scorer, SetScorer):
            set_scorers.append(scorer)
        elif isinstance(scorer, Scorer):
            scorers.append(scorer)
        else:
            raise ConfigError(f"scorer {plugin.name!r} has neither score() nor score_set()")
    panel = tuple(Panelist(judge, load_rubric(judge.rubric)) for judge in spec.judges)
    _check_names(spec, [*scorers, *set_scorers], panel)
    return TaskSuite(
        spec=spec,
        samples=samples,
        scorers=tuple(scorers),
        set_scorers=tuple(set_scorers),
        panel=panel,
    )


def _check_names(spec: TaskSpec, scorers: Sequence[Scorer | SetScorer], panel: Sequence[Panelist]) -> None:
    names = [name for scorer in scorers for name in scorer.names]
    names += [f"{judge.name}.level" for judge in panel]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"task {spec.name!r} gives {name!r} twice; set name: on one of the judges")


def _check_samples(task: TaskSuite) -> list[str]:
    warnings: dict[str, list[str]] = {}
    for scorer in task.scorers:
        if not isinstance(scorer, SampleCheck):
            continue
        for sample in task.samples.samples.values():
            line = task.samples.lines[sample.id]
            try:
                for warning in scorer.check_sample(sample):
                    warnings.setdefault(warning, []).append(f"{line.path}:{line.number}")
            except ValueError as error:
                line.fail(str(error))
    return [
        f"{places[0]}: {warning}" + (f" (and {len(places) - 1} more)" if len(places) > 1 else "")
        for warning, places in warnings.items()
    ]


def _check_prompts(plan: Plan, tasks: Sequence[TaskSuite]) -> None:
    """Render every prompt that a subject would be asked: what fails must fail before anything is paid."""
    for checkpoint in plan.checkpoints:
        if checkpoint.backend is None:
            continue
        for task in tasks:
            prompt = checkpoint.prompt or task.spec.prompt or PromptSpec()
            for sample in task.samples.samples.values():
                render_subject_prompt(prompt.system, prompt.user, sample)


def _missing(tasks: Sequence[TaskSuite], responses: Mapping[str, Sequence[Response]]) -> list[str]:
    warnings = []
    for checkpoint, answers in responses.items():
        given = {(answer.task, answer.sample_id) for answer in answers}
        for task in tasks:
            absent = [name for name in task.samples.samples if (task.spec.name, name) not in given]
            if absent:
                warnings.append(
                    f"checkpoint {checkpoint!r} has no answer to {len(absent)} of "
                    f"{len(task.samples.samples)} samples of task {task.spec.name!r}, "
                    f"first {absent[0]!r}: counted as missing"
                )
    return warnings


def _check_label(line: Line, label: Label, tasks: Sequence[TaskSuite], *, frozen: bool) -> None:
    by_name = {task.spec.name: task for task in tasks}
    task = by_name.get(label.task)
    if task is None:
        line.fail(f"unknown task {label.task!r}{did_you_mean(label.task, by_name)}")
    if not frozen and label.id not in task.samples.samples:
        raise DataError(f"{line.path}:{line.number}: task {label.task!r} has no sample {label.id!r}")
    judged = _judged(task)
    if label.score not in judged:
        line.fail(f"no judge of task {label.task!r} gives {label.score!r}{did_you_mean(label.score, judged)}")
    scale = judged[label.score].scale
    if not scale.holds(label.value):
        levels = ", ".join(f"{level:g}" for level in scale.levels or (scale.low, scale.high))
        line.fail(f"value {label.value:g} is no level of {label.score}: {levels}")


def _judged(task: TaskSuite) -> dict[str, Rubric]:
    """The scores that the judges of a task give, with the rubric of each."""
    return {
        f"{judge.name}.{part}": judge.rubric
        for judge in task.panel
        for part in ("level", *judge.rubric.criteria)
    }
