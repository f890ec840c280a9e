"""All that a plan names, read and checked before anything is paid for."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen import registry
from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.judges.panel import Panel
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.rule_set import RuleScorer, RuleSet
from hengwen.judges.trust.model_families import same_family_warning
from hengwen.plans.datasets import Label, ResponseSet, SampleSet, read_labels, read_responses, read_samples
from hengwen.plans.plan import PromptSpec, task_score_names
from hengwen.prompts import load_rubric
from hengwen.prompts.render import is_template, render_persona, render_subject_prompt
from hengwen.protocols import DatasetConfigurable, GroupScorer, SampleValidator, Scorer
from hengwen.records import Sample, Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.io.row_reader import DataRow
    from hengwen.plans.plan import BackendSpec, JudgeSpec, Plan, TaskSpec
    from hengwen.prompts import Rubric
    from hengwen.protocols import Backend, Judge


@dataclass(frozen=True, slots=True)
class ConfiguredJudge:
    """A judge as the plan asks for it, with its rubric."""

    spec: JudgeSpec
    rubric: Rubric
    rules: RuleSet | None = None
    """Of the task."""

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
        given |= self._given()
        more = [{"backend": backend} for backend in backends] or [{}]
        judges: list[Judge] = [
            registry.build("judges", self.spec.plugin, self.spec.options, **given, **one) for one in more
        ]
        judge = judges[0]
        if len(judges) > 1:
            judge = Panel(judges=judges, reducer=self.spec.reduce, quorum=self.spec.quorum, name=self.name)
        if self.rules is None:
            return judge
        return CappedJudge(
            judge, self.rules, scale=self.rubric.scale, language=self.spec.language, name=self.name
        )

    def _given(self) -> dict[str, Any]:
        """What only some judges take: an instruction, a way to the level, and facts that rules found."""
        found: dict[str, Any] = {}
        if self.spec.level_from != "holistic":
            found["level_from"] = self.spec.level_from
        if self.spec.note is not None and self.spec.plugin != "rules":  # rules read no instructions
            found["task_instruction"] = self.spec.note.in_language(self.spec.language)
        if self.rules is not None and self._takes("evidence_signature"):
            found["evidence_signature"] = self.rules.evidence_signature
        if self.rules is not None and self._takes(
            "exclude_clauses"
        ):  # else the judge's own score were not raw
            found["exclude_clauses"] = [
                rule.name for rule in self.rules.rules if rule.name == "near_duplicate"
            ]
        return found

    def _takes(self, option: str) -> bool:
        try:
            return option in inspect.signature(registry.load("judges", self.spec.plugin)).parameters
        except (TypeError, ValueError):
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTask:
    """A task with its samples read and its scorers made; the rules of the task are scorers as well."""

    spec: TaskSpec
    samples: SampleSet
    scorers: tuple[Scorer, ...]
    set_scorers: tuple[GroupScorer, ...]
    panel: tuple[ConfiguredJudge, ...]

    @property
    def persona(self) -> str:
        """The system prompt of the task, which judges are shown as the persona."""
        return _persona(self.spec)

    @property
    def shows_persona(self) -> bool:
        """Whether a judge is shown a persona that is made anew for each sample."""
        return is_template(self.persona) and any("persona" in judge.rubric.uses for judge in self.panel)

    @property
    def published(self) -> dict[str, tuple[str, ...]]:
        """The values of the whole task that each judge of it gives, by the judge's name."""
        return {judge.name: task_score_names(judge.name, self.spec.scale) for judge in self.panel}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPlan:
    """A plan with all its files read."""

    plan: Plan
    tasks: tuple[LoadedTask, ...]
    responses: Mapping[str, ResponseSet]
    """Stored answers by checkpoint."""
    labels: tuple[tuple[DataRow, Label], ...] = ()
    anchors: tuple[tuple[DataRow, Label], ...] = ()
    warnings: tuple[str, ...] = ()

    def scale_of(self, task: str, score: str) -> Scale:
        """The range of a judge's score; without levels, for the mean of several raters may lie between."""
        scale = _judged(next(one for one in self.tasks if one.spec.name == task))[score].scale
        return Scale(low=scale.low, high=scale.high, higher_is_better=scale.higher_is_better)


def load_suite(plan: Plan) -> LoadedPlan:
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
    warnings += [warning for task in tasks for warning in _check_scale(task)]
    warnings += _own_families(plan)
    _check_prompts(plan, tasks)
    labels = tuple(read_labels(plan.labels)) if plan.labels else ()
    anchors = tuple(read_labels(plan.anchors, frozen=True)) if plan.anchors else ()
    for line, label in (*labels, *anchors):
        _check_label(line, label, tasks, frozen=bool(label.output) and not label.checkpoint)
    names = {checkpoint.name for checkpoint in plan.checkpoints}
    foreign = {label.checkpoint for _, label in labels} - names
    if foreign:
        warnings.append(f"labels of checkpoints that the plan does not have: {', '.join(sorted(foreign))}")
    return LoadedPlan(
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
    special = {"factory": spec.factory, "file": spec.file}
    backend: Backend = registry.build(
        "backends",
        spec.provider,
        {**{name: value for name, value in special.items() if value is not None}, **spec.options},
        model=spec.model,
        base_url=spec.base_url,
        api_key_env=spec.api_key_env,
        params=spec.params,
        timeout=spec.timeout,
    )
    return backend


def _load_task(spec: TaskSpec) -> LoadedTask:
    samples = read_samples(spec.samples, task=spec.name, columns=spec.columns)
    scorers: list[Scorer] = []
    set_scorers: list[GroupScorer] = []
    for plugin in spec.scorers:
        scorer = registry.build("scorers", plugin.name, plugin.options)
        if isinstance(scorer, DatasetConfigurable):
            scorer = scorer.for_samples(samples.first(None))
        if isinstance(scorer, GroupScorer):
            set_scorers.append(scorer)
        elif isinstance(scorer, Scorer):
            scorers.append(scorer)
        else:
            raise ConfigError(f"scorer {plugin.name!r} has neither score() nor score_set()")
    rules = _load_rules(spec)
    scorers += [RuleScorer(rule) for rule in rules.rules] if rules else []
    panel = tuple(ConfiguredJudge(judge, load_rubric(judge.rubric), rules) for judge in spec.judges)
    _check_names(spec, [*scorers, *set_scorers], panel)
    return LoadedTask(
        spec=spec,
        samples=samples,
        scorers=tuple(scorers),
        set_scorers=tuple(set_scorers),
        panel=panel,
    )


def _persona(spec: TaskSpec) -> str:
    return (spec.prompt.system or "") if spec.prompt else ""


def _load_rules(spec: TaskSpec) -> RuleSet | None:
    if not spec.rules:
        return None
    given = {"plain_text": {"names": _persona(spec)}}
    made = [
        registry.build("rules", rule.name, {**given.get(rule.name, {}), **rule.options})
        for rule in spec.rules
    ]
    return RuleSet(tuple(made))


def _own_families(plan: Plan) -> list[str]:
    """Warn where a judge weighs answers of a model of its own family, as far as names tell."""
    judges = sorted({name for task in plan.tasks for judge in task.judges for name in judge.asked})
    generators = [checkpoint.backend for checkpoint in plan.checkpoints if checkpoint.backend]
    models = {name: spec.model for name, spec in plan.backends.items()}
    found = [same_family_warning(models[a], models[b]) for a in judges for b in generators]
    return [warning for warning in dict.fromkeys(found) if warning]


def _check_scale(task: LoadedTask) -> list[str]:
    """Say where a sum over this many prompts does not end at 10, as its reader will think."""
    divisor = task.spec.scale.sum_divided_by if task.spec.scale else None
    n = len(task.samples.samples)
    if divisor is None or n == 10 * divisor:
        return []
    return [
        f"task {task.spec.name!r}: the sum over {n} prompts divided by {divisor:g} ends at {n / divisor:g}, "
        f"not at 10, which takes {10 * divisor:g} prompts: read the normalised value beside it"
    ]


def _check_names(
    spec: TaskSpec, scorers: Sequence[Scorer | GroupScorer], panel: Sequence[ConfiguredJudge]
) -> None:
    names = [name for scorer in scorers for name in scorer.names]
    for judge in panel:
        names += [f"{judge.name}.{part}" for part in ("level", *judge.rubric.criteria)]
        names += task_score_names(judge.name, spec.scale)
        names += [f"{judge.name}.final"] if judge.rules else []
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"task {spec.name!r} gives {name!r} twice; set name: on one of the judges, "
                "or leave out the scorer that is a rule as well"
            )


def _check_samples(task: LoadedTask) -> list[str]:
    warnings: dict[str, list[str]] = {}
    checks = [scorer for scorer in task.scorers if isinstance(scorer, SampleValidator)]
    for sample in task.samples.samples.values() if checks else ():
        line = task.samples.line(sample.id)
        try:
            for warning in (warning for check in checks for warning in check.check_sample(sample)):
                warnings.setdefault(warning, []).append(f"{line.path}:{line.number}")
        except ValueError as error:
            line.fail(str(error))
    return [
        f"{places[0]}: {warning}" + (f" (and {len(places) - 1} more)" if len(places) > 1 else "")
        for warning, places in warnings.items()
    ]


def _check_prompts(plan: Plan, tasks: Sequence[LoadedTask]) -> None:
    """Render every prompt that would be shown: what fails must fail before anything is paid."""
    for task in tasks:
        if task.shows_persona:
            for sample in task.samples.samples.values():
                render_persona(task.persona, sample)
    for checkpoint in plan.checkpoints:
        if checkpoint.backend is None:
            continue
        for task in tasks:
            prompt = checkpoint.prompt or task.spec.prompt or PromptSpec()
            for sample in task.samples.samples.values():
                render_subject_prompt(prompt.system, prompt.user, sample)


def _missing(tasks: Sequence[LoadedTask], responses: Mapping[str, ResponseSet]) -> list[str]:
    warnings = []
    for checkpoint, answers in responses.items():
        for task in tasks:
            names = (name for name in task.samples.samples if not answers.of(task.spec.name, name))
            first = next(names, None)
            if first is not None:
                warnings.append(
                    f"checkpoint {checkpoint!r} has no answer to {1 + sum(1 for _ in names)} of "
                    f"{len(task.samples.samples)} samples of task {task.spec.name!r}, "
                    f"first {first!r}: counted as missing"
                )
    return warnings


def _check_label(line: DataRow, label: Label, tasks: Sequence[LoadedTask], *, frozen: bool) -> None:
    by_name = {task.spec.name: task for task in tasks}
    task = by_name.get(label.task)
    if task is None:
        line.fail(f"unknown task {label.task!r}{did_you_mean(label.task, by_name)}")
    if not frozen and label.id not in task.samples.samples:
        raise DataError(f"{line.path}:{line.number}: task {label.task!r} has no sample {label.id!r}")
    if frozen and task.shows_persona:
        _check_anchor(line, label, task)
    judged = _judged(task)
    if label.score not in judged:
        line.fail(f"no judge of task {label.task!r} gives {label.score!r}{did_you_mean(label.score, judged)}")
    scale = judged[label.score].scale
    if not scale.holds(label.value):
        levels = ", ".join(f"{level:g}" for level in scale.levels or (scale.low, scale.high))
        line.fail(f"value {label.value:g} is no level of {label.score}: {levels}")


def _check_anchor(line: DataRow, label: Label, task: LoadedTask) -> None:
    """Render the persona that a judge of this anchor is shown."""
    sample = Sample(id=label.id, input=label.input, references=label.references, metadata=label.metadata)
    try:
        render_persona(task.persona, sample)
    except ConfigError as error:
        line.fail(f"anchor: {error}")


def _judged(task: LoadedTask) -> dict[str, Rubric]:
    """The scores that the judges of a task give, with the rubric of each."""
    return {
        f"{judge.name}.{part}": judge.rubric
        for judge in task.panel
        for part in ("level", *judge.rubric.criteria)
    }
