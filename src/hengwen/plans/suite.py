"""Load everything that a plan names, and check it before any call is paid for."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen import registry
from hengwen.errors import ConfigError
from hengwen.judges.panel import Panel
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.rule_set import RuleScorer, RuleSet
from hengwen.plans import checks
from hengwen.plans.datasets import ResponseSet, SampleSet, read_labels, read_responses, read_samples
from hengwen.plans.plan import task_score_names
from hengwen.prompts import load_rubric
from hengwen.prompts.render import is_template
from hengwen.protocols import DatasetConfigurable, GroupScorer, Scorer
from hengwen.records import Label, Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.io.row_reader import DataRow
    from hengwen.plans.plan import BackendSpec, JudgeSpec, Plan, TaskSpec
    from hengwen.prompts import Rubric
    from hengwen.protocols import Backend, Judge


@dataclass(frozen=True, slots=True)
class ConfiguredJudge:
    """A judge of a plan, with its rubric loaded; ``build`` connects it to backends."""

    spec: JudgeSpec
    rubric: Rubric
    rules: RuleSet | None = None
    """Rules of the task."""

    @property
    def name(self) -> str:
        """First part of the judge's score names."""
        return self.spec.name or self.rubric.name

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the scores by rubric: the level, then the criteria."""
        return tuple(f"{self.name}.{part}" for part in ("level", *self.rubric.criteria))

    def build(self, persona: str, backends: Sequence[Backend]) -> Judge:
        """Build the judge, or the panel of judges.

        Args:
            persona: System prompt of the task; empty if it has none.
            backends: Backends of ``spec.backend_names``, in that order; empty for judges without a model.
        """
        injected: dict[str, Any] = {
            "rubric": self.rubric,
            "language": self.spec.language,
            "persona": persona,
            "name": self.name,
            **self._optional_arguments(),
        }
        connections = [{"backend": backend} for backend in backends] or [{}]
        judges: list[Judge] = [
            registry.build("judges", self.spec.plugin, self.spec.options, **injected, **connection)
            for connection in connections
        ]
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

    def _optional_arguments(self) -> dict[str, Any]:
        """Return arguments that only some judges accept, and only if they differ from the default."""
        arguments: dict[str, Any] = {}
        if self.spec.level_from != "holistic":
            arguments["level_from"] = self.spec.level_from
        instruction = self.spec.task_instruction
        if instruction is not None and self.spec.plugin != "rules":  # the rules judge has no prompt
            arguments["task_instruction"] = instruction.in_language(self.spec.language)
        if self.rules is not None and self._accepts("evidence_signature"):
            arguments["evidence_signature"] = self.rules.evidence_signature
        # a clause that is also a rule is left to the rule; otherwise the raw score would already contain it
        if self.rules is not None and self._accepts("exclude_clauses"):
            names = [rule.name for rule in self.rules.rules if rule.name == "near_duplicate"]
            arguments["exclude_clauses"] = names
        return arguments

    def _accepts(self, argument: str) -> bool:
        try:
            return argument in inspect.signature(registry.load("judges", self.spec.plugin)).parameters
        except (TypeError, ValueError):
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTask:
    """A task with its samples read and its scorers built; each rule of the task is also a scorer."""

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
        """Whether a judge sees a persona rendered per sample."""
        return is_template(self.persona) and any("persona" in judge.rubric.uses for judge in self.panel)

    @property
    def scorer_names(self) -> list[str]:
        """Names of the scores of all scorers."""
        scorers: list[Scorer | GroupScorer] = [*self.scorers, *self.set_scorers]
        return [name for scorer in scorers for name in scorer.names]

    @property
    def task_scores(self) -> tuple[str, ...]:
        """Names of the values of the whole task, of all judges."""
        return tuple(name for judge in self.panel for name in task_score_names(judge.name, self.spec.scale))

    @property
    def rubrics(self) -> dict[str, Rubric]:
        """Rubric of each score that the judges of the task give."""
        return {name: judge.rubric for judge in self.panel for name in judge.score_names}


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
        """Return the range of a judge's score, without levels: a mean of raters may lie between two."""
        scale = next(loaded for loaded in self.tasks if loaded.spec.name == task).rubrics[score].scale
        return Scale(low=scale.low, high=scale.high, higher_is_better=scale.higher_is_better)


def load_suite(plan: Plan) -> LoadedPlan:
    """Read and check everything that a plan names.

    Raises:
        ConfigError: A scorer, judge, backend, rubric or option is unknown or invalid.
        DataError: A file or one of its rows is wrong; the message names file and line.
    """
    tasks = tuple(_load_task(spec) for spec in plan.tasks)
    warnings = checks.sample_warnings(tasks)
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
    warnings += checks.missing_answer_warnings(tasks, responses)
    warnings += checks.scale_warnings(tasks)
    warnings += checks.step_warnings(plan)
    warnings += checks.same_family_warnings(plan)
    checks.check_prompts(plan, tasks)
    labels = tuple(read_labels(plan.labels)) if plan.labels else ()
    anchors = tuple(read_labels(plan.anchors, frozen=True)) if plan.anchors else ()
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


def build_backend(spec: BackendSpec) -> Backend:
    """Build a backend of the plan.

    Raises:
        ConfigError: The provider or an option is unknown, or the API key is not set.
    """
    provider_options = {"factory": spec.factory, "file": spec.file}
    backend: Backend = registry.build(
        "backends",
        spec.provider,
        {**{name: value for name, value in provider_options.items() if value is not None}, **spec.options},
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
            scorer = scorer.for_samples(samples.take(None))
        if isinstance(scorer, GroupScorer):
            set_scorers.append(scorer)
        elif isinstance(scorer, Scorer):
            scorers.append(scorer)
        else:
            raise ConfigError(f"scorer {plugin.name!r} has neither score() nor score_set()")
    rules = _load_rules(spec)
    scorers += [RuleScorer(rule) for rule in rules.rules] if rules else []
    panel = tuple(ConfiguredJudge(judge, load_rubric(judge.rubric), rules) for judge in spec.judges)
    task = LoadedTask(
        spec=spec,
        samples=samples,
        scorers=tuple(scorers),
        set_scorers=tuple(set_scorers),
        panel=panel,
    )
    checks.check_score_names(task)
    return task


def _persona(spec: TaskSpec) -> str:
    return (spec.prompt.system or "") if spec.prompt else ""


def _load_rules(spec: TaskSpec) -> RuleSet | None:
    if not spec.rules:
        return None
    defaults = {"plain_text": {"names": _persona(spec)}}
    rules = [
        registry.build("rules", rule.name, {**defaults.get(rule.name, {}), **rule.options})
        for rule in spec.rules
    ]
    return RuleSet(tuple(rules))
