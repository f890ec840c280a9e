"""The plan of a persona suite, with comments for whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hengwen.personas.yaml_text import single_line, yaml_flow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hengwen.personas.tasks import PersonaTask
    from hengwen.prompts.language import Language

    Say = Callable[[str, str], str]

SUBJECT = """\
checkpoints: # in the order of training
  - {name: my-model, backend: subject} # asked by this run
  # - {name: step-1000, step: 1000, responses: step-1000.jsonl} # stored answers: task, id, repeat, output
backends:
  subject: # your model, behind an OpenAI-compatible server (vLLM, llama.cpp, Ollama, ...)
    {provider: openai, model: my-model, base_url: "http://127.0.0.1:8000/v1", api_key_env: SUBJECT_API_KEY}
"""
"""Checkpoints of a suite that has no answers yet; the judge's backend may follow."""
JUDGE = "judge: {provider: openai, model: gpt-4o-mini, params: {temperature: 0}}"

_RULES = {
    "broken": "an answer that is empty or broken off in thought: 0",
    "near_duplicate": "an answer that repeats an earlier one to the prompt: 0; the first keeps its score",
    "target_copy": "the reference word for word, but for particles: 0.5 at most",
    "plain_text": "labels, headings, markup: 0.5 at most",
    "number": "a wrong number where one is right: 0.25 at most",
    "leakage": "an answer that stands in the training data: 0.5 at most, a near copy 0.75",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task of the protocol as it goes into one plan."""

    task: PersonaTask
    samples: str
    """The file of its samples."""
    count: int
    """How many there are; with none the task is written as a comment."""
    rubric: str
    """A packaged rubric, or a file beside the plan."""
    params: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    """Where the params come from."""
    has_number: bool = False
    """Whether a sample has a number to be checked."""
    corpus: str | None = None
    """The training data, as a path from the plan."""
    backend: str | None = None
    """Who reads the rubric; the rules judge where nobody is named."""
    language: Language = "zh"
    """Of the judge's prompt."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the judge."""
    absent: str = ""
    """Why there are no samples, and what to do."""


def plan_text(*, name: str, head: Sequence[str], tasks: Sequence[PlannedTask], tail: str) -> str:
    """Return a plan.

    Args:
        name: Of the plan.
        head: Comment lines at its top.
        tasks: In the order of the plan; those without samples become comments.
        tail: What follows the tasks: checkpoints, backends, labels; YAML with its comments.
    """
    lines = [f"# {single_line(line)}".rstrip() for line in head]
    lines += [f"name: {yaml_flow(name)}", "tasks:"]
    said: set[str] = set()

    def say(text: str, comment: str) -> str:
        """A line with a comment, which stands where it is needed first and not again."""
        if comment in said:
            return text
        said.add(comment)
        return f"{text} # {comment}"

    for task in tasks:
        found = _task(task, say)
        lines += found if task.count else _commented(task, found)
    return "\n".join(lines) + "\n" + tail


def _commented(task: PlannedTask, lines: Sequence[str]) -> list[str]:
    return [f"  # {task.task.name} is left out: {task.absent}", *(f"  # {line[2:]}" for line in lines)]


def _task(task: PlannedTask, say: Say) -> list[str]:
    one = task.task
    count = f"; {task.count} prompts" if task.count else ""
    system = f"      system: {one.name}.md.j2"
    key, number = one.scale
    how = {"mean_times": "mean of the prompts x", "sum_divided_by": "sum of all answers divided by"}[key]
    return [
        f"  - name: {one.name} # {one.about}{count}",
        f"    samples: {task.samples}",
        "    prompt:",
        say(system, "how the model is asked; judges are shown it as the persona"),
        *_params(task, say),
        f"    repeats: {one.repeats}",
        say(
            "    rules:", "deterministic: scores of their own, evidence for the judge, and caps (NAME.final)"
        ),
        *_rules(task, say),
        "    judges:",
        f"      - rubric: {task.rubric}",
        *_judge(task, say),
        say(f"    scale: {{{key}: {number:g}}}", f"the published score: {how} {number:g}"),
    ]


def _params(task: PlannedTask, say: Say) -> list[str]:
    preset = f"sampling preset {task.preset}"
    if task.params:
        seeds = "seed: 0 gives the repeats the seeds 0, 1, 2 ..., where the server takes one"
        return [say(f"      params: {yaml_flow(dict(task.params))}", f"{preset}; {seeds}")]
    return [f"      # {preset}: nothing is set, the endpoint's own defaults count"] if task.preset else []


def _rules(task: PlannedTask, say: Say) -> list[str]:
    names = [*task.task.rules, *(["number"] if task.has_number else [])]
    lines = [say(f"      - {name}", _RULES[name]) for name in names]
    if task.corpus is None:
        return [*lines, say("      # - leakage: {corpus: train.jsonl}", _RULES["leakage"])]
    return [*lines, say(f"      - leakage: {yaml_flow({'corpus': task.corpus})}", _RULES["leakage"])]


def _judge(task: PlannedTask, say: Say) -> list[str]:
    lines = [] if task.language == "zh" else [f"        language: {task.language}"]
    if task.task.note:
        zh, en = task.task.note
        lines.append(f"        note: {yaml_flow({'zh': zh, 'en': en})}")
    if task.backend:
        lines.append(f"        backend: {yaml_flow(task.backend)}")
        lines.append(
            say("        # level_from: min_aspect", "or median_aspect, in the place of the whole verdict")
        )
    else:
        instead = "; then take out options:" if task.options else ""
        lines.append(
            say("        # backend: judge", f"a model reads it: uncomment this, and the judge below{instead}")
        )
    if task.options:
        lines.append(
            say("        options:", "for the rules judge, a baseline without a model and without cost")
        )
        lines += [f"          {key}: {yaml_flow(value)}" for key, value in task.options.items()]
    return lines
