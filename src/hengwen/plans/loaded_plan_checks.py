"""Check a loaded plan for errors and warnings that the user must see before any call is paid for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.row_reader import DataRow
from hengwen.io.strict_yaml import Location
from hengwen.judges.trust.biases import same_family_warning
from hengwen.plans.datasets import ResponseSet, similar_id
from hengwen.plans.gates import check_addresses
from hengwen.plans.locations import locate, located
from hengwen.plans.plan import Plan, PromptSpec
from hengwen.prompts.render import check_template, is_template, render_persona
from hengwen.prompts.rubric import ONE_LANGUAGE
from hengwen.protocols import SampleValidator
from hengwen.records import Label, Sample, Scale
from hengwen.score_id import LABEL_ROLES, ScoreId

if TYPE_CHECKING:
    from hengwen.plans.suite import LoadedTask


def check_score_names(plan: Plan, index: int, scores: Mapping[Location, Iterable[ScoreId]]) -> None:
    """Check that each score of a task, each human label and each score of an anchor has its own address."""
    task = plan.tasks[index].name
    by_address: dict[str, tuple[ScoreId, Location]] = {}
    for location, given in scores.items():
        start = locate(plan, "tasks", index, *location)
        for score in given:
            if "/" in score.base:
                raise ConfigError(
                    f"{start}task {task!r} has a score {score.base!r}, but '/' separates the task from the "
                    "score in TASK/SCORE; give the score a name without '/'"
                )
            is_labelled = location[0] == "judges" and score.role == "answer"
            for item in (score, *(score.about(role) for role in LABEL_ROLES if is_labelled)):
                first, first_location = by_address.setdefault(item.address, (item, location))
                if (first, first_location) == (item, location):
                    continue
                line = locate(plan, "tasks", index, *first_location).removesuffix(": ").rpartition(":")[2]
                raise ConfigError(
                    f"{start}task {task!r} gives {item.name!r} twice{_other_meaning(first, item)}; set name: "
                    "on one of the scorers or judges, or remove a scorer that is already configured as a rule"
                    + (f" (first on line {line})" if line else "")
                )


def _other_meaning(first: ScoreId, second: ScoreId) -> str:
    """Return which of two scores with one name is of people or anchors; empty if neither or both are."""
    return "" if first.role == second.role else f" (once as {first.role}, once as {second.role})"


def check_gates(plan: Plan, tasks: Iterable[LoadedTask]) -> None:
    """Check that the gates (conditions on scores) of a plan name only scores of its tasks."""
    known = [
        score.address
        for task in tasks
        for scores in (
            task.scorer_scores,
            *(judge.all_scores(task.spec.name, task.spec.scale) for judge in task.panel),
        )
        for score in scores
    ]
    for index, spec in enumerate(plan.gates):
        try:
            check_addresses(spec.parsed, known, "the plan")
        except ConfigError as error:
            raise ConfigError(f"{locate(plan, 'gates', index)}{error}") from None


def check_ship(plan: Plan, tasks: Iterable[LoadedTask]) -> None:
    """Check that the margins of ``ship`` are for scores by which reports compare checkpoints."""
    tested = [score.address for task in tasks for score in task.tested_scores]
    for address in plan.margins:
        if address not in tested:
            hint = did_you_mean(address, tested)
            raise ConfigError(
                f"{locate(plan, 'ship', 'not_worse', address)}checkpoints are not compared by a score "
                f"{address!r}{hint}"
            )


def check_rewards(plan: Plan, tasks: Sequence[LoadedTask]) -> None:
    """Check that rewards are scores of single answers."""
    known = [address for task in tasks for address in task.scales]
    for index, address in enumerate(plan.rewards):
        if address not in known:
            raise ConfigError(
                f"{locate(plan, 'rewards', index)}no score of single answers is {address!r}"
                f"{did_you_mean(address, known)}"
            )


def check_ranges(plan: Plan, tasks: Sequence[LoadedTask]) -> None:
    """Check that the plausible ranges of a plan are ranges on the scales of its scores."""
    scales: dict[str, Scale | None] = {}
    for task in tasks:
        scales |= task.scales
    for address, (low, high) in plan.ranges.items():
        location = locate(plan, "ranges", address)
        if address not in scales:
            hint = did_you_mean(address, scales)
            raise ConfigError(f"{location}no score of single answers is {address!r}{hint}")
        if low >= high:
            raise ConfigError(f"{location}a range needs two ends, low below high, got {low:g} and {high:g}")
        scale = scales[address]
        if scale is not None and not scale.low <= low < high <= scale.high:
            raise ConfigError(
                f"{location}the range {low:g} to {high:g} is not within the scale of the score, "
                f"{scale.low:g} to {scale.high:g}"
            )


def sample_warnings(task: LoadedTask) -> list[str]:
    """Let scorers check each sample, and return their warnings; equal warnings are merged."""
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


def missing_answer_warnings(checkpoint: str, task: LoadedTask, answers: ResponseSet) -> list[str]:
    """Return warnings about samples without a stored answer, or whose repeat numbers have gaps."""
    missing = gaps = 0
    first_missing = first_gap = ""
    for name in task.samples.samples:
        repeats = {response.repeat for response in answers.for_sample(task.spec.name, name)}
        if not repeats:
            missing += 1
            first_missing = first_missing or name
            continue
        if max(repeats) > len(repeats):
            gaps += 1
            first_gap = first_gap or f"{name!r} with repeat {', '.join(map(str, sorted(repeats)))}"
    warnings = []
    samples = f"{len(task.samples.samples)} samples of task {task.spec.name!r}"
    if missing:
        warnings.append(
            f"checkpoint {checkpoint!r} has no answer to {missing} of {samples}, "
            f"first {first_missing!r}: counted as missing"
        )
    if gaps:
        warnings.append(
            f"checkpoint {checkpoint!r}: the repeats of {gaps} of {samples} do not start at 1 or have gaps, "
            f"first {first_gap}: only stored answers are evaluated"
        )
    return warnings


def repeat_warnings(plan: Plan, responses: Mapping[str, ResponseSet]) -> list[str]:
    """Return a warning for each task whose setting ``repeats`` has no effect."""
    is_stored = all(checkpoint.backend is None for checkpoint in plan.checkpoints)
    return [
        f"{locate(plan, 'tasks', index, 'repeats')}repeats: {task.repeats} of task {task.name!r} has no "
        "effect: it is for checkpoints with a backend, and no stored answer has a repeat above 1"
        for index, task in enumerate(plan.tasks)
        if task.repeats > 1 and is_stored and not _has_repeats(task.name, responses.values())
    ]


def _has_repeats(task: str, responses: Iterable[ResponseSet]) -> bool:
    return any(response.task == task and response.repeat > 1 for answers in responses for response in answers)


def scale_warnings(tasks: Iterable[LoadedTask]) -> list[str]:
    """Return a warning for each task whose published score is a sum with a maximum other than 10."""
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


def rubric_warnings(plan: Plan, tasks: Iterable[LoadedTask]) -> list[str]:
    """Return a warning for each rubric that exists in one language only."""
    warnings: dict[str, str] = {}
    for index, task in enumerate(tasks):
        for number, judge in enumerate(task.panel):
            if judge.rubric.is_in_one_language:
                line = locate(plan, "tasks", index, "judges", number, "rubric")
                warnings.setdefault(judge.spec.rubric, f"{line}{ONE_LANGUAGE.format(judge.rubric.name)}")
    return list(warnings.values())


def same_family_warnings(plan: Plan) -> list[str]:
    """Return a warning for each judge with a model of the same vendor as a model under test."""
    judges = sorted({name for task in plan.tasks for judge in task.judges for name in judge.backend_names})
    targets = [checkpoint.backend for checkpoint in plan.checkpoints if checkpoint.backend]
    models = {name: spec.model for name, spec in plan.backends.items()}
    warnings = [same_family_warning(models[judge], models[target]) for judge in judges for target in targets]
    return [warning for warning in dict.fromkeys(warnings) if warning]


def step_warnings(plan: Plan) -> list[str]:
    """Return a warning for each checkpoint whose step is not above the step of the checkpoint before it."""
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
    """Render every prompt and persona of a run once, so that template errors are raised before any call."""
    _check_syntax(plan)
    own_prompts: dict[Location, PromptSpec | None] = {
        ("checkpoints", index, "prompt"): checkpoint.prompt
        for index, checkpoint in enumerate(plan.checkpoints)
        if checkpoint.backend is not None
    }
    for index, task in enumerate(tasks):
        templates: dict[Location, str] = {}
        if task.has_persona_template:
            templates["tasks", index, "prompt", "system"] = task.persona
        for location, prompt in own_prompts.items():
            start: Location = location if prompt else ("tasks", index, "prompt")
            spec = prompt or task.spec.prompt or PromptSpec()
            templates |= {(*start, "system"): spec.system or "", (*start, "user"): spec.user}
        for location, template in templates.items():
            with located(plan, *location, title=_template_title(plan, location)):
                for sample in task.samples.samples.values() if is_template(template) else ():
                    render_persona(template, sample)


def _check_syntax(plan: Plan) -> None:
    """Check the syntax of all prompt templates, even of prompts that this run does not use."""
    prompts: list[tuple[Location, PromptSpec | None]] = [
        *((("tasks", index, "prompt"), task.prompt) for index, task in enumerate(plan.tasks)),
        *((("checkpoints", index, "prompt"), item.prompt) for index, item in enumerate(plan.checkpoints)),
    ]
    for start, prompt in prompts:
        for key in ("system", "user") if prompt else ():
            location: Location = (*start, key)
            with located(plan, *location, title=_template_title(plan, location)):
                check_template(getattr(prompt, key) or "")


def _template_title(plan: Plan, location: Location) -> str:
    """Return the name of a prompt template: its file name, or its key in the plan such as ``prompt.user``."""
    value = plan.file.value(location) if plan.file else None
    return value if isinstance(value, str) and value.endswith(".j2") else ".".join(map(str, location[-2:]))


def check_label(row: DataRow, label: Label, tasks: Sequence[LoadedTask], *, frozen: bool = False) -> None:
    """Check that a label or an anchor fits the tasks of the plan."""
    by_name = {task.spec.name: task for task in tasks}
    task = by_name.get(label.task)
    if task is None:
        row.fail(f"unknown task {label.task!r}{did_you_mean(label.task, by_name)}")
    if not frozen and label.id not in task.samples.samples:
        hint = similar_id(label.id, task.samples.samples)
        row.fail(f"task {label.task!r} has no sample {label.id!r}{hint}")
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
    """Render the persona for an anchor (a frozen answer), so that errors in the template are raised."""
    sample = Sample(id=label.id, input=label.input, references=label.references, metadata=label.metadata)
    try:
        render_persona(task.persona, sample)
    except ConfigError as error:
        row.fail(f"anchor: {error}")
