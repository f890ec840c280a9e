"""Load all files, scorers and judges that a plan names, and check them before any call is paid for."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

from hengwen import registry
from hengwen.io.row_reader import DataRow
from hengwen.io.strict_yaml import Location
from hengwen.judges.panel import Panel
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.rule import RuleScorer, RuleSet
from hengwen.plans import loaded_plan_checks as checks
from hengwen.plans.datasets import Levels, ResponseSet, SampleSet, read_labels, read_responses, read_samples
from hengwen.plans.load_scorer import load_scorer
from hengwen.plans.locations import located
from hengwen.plans.plan import BackendSpec, JudgeSpec, Plan, ScaleSpec, TaskSpec
from hengwen.plans.trust import check_trust
from hengwen.prompts import Rubric, load_rubric
from hengwen.prompts.render import is_template
from hengwen.protocols import Backend, GroupScorer, Judge, Scorer
from hengwen.records import Label, Scale
from hengwen.score_id import FINAL, LEVEL, NORMALISED, PUBLISHED, ScoreId, final_part, scores_of


@dataclass(frozen=True, slots=True)
class ConfiguredJudge:
    """A judge of a plan with its loaded rubric; ``build`` connects the judge to backends."""

    spec: JudgeSpec
    rubric: Rubric
    rules: RuleSet | None = None
    """Rules of the task."""

    @property
    def name(self) -> str:
        """First part of the judge's score names."""
        return self.spec.name or self.rubric.name

    def scores(self, task: str) -> list[ScoreId]:
        """Return the scores that the rubric defines: the level, then the criteria."""
        return [ScoreId(task, self.name, part) for part in (LEVEL, *self.rubric.criteria)]

    def all_scores(self, task: str, scale: ScaleSpec | None) -> list[ScoreId]:
        """Return all scores of the judge."""
        thresholds = (None, *self.rules.extra_thresholds) if self.rules else ()
        finals = [ScoreId(task, self.name, final_part(threshold)) for threshold in thresholds]
        return [*self.scores(task), *finals, *task_scores(task, self.name, scale)]

    def build(self, persona: str, backends: Sequence[Backend]) -> Judge:
        """Build the judge, or the panel (several judges whose levels are combined)."""
        judges = self.members(persona, backends)
        judge = judges[0]
        if len(judges) > 1:
            judge = Panel(
                judges=judges, reducer=self.spec.panel_reducer, quorum=self.spec.quorum, name=self.name
            )
        if self.rules is None:
            return judge
        return CappedJudge(
            judge, self.rules, scale=self.rubric.scale, language=self.spec.language, name=self.name
        )

    def check(self, persona: str) -> None:
        """Check the judge's options by building the judge, or each judge of a panel."""
        backends = [
            registry.build("backends", "replay", {"replies": []}, model=name)
            for name in self.spec.backend_names
        ]
        self.members(persona, backends)

    def members(self, persona: str, backends: Sequence[Backend]) -> list[Judge]:
        """Build the judges of a panel, without rules; if the judge is not a panel, the list has one judge."""
        injected: dict[str, Any] = {
            "rubric": self.rubric,
            "language": self.spec.language,
            "persona": persona,
            "name": self.name,
            **self._optional_arguments(),
        }
        connections = [{"backend": backend} for backend in backends] or [{}]
        return [
            registry.build("judges", self.spec.plugin, self.spec.options, **injected, **connection)
            for connection in connections
        ]

    def _optional_arguments(self) -> dict[str, Any]:
        """Return the constructor arguments that only some kinds of judges accept."""
        arguments: dict[str, Any] = {}
        if self.spec.level_from != "holistic":
            arguments["level_from"] = self.spec.level_from
        instruction = self.spec.task_instruction
        if instruction is not None and self.spec.plugin != "rules":  # the rules judge has no prompt
            arguments["task_instruction"] = instruction.in_language(self.spec.language)
        if self.rules is not None and "evidence_signature" in _parameters("judges", self.spec.plugin):
            arguments["evidence_signature"] = self.rules.evidence_signature
        # the rules judge skips checks that are also rules of the task, because its raw score must not depend
        # on the rules
        if self.rules is not None and "exclude_clauses" in _parameters("judges", self.spec.plugin):
            names = [rule.name for rule in self.rules.rules if rule.name == "near_duplicate"]
            arguments["exclude_clauses"] = names
        return arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTask:
    """A task with its samples and scorers; the scorers include the rules of the task."""

    spec: TaskSpec
    samples: SampleSet
    scorers: tuple[Scorer, ...]
    set_scorers: tuple[GroupScorer, ...]
    panel: tuple[ConfiguredJudge, ...]

    @property
    def persona(self) -> str:
        """System prompt of the task, which judges see as the persona."""
        return _persona(self.spec)

    @property
    def has_persona_template(self) -> bool:
        """Whether the persona is a template that is rendered for each sample."""
        return is_template(self.persona) and any("persona" in judge.rubric.uses for judge in self.panel)

    @property
    def scorer_scores(self) -> list[ScoreId]:
        """Scores of all scorers."""
        scorers: list[Scorer | GroupScorer] = [*self.scorers, *self.set_scorers]
        return [
            score
            for scorer in scorers
            for score in scores_of(scorer, self.spec.name, is_judge=False).values()
        ]

    @property
    def tested_scores(self) -> list[ScoreId]:
        """Scores by which checkpoints are compared: the first of each scorer, the last level of a judge."""
        scorers = [item for item in self.scorers if not isinstance(item, RuleScorer)]
        first = [next(iter(scores_of(item, self.spec.name, is_judge=False).values())) for item in scorers]
        part = FINAL if self.spec.rules else LEVEL
        return [*first, *(ScoreId(self.spec.name, judge.name, part) for judge in self.panel)]

    @property
    def scales(self) -> dict[str, Scale | None]:
        """Scale of each score of single answers, by address; None if it is not known before a score."""
        scales: dict[str, Scale | None] = {}
        for scorer in self.scorers:
            by_name = getattr(scorer, "scales", {})
            for name, score in scores_of(scorer, self.spec.name, is_judge=False).items():
                scales[score.address] = by_name.get(name, getattr(scorer, "scale", None))
        for judge in self.panel:
            scales |= {score.address: judge.rubric.scale for score in judge.all_scores(self.spec.name, None)}
        return scales

    @property
    def task_scores(self) -> list[ScoreId]:
        """Scores of the whole task, for all its judges together."""
        name, scale = self.spec.name, self.spec.scale
        return [score for judge in self.panel for score in task_scores(name, judge.name, scale)]

    @property
    def judged_scores(self) -> list[ScoreId]:
        """Scores that the rubrics of the task's judges define."""
        return [score for judge in self.panel for score in judge.scores(self.spec.name)]

    @property
    def rubrics(self) -> dict[str, Rubric]:
        """Rubric of each score of the task's judges, by score name."""
        return {score.base: judge.rubric for judge in self.panel for score in judge.scores(self.spec.name)}


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

    @property
    def levels(self) -> Levels:
        """Labels of the levels of each judged score, with their values."""
        return _levels(self.tasks)

    def scale_of(self, task: str, score: str) -> Scale:
        """Return a score's scale for human labels: its range, without the list of levels."""
        scale = next(loaded for loaded in self.tasks if loaded.spec.name == task).rubrics[score].scale
        return replace(scale, levels=None)


def load_suite(plan: Plan, *, trust: bool = False) -> LoadedPlan:
    """Read and check everything that a plan names."""
    check_trust(plan, trust=trust)
    tasks = tuple(_load_task(plan, index) for index in range(len(plan.tasks)))
    warnings = [warning for task in tasks for warning in checks.sample_warnings(task)]
    responses = _load_responses(plan, [task.samples for task in tasks])
    for checkpoint, answers in responses.items():
        for task in tasks:
            warnings += checks.missing_answer_warnings(checkpoint, task, answers)
    warnings += checks.repeat_warnings(plan, responses)
    warnings += checks.scale_warnings(tasks)
    warnings += checks.step_warnings(plan)
    warnings += checks.rubric_warnings(plan, tasks)
    warnings += checks.same_family_warnings(plan)
    checks.check_prompts(plan, tasks)
    checks.check_gates(plan, tasks)
    checks.check_ship(plan, tasks)
    checks.check_rewards(plan, tasks)
    checks.check_ranges(plan, tasks)
    labels = _load_labels(plan, "labels", tasks)
    anchors = _load_labels(plan, "anchors", tasks)
    for row, label in labels:
        checks.check_label(row, label, tasks)
    for row, label in anchors:
        checks.check_label(row, label, tasks, frozen=True)
    warnings += checks.label_warnings(plan, [label for _, label in labels])
    return LoadedPlan(
        plan=plan,
        tasks=tasks,
        responses=responses,
        labels=labels,
        anchors=anchors,
        warnings=tuple(warnings),
    )


def load_judges(plan: Plan, *, trust: bool = False) -> LoadedPlan:
    """Load the tasks and judges of a plan; files of checkpoints, labels and anchors need not exist."""
    return load_suite(
        plan.model_copy(update={"checkpoints": [], "labels": None, "anchors": None}), trust=trust
    )


def _load_responses(plan: Plan, samples: Sequence[SampleSet]) -> dict[str, ResponseSet]:
    responses = {}
    for index, checkpoint in enumerate(plan.checkpoints):
        if checkpoint.responses is not None:
            with located(plan, "checkpoints", index, "responses"):
                responses[checkpoint.name] = read_responses(
                    checkpoint.responses, samples, checkpoint=checkpoint.name, columns=checkpoint.columns
                )
    return responses


def _load_labels(
    plan: Plan, key: Literal["labels", "anchors"], tasks: Sequence[LoadedTask]
) -> tuple[tuple[DataRow, Label], ...]:
    path = plan.labels if key == "labels" else plan.anchors
    if path is None:
        return ()
    file = plan.file
    is_in_file = file is not None and file.path.resolve().parent / str(file.value((key,))) == path
    with located(plan, key) if is_in_file else nullcontext():  # an option may replace the plan's file
        return tuple(read_labels(path, frozen=key == "anchors", levels=_levels(tasks)))


def _levels(tasks: Sequence[LoadedTask]) -> Levels:
    return {
        (task.spec.name, score): rubric.labels for task in tasks for score, rubric in task.rubrics.items()
    }


def build_backends(plan: Plan, *, check_key: bool = True) -> dict[str, Backend]:
    """Build the backends that a plan uses."""
    backends = {}
    for name, spec in plan.used_backends.items():
        with located(plan, "backends", name):
            backends[name] = build_backend(spec, check_key=check_key)
    return backends


def build_backend(spec: BackendSpec, *, check_key: bool = True) -> Backend:
    """Build a backend of the plan."""
    provider_options: dict[str, Any] = {
        "factory": spec.factory,
        "file": spec.file,
        "api_key_env": spec.api_key_env,
    }
    if not check_key and "check_key" in _parameters("backends", spec.provider):
        provider_options["check_key"] = False
    backend: Backend = registry.build(
        "backends",
        spec.provider,
        {**{name: value for name, value in provider_options.items() if value is not None}, **spec.options},
        model=spec.model,
        base_url=spec.base_url,
        params=spec.params,
        timeout=spec.timeout,
    )
    return backend


def key_variable(spec: BackendSpec) -> str:
    """Return the environment variable of a backend's API key; empty if the backend has no usual one."""
    if spec.api_key_env is not None:
        return spec.api_key_env
    parameter = _parameters("backends", spec.provider).get("api_key_env")
    return parameter.default if parameter is not None and isinstance(parameter.default, str) else ""


def _parameters(group: registry.Group, plugin: str) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(registry.load(group, plugin)).parameters
    except (TypeError, ValueError):
        return {}


def _load_task(plan: Plan, index: int) -> LoadedTask:
    spec = plan.tasks[index]
    with located(plan, "tasks", index, "samples"):
        samples = read_samples(spec.samples, task=spec.name, columns=spec.columns)
    scorers: list[Scorer] = []
    set_scorers: list[GroupScorer] = []
    scores: dict[Location, Collection[ScoreId]] = {}
    for number, plugin in enumerate(spec.scorers):
        with located(plan, "tasks", index, "scorers", number):
            scorer = load_scorer(
                plugin.name, plugin.options, score_prefix=plugin.score_prefix, samples=samples.take(None)
            )
        if isinstance(scorer, GroupScorer):
            set_scorers.append(scorer)
        else:
            scorers.append(scorer)
        scores["scorers", number] = scores_of(scorer, spec.name, is_judge=False).values()
    rules = _load_rules(plan, index)
    for number, rule in enumerate(rules.rules if rules else ()):
        scorers.append(RuleScorer(rule))
        scores["rules", number] = scores_of(scorers[-1], spec.name, is_judge=False).values()
    panel = _load_panel(plan, index, rules)
    for number, judge in enumerate(panel):
        scores["judges", number] = judge.all_scores(spec.name, spec.scale)
    task = LoadedTask(
        spec=spec,
        samples=samples,
        scorers=tuple(scorers),
        set_scorers=tuple(set_scorers),
        panel=panel,
    )
    checks.check_score_names(plan, index, scores)
    return task


def _persona(spec: TaskSpec) -> str:
    return (spec.prompt.system or "") if spec.prompt else ""


def _load_rules(plan: Plan, index: int) -> RuleSet | None:
    spec = plan.tasks[index]
    if not spec.rules:
        return None
    defaults = {"plain_text": {"names": _persona(spec)}}
    rules = []
    for number, rule in enumerate(spec.rules):
        with located(plan, "tasks", index, "rules", number):
            options = {**defaults.get(rule.name, {}), **rule.options}
            rules.append(registry.build("rules", rule.name, options))
    return RuleSet(tuple(rules))


def _load_panel(plan: Plan, index: int, rules: RuleSet | None) -> tuple[ConfiguredJudge, ...]:
    spec = plan.tasks[index]
    panel = []
    for number, judge in enumerate(spec.judges):
        with located(plan, "tasks", index, "judges", number, "rubric"):
            configured = ConfiguredJudge(judge, load_rubric(judge.rubric), rules)
        with located(plan, "tasks", index, "judges", number):
            configured.check(_persona(spec))
        panel.append(configured)
    return tuple(panel)


def task_scores(task: str, judge: str, scale: ScaleSpec | None) -> tuple[ScoreId, ...]:
    """Return the scores of a whole task, which are computed from one judge's scores."""
    if scale is None:
        return ()
    parts = (PUBLISHED, NORMALISED) if scale.sum_divided_by is not None else (PUBLISHED,)
    return tuple(ScoreId(task, judge, part, "task") for part in parts)
