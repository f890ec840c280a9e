"""The tasks of a persona, and the plan that evaluates it, as YAML text that preserves every text exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import yaml

from hengwen.errors import ConfigError, did_you_mean
from hengwen.text.language import Language

if TYPE_CHECKING:
    Annotate = Callable[[str, str], str]
    """Function that appends a comment to a line unless an earlier line has the same comment."""


class _Dumper(yaml.SafeDumper):
    """YAML dumper that writes multi-line texts as blocks, indents lists, and uses no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    lines = value.split("\n")
    tidy = all(line.isprintable() and line == line.strip() for line in lines)
    style = "|" if len(lines) > 1 and tidy and lines[0] else None
    if style is None and ("\n" in value or not value.isprintable() or len(value) > 40):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def yaml_block(data: Any) -> str:
    """Return data as YAML with one key per line."""
    return yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=float("inf"))


def yaml_flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    text = yaml.dump(
        [_one_line(value)],
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=float("inf"),
        default_flow_style=True,
    )
    return text.strip()[1:-1]


def single_line(text: str) -> str:
    """Return a text as one line for a comment; unprintable characters become spaces."""
    return "".join(char if char.isprintable() else " " for char in text)


class _OneLine(str):
    """Text that the YAML dumper writes on one line, not as a block."""


def _one_line(value: Any) -> Any:
    if isinstance(value, str):
        return _OneLine(value)
    if isinstance(value, dict):
        return {_one_line(key): _one_line(item) for key, item in value.items()}
    return [_one_line(item) for item in value] if isinstance(value, list) else value


def _quoted(dumper: _Dumper, value: _OneLine) -> yaml.ScalarNode:
    style = None if value.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style=style)


_Dumper.add_representer(_OneLine, _quoted)


ScaleKey = Literal["mean_times", "sum_divided_by"]


_CHAT_RULES = ("broken", "near_duplicate", "target_copy", "plain_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaTask:
    """One task of the Muice protocol; the default values fit a chat task."""

    name: str
    about: str
    """Description for the reader of a plan."""
    rubric: str = "muice_live"
    repeats: int = 3
    rules: tuple[str, ...] = _CHAT_RULES
    """Names of the rules that may lower (cap) the judge's level, in the order of the plan."""
    scale: tuple[ScaleKey, float] = ("mean_times", 10)
    """Formula that computes the published score from the scores of all answers."""
    task_instruction: tuple[str, str] | None = None
    """Additional instruction to the judge, in Chinese and in English."""


_TASKS = (
    PersonaTask(
        name="new_topic",
        about="opens a conversation by itself, from a fixed topic prompt",
        rubric="muice_new_topic",
        repeats=5,
        rules=("broken", "near_duplicate", "plain_text"),
    ),
    PersonaTask(name="live", about="replies to a viewer of its live stream"),
    PersonaTask(name="emotion", about="listens to somebody with a trouble or a joy"),
    PersonaTask(
        name="comprehensive",
        about="all kinds of exchanges, each answered once and compared with its reference in style",
        repeats=1,
        rules=("broken", "target_copy", "plain_text"),
        scale=("sum_divided_by", 10),
        task_instruction=(
            "这项任务比较的是风格：看回答的口吻、性情、用词和分寸与参考回答相差多少，内容不同不算缺点。",
            "This task compares style: how far are tone, temper, choice of words and measure from "
            "those of the reference? Another content is no fault.",
        ),
    ),
)
TASKS: Mapping[str, PersonaTask] = MappingProxyType({task.name: task for task in _TASKS})
"""Tasks by name, in the order of the Muice protocol."""

PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "muice-llmtuner": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 1024},
        "muicebot": {"temperature": 0.75, "top_p": 0.95, "max_tokens": 4096, "top_k": 3},
        "provider-default": {},
    }
)
"""Sampling parameters of each preset. The published document of the Muice protocol names no values, only
"default parameters", which differ between programs."""
DEFAULT_PRESET = "muice-llmtuner"


def sampling(preset: str) -> dict[str, float]:
    """Return the sampling parameters of a preset; the preset ``provider-default`` has no parameters."""
    if preset not in PRESETS:
        raise ConfigError(f"unknown preset {preset!r}{did_you_mean(preset, PRESETS)}")
    return dict(PRESETS[preset])


SUBJECT_YAML = """\
checkpoints: # in the order of training
  - {name: my-model, backend: subject} # asked by this run
  # - {name: step-1000, step: 1000, responses: step-1000.jsonl} # stored answers: task, id, repeat, output
backends:
  subject: # your model, behind an OpenAI-compatible server (vLLM, llama.cpp, Ollama, ...)
    {provider: openai, model: my-model, base_url: "http://127.0.0.1:8000/v1", api_key_env: SUBJECT_API_KEY}
"""
"""YAML of checkpoints and backends for a plan without stored answers; the backend of a judge can be
appended."""
JUDGE_YAML = "judge: {provider: openai, model: gpt-4o-mini, params: {temperature: 0}}"

_RULES = {
    "broken": "an answer that is empty or broken off in thought: 0",
    "near_duplicate": "an answer that repeats an earlier one to the prompt: 0; the first keeps its score",
    "target_copy": "the reference word for word, particles aside: 0.5 at most",
    "plain_text": "labels, headings, markup: 0.5 at most",
    "number": "a wrong number where one is right: 0.25 at most",
    "leakage": "an answer that stands in the training data: 0.5 at most, a near copy 0.75",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task of the Muice protocol (evaluation of a persona chatbot), with its settings in one plan."""

    task: PersonaTask
    """The task as the Muice protocol (evaluation of a persona chatbot) defines it."""
    samples: str
    """File name of the samples."""
    count: int
    """Number of samples; if it is 0, the task is written as a comment."""
    rubric: str
    """Name of a packaged rubric, or of a rubric file in the plan's folder."""
    params: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    """Name of the preset that defines ``params``."""
    has_number: bool = False
    """Whether any sample has the correct number in its metadata. If so, the plan has the rule ``number``,
    which limits the level of answers with a wrong number."""
    corpus: str | None = None
    """Path of the training data, relative to the plan."""
    backend: str | None = None
    """Backend of the model that judges; None for the rules judge, which uses no model."""
    language: Language = "zh"
    options: Mapping[str, Any] = field(default_factory=dict)
    absence_reason: str = ""
    """Why the task has no samples, and how to add them."""


def plan_text(*, name: str, head: Sequence[str], tasks: Sequence[PlannedTask], tail: str) -> str:
    """Return the YAML text of a plan."""
    lines = [f"# {single_line(line)}".rstrip() for line in head]
    lines += [f"name: {yaml_flow(name)}", "tasks:"]
    comments: set[str] = set()

    def annotate(text: str, comment: str) -> str:
        if comment in comments:
            return text
        comments.add(comment)
        return f"{text} # {comment}"

    for task in tasks:
        task_lines = _task(task, annotate)
        lines += task_lines if task.count else _commented(task, task_lines)
    return "\n".join(lines) + "\n" + tail


def _commented(task: PlannedTask, lines: Sequence[str]) -> list[str]:
    return [
        f"  # {task.task.name} is left out: {task.absence_reason}",
        *(f"  # {line[2:]}" for line in lines),
    ]


def _task(task: PlannedTask, annotate: Annotate) -> list[str]:
    protocol = task.task
    count = f"; {task.count} prompts" if task.count else ""
    system = f"      system: {protocol.name}.md.j2"
    key, number = protocol.scale
    formula = {
        "mean_times": "mean of the prompts x",
        "sum_divided_by": "sum of the means of the prompts, divided by",
    }[key]
    return [
        f"  - name: {protocol.name} # {protocol.about}{count}",
        f"    samples: {task.samples}",
        "    prompt:",
        annotate(system, "how the model is asked; judges are shown it as the persona"),
        *_params(task, annotate),
        f"    repeats: {protocol.repeats}",
        annotate(
            "    rules:", "deterministic: scores of their own, evidence for the judge, and caps (NAME.final)"
        ),
        *_rules(task, annotate),
        "    judges:",
        f"      - rubric: {task.rubric}",
        *_judge(task, annotate),
        annotate(f"    scale: {{{key}: {number:g}}}", f"the published score: {formula} {number:g}"),
    ]


def _params(task: PlannedTask, annotate: Annotate) -> list[str]:
    preset = f"sampling preset {task.preset}"
    if task.params:
        seeds = "seed: 0 gives the repeats the seeds 0, 1, 2 ..., where the server takes one"
        return [annotate(f"      params: {yaml_flow(dict(task.params))}", f"{preset}; {seeds}")]
    return [f"      # {preset}: nothing is set, the endpoint's own defaults count"] if task.preset else []


def _rules(task: PlannedTask, annotate: Annotate) -> list[str]:
    names = [*task.task.rules, *(["number"] if task.has_number else [])]
    lines = [annotate(f"      - {name}", _RULES[name]) for name in names]
    if task.corpus is None:
        return [*lines, annotate("      # - leakage: {corpus: train.jsonl}", _RULES["leakage"])]
    return [*lines, annotate(f"      - leakage: {yaml_flow({'corpus': task.corpus})}", _RULES["leakage"])]


def _judge(task: PlannedTask, annotate: Annotate) -> list[str]:
    lines = [] if task.language == "zh" else [f"        language: {task.language}"]
    if task.task.task_instruction:
        zh, en = task.task.task_instruction
        lines.append(f"        task_instruction: {yaml_flow({'zh': zh, 'en': en})}")
    if task.backend:
        lines.append(f"        backend: {yaml_flow(task.backend)}")
        lines.append(
            annotate(
                "        # level_from: min_aspect", "or median_aspect, in the place of the whole verdict"
            )
        )
    else:
        instead = "; then take out options:" if task.options else ""
        lines.append(
            annotate(
                "        # backend: judge", f"a model reads it: uncomment this, and the judge below{instead}"
            )
        )
    if task.options:
        lines.append(
            annotate("        options:", "for the rules judge, a baseline without a model and without cost")
        )
        lines += [f"          {key}: {yaml_flow(value)}" for key, value in task.options.items()]
    return lines
