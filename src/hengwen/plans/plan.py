"""The YAML schema of a plan: tasks, their scorers and judges, and the checkpoints in training order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    PrivateAttr,
    field_validator,
    model_validator,
)

from hengwen import registry
from hengwen._internal.plugins import source_path
from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.strict_yaml import Location, StrictModel, YamlFile, load_yaml, parse_model, read_text
from hengwen.plans.endpoints import with_endpoint
from hengwen.plans.gates import GateSpec
from hengwen.plans.locations import located
from hengwen.prompts.rubric import EitherText
from hengwen.records import Reducer
from hengwen.text.language import Language
from hengwen.text.numbers import without_fraction


def _plain_name(value: str) -> str:
    if not re.fullmatch(r"[^\W_][\w.\-]*", value) or len(value) > 100:
        raise ValueError(
            "a name starts with a letter or digit and has only letters, digits, '_', '-' and '.'"
        )
    return value


def _number_as_text(value: Any) -> Any:
    """Return a number as text, so that a name such as 1000 needs no quotes in YAML."""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


Name = Annotated[str, BeforeValidator(_number_as_text), AfterValidator(_plain_name)]


class ScorerSpec(StrictModel):
    """A scorer of a task: ``lyric``, ``{lyric: {rules: muchin}}`` or ``{lyric: {...}, name: x}`` in YAML.

    The long form is ``{scorer: lyric, options: {...}, name: x}``.
    """

    written_keys: ClassVar[dict[str, str]] = {"name": "score_prefix"}

    name: str
    """Name of a plug-in, or the location of a class: ``module:Class`` or ``file.py:Class``."""
    options: dict[str, Any] = {}
    score_prefix: Name | None = None
    """First part of the score names (``name`` in YAML); default: the first part that the scorer uses."""

    @model_validator(mode="before")
    @classmethod
    def _yaml_forms(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"name": data}
        if isinstance(data, ScorerSpec):
            return data
        form = "a scorer is a name, or NAME: {OPTION: VALUE} with an optional name:"
        if not isinstance(data, dict):
            raise ValueError(form)
        if "scorer" in data:
            others = {key: value for key, value in data.items() if key not in ("scorer", "name")}
            return {"name": data["scorer"], "score_prefix": data.get("name"), **others}
        if "name" in data and set(data) <= {"name", "options", "score_prefix"}:
            return data
        plugins = [key for key in data if key != "name"]
        if len(plugins) != 1:
            raise ValueError(form)
        options = data[plugins[0]]
        if options is not None and not isinstance(options, dict):
            raise ValueError(f"the options of {plugins[0]!r} must be a mapping")
        return {"name": plugins[0], "options": options or {}, "score_prefix": data.get("name")}


LogTool = Literal["wandb", "swanlab", "trackio", "mlflow", "tensorboard"]


class ShipSpec(StrictModel):
    """What counts when checkpoints are compared to decide which one to ship."""

    not_worse: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    """For the address of a score (``TASK/SCORE``): how much worse than the best seen a checkpoint may be."""


class LogSpec(StrictModel):
    """A tool that draws curves: ``wandb`` or ``{tensorboard: FOLDER}`` in YAML."""

    tool: LogTool
    folder: Path | None = None
    """Folder of TensorBoard's files, within the folder of the plan."""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"tool": data}
        if isinstance(data, dict) and "tool" not in data:
            if set(data) != {"tensorboard"}:
                raise ValueError("a logger is a name, or tensorboard: FOLDER")
            return {"tool": "tensorboard", "folder": data["tensorboard"]}
        return data

    @model_validator(mode="after")
    def _has_folder(self) -> LogSpec:
        if (self.tool == "tensorboard") != (self.folder is not None):
            raise ValueError("tensorboard: FOLDER says where its files go; the other tools have no folder")
        return self

    def within(self, plan_folder: Path) -> LogSpec:
        """Return the logger with an absolute folder, which a plan may choose only within its own."""
        if self.folder is None:
            return self
        folder = (plan_folder / self.folder).resolve()
        if not folder.is_relative_to(plan_folder.resolve()):
            raise ConfigError(f"tensorboard: {str(self.folder)!r} is not within the folder of the plan")
        return self.model_copy(update={"folder": folder})


LevelFrom = Literal["holistic", "min_aspect", "median_aspect"]
"""Where the level of an answer comes from: the judge's overall level, or the levels of its criteria."""


class RuleSpec(StrictModel):
    """Name and options of a rule: ``broken`` or ``{leakage: {corpus: train.jsonl}}`` in YAML."""

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

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in (known := registry.known("rules")):
            raise ValueError(f"unknown rule {name!r}{did_you_mean(name, known)}")
        return name


class ScaleSpec(StrictModel):
    """How the values of all prompts become one number, the task's published score; set exactly one field."""

    mean_times: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Factor by which the mean over the prompts is multiplied."""
    sum_divided_by: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Number by which the sum over the prompts is divided."""

    @model_validator(mode="after")
    def _one_way(self) -> ScaleSpec:
        if (self.mean_times is None) == (self.sum_divided_by is None):
            raise ValueError("a scale is either mean_times or sum_divided_by")
        return self


class JudgeSpec(StrictModel):
    """A rubric with the model that applies it; without a model, the packaged rules judge applies it."""

    former_keys: ClassVar[dict[str, str]] = {"reduce": "panel_reducer", "note": "task_instruction"}

    rubric: str
    """Name of a packaged rubric, or a path that ends in .yaml."""
    backend: str | None = None
    panel: list[str] = []
    """Names of several backends (a panel) instead of one ``backend``; each of them judges every answer."""
    panel_reducer: Literal["mean", "median", "majority"] = "median"
    """How the levels that the backends of a panel give are combined into one value."""
    quorum: Annotated[int, Field(ge=1)] | None = None
    """Number of backends of a panel that must give a level; default: more than half."""
    judge: str | None = None
    """``rubric`` (a model judges; default with a backend), ``rules`` (default without a backend), or the name
    of a plug-in."""
    name: Name | None = None
    """First part of the score names; default: name of the rubric."""
    language: Language = "zh"
    level_from: LevelFrom = "holistic"
    """Source of the level: the overall level, or the minimum or lower median of the criteria."""
    task_instruction: EitherText | None = None
    """Instruction of this task to the judge, in addition to the rubric."""
    options: dict[str, Any] = {}

    @property
    def plugin(self) -> str:
        """Name of the judge plug-in."""
        return self.judge or ("rubric" if self.backend_names else "rules")

    @property
    def backend_names(self) -> list[str]:
        """Names of the backends whose models judge by the rubric; empty without a model."""
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
    """Prompt of a model under test: Jinja2 templates, or paths of template files that end in ``.j2``."""

    system: str | None = None
    user: str = "{{ input }}"
    params: dict[str, Any] = {}


class TaskSpec(StrictModel):
    """Samples with the scorers and judges of their answers."""

    former_keys: ClassVar[dict[str, str]] = {"reduce": "repeat_reducer"}

    name: Name
    samples: Path
    columns: dict[str, str] = {}
    prompt: PromptSpec | None = None
    repeats: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of answers to generate for each sample."""
    repeat_reducer: Reducer = "mean"
    """How the values of several answers to the same prompt are combined into one value."""
    scorers: list[ScorerSpec] = []
    rules: list[RuleSpec] = []
    """Rules that need no model: each rule has a score of its own, and may limit the level that a judge gives
    an answer (a cap)."""
    judges: list[JudgeSpec] = []
    scale: ScaleSpec | None = None
    """How a judge's values are combined into the published score of the task; None for no such score."""

    @model_validator(mode="after")
    def _has_scorers(self) -> TaskSpec:
        if not self.scorers and not self.judges:
            raise ValueError(f"task {self.name!r} has neither scorers nor judges")
        if (self.rules or self.scale) and not self.judges:
            raise ValueError(f"task {self.name!r} has rules or a scale, but no judges")
        for name in (names := [rule.name for rule in self.rules]):
            if names.count(name) > 1:
                raise ValueError(f"rule {name!r} is named twice")
        return self


class CheckpointSpec(StrictModel):
    """A checkpoint of the model under test: stored answers, or a backend that generates them."""

    name: Name
    step: Annotated[FiniteFloat, AfterValidator(without_fraction)] | None = None
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
    """Price of a million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None


class BackendSpec(StrictModel):
    """A model behind an API; it names the environment variable of the API key, never the key."""

    provider: str
    model: str = ""
    factory: str | None = None
    """For langchain: ``package.module:function`` of a function that returns a chat model."""
    file: Path | None = None
    """For replay: file of recorded replies."""
    base_url: str | None = None
    api_key_env: str | None = None
    """Environment variable of the API key; None for the variable that the backend usually reads."""
    params: dict[str, Any] = {}
    options: dict[str, Any] = {}
    timeout: Annotated[float, Field(gt=0)] = 120.0
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    """Maximum number of retries of a call that failed with a temporary error."""
    give_up_after: Annotated[float, Field(ge=0)] = 60.0
    """Seconds after which an endpoint is given up if all its calls fail; until then, calls wait."""
    rpm: Annotated[float, Field(gt=0)] | None = None
    """Maximum number of calls per minute that the endpoint allows."""
    tpm: Annotated[float, Field(gt=0)] | None = None
    """Maximum number of tokens per minute that the endpoint allows; the tokens of a call are estimated."""
    price: PriceSpec | None = None

    @model_validator(mode="before")
    @classmethod
    def _known_endpoint(cls, data: Any) -> Any:
        return with_endpoint(data) if isinstance(data, dict) else data

    @field_validator("options")
    @classmethod
    def _no_keys_of_the_backend(cls, options: dict[str, Any]) -> dict[str, Any]:
        if name := next(iter(options.keys() & cls.model_fields), None):  # else trust would not be asked
            raise ValueError(f"{name} is a key of the backend; write it beside options, not in it")
        return options


class Plan(StrictModel):
    """A checked plan. Its paths are absolute, and its checkpoints are in the order of training."""

    name: Name
    tasks: Annotated[list[TaskSpec], Field(min_length=1)]
    checkpoints: Annotated[list[CheckpointSpec], Field(min_length=1)]
    backends: dict[str, BackendSpec] = {}
    labels: Path | None = None
    anchors: Path | None = None
    gates: list[GateSpec] = []
    """Conditions that ``hengwen gate`` checks."""
    ship: ShipSpec | None = None
    """What counts when a report says which checkpoint to ship."""
    ranges: dict[str, tuple[FiniteFloat, FiniteFloat]] = {}
    """For the address of a score, its lowest and highest plausible value; intervals reach no further."""
    log: list[LogSpec] = []
    """Tools that get the headline scores after a run."""
    rewards: list[str] = []
    """Addresses of the scores that the model was trained on; reports mark them."""
    seed: int = 0
    language: Language | None = None
    """Language of reports and of the label form; None for the language of the locale."""
    _file: YamlFile | None = PrivateAttr(None)

    @property
    def file(self) -> YamlFile | None:
        """File of the plan, with the line of each value; None for a plan that was built in Python."""
        return self._file

    @property
    def margins(self) -> dict[str, float]:
        """For the address of a score, how much worse than the best seen a checkpoint to ship may be."""
        return self.ship.not_worse if self.ship else {}

    @property
    def used_backends(self) -> dict[str, BackendSpec]:
        """The backends that a judge or a checkpoint uses."""
        used = {name for task in self.tasks for judge in task.judges for name in judge.backend_names}
        used |= {checkpoint.backend for checkpoint in self.checkpoints if checkpoint.backend}
        return {name: spec for name, spec in self.backends.items() if name in used}


def load_plan(path: str | Path) -> Plan:
    """Read and check a plan.

    Args:
        path: A YAML file; the paths in it are relative to its folder.

    Raises:
        ConfigError: The plan is wrong; the message names the file, the line and a solution.
    """
    file = load_yaml(Path(path))
    plan = parse_model(Plan, file)
    plan._file = file
    _check_names(plan, file)
    _check_references(plan, file)
    return _absolute(plan, file.path.resolve().parent)


def _check_names(plan: Plan, file: YamlFile) -> None:
    sections = {
        "tasks": [task.name for task in plan.tasks],
        "checkpoints": [checkpoint.name for checkpoint in plan.checkpoints],
    }
    for section, names in sections.items():
        locations: dict[str, str] = {}
        for index, name in enumerate(names):
            location = file.at((section, index, "name"))
            if name in locations:
                first = locations[name].rpartition(":")[2]
                raise ConfigError(
                    f"{location}: {section[:-1]} {name!r} is named twice, first on line {first}"
                )
            locations[name] = location


def _check_references(plan: Plan, file: YamlFile) -> None:
    references: list[tuple[str, Location]] = []
    for number, task in enumerate(plan.tasks):
        for index, judge in enumerate(task.judges):
            location: Location = ("tasks", number, "judges", index)
            key = "panel" if judge.panel else "backend"
            references += [(name, (*location, key)) for name in judge.backend_names]
            if not judge.backend_names and judge.plugin == "rubric":
                raise ConfigError(
                    f"{file.at(location)}: judge 'rubric' needs a backend: name one of backends:"
                )
    for number, checkpoint in enumerate(plan.checkpoints):
        if checkpoint.backend is not None:
            references.append((checkpoint.backend, ("checkpoints", number, "backend")))
    for name, location in references:
        if name not in plan.backends:
            hint = did_you_mean(name, plan.backends) or "; the plan has no backends"
            raise ConfigError(f"{file.at(location)}: unknown backend {name!r}{hint}")


def _absolute(plan: Plan, folder: Path) -> Plan:
    def absolute(path: Path | None) -> Path | None:
        return None if path is None else folder / path

    def prompt(spec: PromptSpec | None, section: str, index: int) -> PromptSpec | None:
        if spec is None:
            return None
        texts = {}
        for key in ("system", "user"):
            with located(plan, section, index, "prompt", key):
                texts[key] = _template(getattr(spec, key), folder)
        return spec.model_copy(update=texts)

    def judge(spec: JudgeSpec) -> JudgeSpec:
        is_file = spec.rubric.endswith((".yaml", ".yml"))
        return spec.model_copy(update={"rubric": str(folder / spec.rubric)}) if is_file else spec

    tasks = [
        task.model_copy(
            update={
                "samples": folder / task.samples,
                "prompt": prompt(task.prompt, "tasks", index),
                "scorers": [_absolute_scorer(spec, folder) for spec in task.scorers],
                "rules": [
                    spec.model_copy(update={"options": _absolute_options(spec.options, folder)})
                    for spec in task.rules
                ],
                "judges": [judge(spec) for spec in task.judges],
            }
        )
        for index, task in enumerate(plan.tasks)
    ]
    checkpoints = [
        item.model_copy(
            update={
                "responses": absolute(item.responses),
                "prompt": prompt(item.prompt, "checkpoints", index),
            }
        )
        for index, item in enumerate(plan.checkpoints)
    ]
    backends = {
        name: spec.model_copy(update={"file": absolute(spec.file)}) for name, spec in plan.backends.items()
    }
    update = {
        "tasks": tasks,
        "checkpoints": checkpoints,
        "backends": backends,
        "labels": absolute(plan.labels),
        "anchors": absolute(plan.anchors),
        "log": [spec.within(folder) for spec in plan.log],
    }
    return plan.model_copy(update=update)


def _absolute_scorer(spec: ScorerSpec, folder: Path) -> ScorerSpec:
    is_file = source_path(spec.name) is not None
    name = str(folder / spec.name) if is_file else spec.name
    return spec.model_copy(update={"name": name, "options": _absolute_options(spec.options, folder)})


def _absolute_options(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the options of a scorer or rule; the files of a corpus become absolute paths."""
    corpus: Any = options.get("corpus")
    if isinstance(corpus, str):
        corpus = str(folder / corpus)
    elif isinstance(corpus, list):
        corpus = [str(folder / path) if isinstance(path, str) else path for path in corpus]
    else:
        return options
    return {**options, "corpus": corpus}


def _template(value: str | None, folder: Path) -> str | None:
    if value is None or not value.endswith(".j2"):
        return value
    return read_text(folder / value)
