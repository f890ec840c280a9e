"""The plan: what is weighed, by what, in which order of training. YAML in, checked objects out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from hengwen import registry
from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.yaml_config import StrictModel, YamlFile, load_yaml, parse_model
from hengwen.prompts.rubric import EitherText
from hengwen.records import Reducer


def _plain_name(value: str) -> str:
    if not re.fullmatch(r"[^\W_][\w.\-]*", value) or len(value) > 100:
        raise ValueError(
            "a name starts with a letter or digit and has only letters, digits, '_', '-' and '.'"
        )
    return value


Name = Annotated[str, BeforeValidator(str), AfterValidator(_plain_name)]


class PluginSpec(StrictModel):
    """A plug-in by name with its options: ``lyric`` or ``{lyric: {rules: document}}`` in YAML."""

    name: str
    options: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"name": data}
        if isinstance(data, dict) and len(data) == 1 and "name" not in data:
            ((name, options),) = data.items()
            if options is None or isinstance(options, dict):
                return {"name": name, "options": options or {}}
            raise ValueError(f"the options of {name!r} must be a mapping")
        return data


LevelFrom = Literal["holistic", "min_aspect", "median_aspect"]
"""Where a verdict's level comes from: the judge's own word for the whole, or its criteria."""


class RuleSpec(PluginSpec):
    """A rule by name with its options: ``broken`` or ``{leakage: {corpus: train.jsonl}}`` in YAML."""

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in (known := registry.known("rules")):
            raise ValueError(f"unknown rule {name!r}{did_you_mean(name, known)}")
        return name


class ScaleSpec(StrictModel):
    """How a task's values become its published score: one of the two."""

    mean_times: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The mean over the prompts, times this."""
    sum_divided_by: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The sum over the prompts, divided by this."""

    @model_validator(mode="after")
    def _one_way(self) -> ScaleSpec:
        if (self.mean_times is None) == (self.sum_divided_by is None):
            raise ValueError("a scale is either mean_times or sum_divided_by")
        return self


class JudgeSpec(StrictModel):
    """A judge: a rubric and who reads it. Without ``backend`` the packaged rules judge does, at no cost."""

    rubric: str
    """A packaged rubric's name, or a path that ends in .yaml."""
    backend: str | None = None
    panel: list[str] = []
    """Several backends that each read the rubric, instead of one."""
    reduce: Literal["mean", "median", "majority"] = "median"
    """How the members of a panel become one level."""
    quorum: Annotated[int, Field(ge=1)] | None = None
    """Members of a panel that must have judged; default: more than half."""
    judge: str | None = None
    """``rubric`` (a model reads it; default with a backend), ``rules`` (default without), or a plug-in."""
    name: Name | None = None
    """First part of the score names; default: the rubric's name."""
    language: Literal["zh", "en"] = "zh"
    level_from: LevelFrom = "holistic"
    """Whose level counts: the judge's own for the whole, the least or the lower median of its criteria."""
    note: EitherText | None = None
    """What this task asks of the judge besides its rubric."""
    options: dict[str, Any] = {}

    @property
    def plugin(self) -> str:
        """The judge plug-in that this asks for."""
        return self.judge or ("rubric" if self.asked else "rules")

    @property
    def asked(self) -> list[str]:
        """The backends that read the rubric."""
        return self.panel or ([self.backend] if self.backend else [])

    @model_validator(mode="after")
    def _panel_or_backend(self) -> JudgeSpec:
        if self.panel and self.backend:
            raise ValueError("a judge has either a backend or a panel of them")
        if len(set(self.panel)) < len(self.panel) or len(self.panel) == 1:
            raise ValueError("a panel names at least two backends, each once")
        if not self.panel and self.quorum is not None:
            raise ValueError("a quorum is for a panel")
        if self.quorum is not None and self.quorum > len(self.panel):
            raise ValueError(f"a quorum of {self.quorum} cannot be met by {len(self.panel)} members")
        return self


class PromptSpec(StrictModel):
    """How a subject is asked: Jinja2 templates, or files of them where the value ends in ``.j2``."""

    system: str | None = None
    user: str = "{{ input }}"
    params: dict[str, Any] = {}


class TaskSpec(StrictModel):
    """Samples with the scorers and judges that weigh their answers."""

    name: Name
    samples: Path
    columns: dict[str, str] = {}
    prompt: PromptSpec | None = None
    repeats: Annotated[int, Field(ge=1, le=1000)] = 1
    """Answers that a backend gives to each sample."""
    reduce: Reducer = "mean"
    """How the repeats of a prompt become its value."""
    scorers: list[PluginSpec] = []
    rules: list[RuleSpec] = []
    """Deterministic rules beside the judges: each gives a code score, and may cap a judge's level."""
    judges: list[JudgeSpec] = []
    scale: ScaleSpec | None = None
    """How a judge's values become the published score of the task; none: they do not."""

    @model_validator(mode="after")
    def _something_weighs(self) -> TaskSpec:
        if not self.scorers and not self.judges:
            raise ValueError(f"task {self.name!r} has neither scorers nor judges")
        if (self.rules or self.scale) and not self.judges:
            raise ValueError(f"task {self.name!r} has no judges that rules or a scale could be for")
        for name in (names := [rule.name for rule in self.rules]):
            if names.count(name) > 1:
                raise ValueError(f"rule {name!r} is named twice")
        return self


class CheckpointSpec(StrictModel):
    """Whose answers are weighed: stored ones, or ones that a backend gives."""

    name: Name
    step: int | None = None
    responses: Path | None = None
    columns: dict[str, str] = {}
    backend: str | None = None
    prompt: PromptSpec | None = None

    @model_validator(mode="after")
    def _one_source(self) -> CheckpointSpec:
        if (self.responses is None) == (self.backend is None):
            raise ValueError(f"checkpoint {self.name!r} needs either responses (stored answers) or a backend")
        return self


class PriceSpec(StrictModel):
    """Of a million tokens, in whatever currency the budget has."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


class BackendSpec(StrictModel):
    """Who answers a prompt. Never the key itself: only the name of the variable that holds it."""

    provider: str
    model: str = ""
    factory: str | None = None
    """For langchain: ``package.module:function`` that returns a chat model."""
    file: Path | None = None
    """For replay: recorded replies."""
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    params: dict[str, Any] = {}
    options: dict[str, Any] = {}
    timeout: Annotated[float, Field(gt=0)] = 120.0
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    """How often a call is tried again where that may help."""
    rpm: Annotated[float, Field(gt=0)] | None = None
    """Calls a minute that the endpoint allows."""
    tpm: Annotated[float, Field(gt=0)] | None = None
    """Tokens a minute that the endpoint allows; counted by estimate."""
    price: PriceSpec | None = None


class Plan(StrictModel):
    """A checked plan. Paths are absolute; the order of the checkpoints is the order of training."""

    name: Name
    tasks: Annotated[list[TaskSpec], Field(min_length=1)]
    checkpoints: Annotated[list[CheckpointSpec], Field(min_length=1)]
    backends: dict[str, BackendSpec] = {}
    labels: Path | None = None
    anchors: Path | None = None
    seed: int = 0

    @property
    def used_backends(self) -> dict[str, BackendSpec]:
        """The backends that a judge or a checkpoint names."""
        used = {name for task in self.tasks for judge in task.judges for name in judge.asked}
        used |= {checkpoint.backend for checkpoint in self.checkpoints if checkpoint.backend}
        return {name: spec for name, spec in self.backends.items() if name in used}


def load_plan(path: str | Path) -> Plan:
    """Read and check a plan.

    Args:
        path: Of a YAML file; the paths in it are relative to its folder.

    Raises:
        ConfigError: The plan is wrong; the message names file and line, and the way out.
    """
    file = load_yaml(Path(path))
    plan = parse_model(Plan, file)
    _check_names(plan, file)
    _check_references(plan, file)
    return _absolute(plan, file.path.resolve().parent)


def _check_names(plan: Plan, file: YamlFile) -> None:
    sections = {
        "tasks": [task.name for task in plan.tasks],
        "checkpoints": [checkpoint.name for checkpoint in plan.checkpoints],
    }
    for section, names in sections.items():
        seen: dict[str, str] = {}
        for index, name in enumerate(names):
            place = file.at((section, index, "name"))
            if name in seen:
                first = seen[name].rpartition(":")[2]
                raise ConfigError(f"{place}: {section[:-1]} {name!r} is named twice, first on line {first}")
            seen[name] = place


def _check_references(plan: Plan, file: YamlFile) -> None:
    asked: list[tuple[str, tuple[str | int, ...]]] = []
    for number, task in enumerate(plan.tasks):
        for index, judge in enumerate(task.judges):
            place: tuple[str | int, ...] = ("tasks", number, "judges", index)
            key = "panel" if judge.panel else "backend"
            asked += [(name, (*place, key)) for name in judge.asked]
            if not judge.asked and judge.plugin == "rubric":
                raise ConfigError(f"{file.at(place)}: judge 'rubric' needs a backend: name one of backends:")
    for number, checkpoint in enumerate(plan.checkpoints):
        if checkpoint.backend is not None:
            asked.append((checkpoint.backend, ("checkpoints", number, "backend")))
    for name, where in asked:
        if name not in plan.backends:
            hint = did_you_mean(name, plan.backends) or "; the plan has no backends"
            raise ConfigError(f"{file.at(where)}: unknown backend {name!r}{hint}")


def _absolute(plan: Plan, folder: Path) -> Plan:
    def at(path: Path | None) -> Path | None:
        return None if path is None else folder / path

    def prompt(spec: PromptSpec | None) -> PromptSpec | None:
        if spec is None:
            return None
        return spec.model_copy(
            update={"system": _template(spec.system, folder), "user": _template(spec.user, folder)}
        )

    def judge(spec: JudgeSpec) -> JudgeSpec:
        is_file = spec.rubric.endswith((".yaml", ".yml"))
        return spec.model_copy(update={"rubric": str(folder / spec.rubric)}) if is_file else spec

    def rule(spec: RuleSpec) -> RuleSpec:
        given = spec.options.get("corpus")
        corpus: object = given
        if isinstance(given, str):
            corpus = str(folder / given)
        elif isinstance(given, list):
            corpus = [str(folder / path) if isinstance(path, str) else path for path in given]
        return spec if corpus is None else _with_option(spec, "corpus", corpus)

    tasks = [
        task.model_copy(
            update={
                "samples": folder / task.samples,
                "prompt": prompt(task.prompt),
                "rules": [rule(spec) for spec in task.rules],
                "judges": [judge(spec) for spec in task.judges],
            }
        )
        for task in plan.tasks
    ]
    checkpoints = [
        item.model_copy(update={"responses": at(item.responses), "prompt": prompt(item.prompt)})
        for item in plan.checkpoints
    ]
    backends = {name: spec.model_copy(update={"file": at(spec.file)}) for name, spec in plan.backends.items()}
    update = {
        "tasks": tasks,
        "checkpoints": checkpoints,
        "backends": backends,
        "labels": at(plan.labels),
        "anchors": at(plan.anchors),
    }
    return plan.model_copy(update=update)


def _with_option(spec: RuleSpec, name: str, value: object) -> RuleSpec:
    return spec.model_copy(update={"options": {**spec.options, name: value}})


def _template(value: str | None, folder: Path) -> str | None:
    from hengwen.io.yaml_config import read_text

    if value is None or not value.endswith(".j2"):
        return value
    return read_text(folder / value)


def task_score_names(judge: str, scale: ScaleSpec | None) -> tuple[str, ...]:
    """Return the names of the values that a judge gives of a whole task.

    Args:
        judge: First part of its score names.
        scale: Of the task.

    Examples:
        >>> from hengwen.plans.plan import ScaleSpec
        >>> task_score_names("muice_live", ScaleSpec(sum_divided_by=10))
        ('muice_live.published', 'muice_live.normalised')
        >>> task_score_names("muice_live", None)
        ()
    """
    if scale is None:
        return ()
    more = (f"{judge}.normalised",) if scale.sum_divided_by is not None else ()
    return (f"{judge}.published", *more)
