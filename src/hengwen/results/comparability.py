"""Decide whether scores of two runs are comparable, by the data and settings behind the scores.

A series is one score in one run. The signature of a series describes the settings of the scorer; its
comparability key describes the data: prompts, references, number of repeats, endpoint and package versions.
Scores of two runs are compared only if their signatures and their comparability keys are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hengwen.records import Run, digest
from hengwen.score_id import LEVEL, ScoreId

if TYPE_CHECKING:
    from hengwen.results.score_table import Column, ScoreTable, SeriesKey


HASH_LENGTH = 12
"""Number of hexadecimal digits of a hash in a comparability key."""
MIN_SHARE = 0.05
"""Least share of the scores from which a model, a reply format or a method is part of the key."""
MAX_LABELS = 4
"""Maximum number of runs that a message about different settings names."""
PROVENANCE = ("model", "form", "method")
"""Details of a judge's score that are part of the key: the model that the server named, the format of the
reply, and the method that computed the expected score."""


class Difference(NamedTuple):
    """A part of the comparability key (such as ``repeats``) that differs between two series."""

    part: str
    this: str
    that: str


@dataclass(frozen=True, slots=True)
class ComparabilityKey:
    """Description of the data behind a series (one score in one run); comparable series have equal keys."""

    parts: Mapping[str, str] = field(default_factory=dict)
    """A text for each part of the data, such as a hash for ``samples``, or the URL for ``endpoint``."""

    @property
    def is_known(self) -> bool:
        """Whether the run recorded the facts (data and settings) from which the key is computed."""
        return "run" not in self.parts

    @property
    def digest(self) -> str:
        """The sha256 of all parts."""
        return digest(dict(self.parts))

    def differences(self, other: ComparabilityKey) -> list[Difference]:
        """Return the parts that differ between two keys; an empty list if one of the keys is unknown."""
        if not (self.is_known and other.is_known):
            return []
        parts = dict.fromkeys((*self.parts, *other.parts))
        values = (
            Difference(part, self.parts.get(part, "none"), other.parts.get(part, "none")) for part in parts
        )
        return [difference for difference in values if difference.this != difference.that]


UNKNOWN = ComparabilityKey({"run": "unknown"})
"""Key of a series whose run, of an older version of Hengwen, recorded no facts about its data."""
UNSCORED = ComparabilityKey({"run": "nothing scored"})
"""Comparability key of a series (one score in one run) that has only failures."""


def provenance_of(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (part, value) for model, format and method of a judge's score, for each judge of a panel."""
    for part in PROVENANCE:
        value = details.get(part)
        if isinstance(value, str):
            if value:
                yield part, value
        elif isinstance(value, list):
            for item in dict.fromkeys(value):
                yield part, str(item)


def comparability_of(series: SeriesKey, table: ScoreTable, facts: Mapping[str, Any]) -> ComparabilityKey:
    """Return the comparability key of a series: a description of the data behind one score in one run."""
    column = table.series[series]
    task = facts.get("tasks", {}).get(series.task)
    if task is None:
        return UNKNOWN
    if not column.has_scores:
        return UNSCORED
    score = series.score
    parts = {"anchors": task["anchors"]} if score.is_anchor else _sample_parts(series, column, task)
    if series.kind == "scorer":
        parts |= facts["versions"]
    elif series.kind == "judge":
        parts |= _judge_parts(score, task["judges"].get(score.evaluator, {}), facts["versions"])
        parts |= provenance_parts(_verdict_column(series, table))
    return ComparabilityKey(
        {part: value[:HASH_LENGTH] if part in _HASHES else value for part, value in parts.items()}
    )


_HASHES = ("samples", "references", "anchors")


def _sample_parts(series: SeriesKey, column: Column, task: Mapping[str, Any]) -> dict[str, str]:
    parts = {"samples": task["samples"]}
    if series.kind != "human":
        parts["references"] = task["references"]
    parts |= {"repeats": task["repeats"], "reducer": task["reducer"]}
    if column.composed_of is not None:
        answers, prompts = column.composed_of
        parts["set size"] = f"{answers} answers to {prompts} prompts"
    elif column.is_group_score:
        parts["set size"] = f"{task['samples_taken']} prompts, repeats {task['repeats']}"
    elif None in column.repeats:
        parts["set size"] = task["repeats"]
    return parts


def _judge_parts(score: ScoreId, judge: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of the comparability key for a judge's score: its endpoint, and package versions."""
    endpoints = judge.get("endpoints", [])
    parts = {"endpoint": " + ".join(endpoints)} if endpoints else {}
    if not endpoints or (judge.get("rules") and score.is_derived):
        parts |= versions
    return parts


def _verdict_column(series: SeriesKey, table: ScoreTable) -> Column:
    """Return the column of the judge's level, from which its other scores are computed."""
    level = series._replace(score=series.score.with_part(LEVEL))
    return table.series.get(level, table.series[series])


def provenance_parts(column: Column) -> dict[str, str]:
    """Return the models, formats and methods that gave at least ``MIN_SHARE`` of a column's scores."""
    scored = column.codes.count(0)
    values: dict[str, list[str]] = {}
    for (part, value), count in sorted(column.provenance.items()):
        if count >= MIN_SHARE * scored:
            values.setdefault(part, []).append(value)
    return {part: " + ".join(values[part]) for part in PROVENANCE if part in values}


def comparability_conflict(labels: Sequence[str], keys: Sequence[ComparabilityKey | None]) -> str:
    """Return a sentence that says in which parts the comparability keys of runs differ; empty if in none."""
    first_of: dict[str, tuple[str, ComparabilityKey]] = {}
    for label, key in zip(labels, keys, strict=True):
        if key is not None and key.is_known:
            first_of.setdefault(key.digest, (label, key))
    if len(first_of) < 2:
        return ""
    (first_label, first), *others = first_of.values()
    parts = dict.fromkeys(item.part for _, other in others for item in first.differences(other))
    names = [first_label, *(label for label, _ in others)]
    if len(names) > MAX_LABELS:
        names = [*names[: MAX_LABELS - 1], f"{len(names) - MAX_LABELS + 1} more"]
    return f"{', '.join(names[:-1])} and {names[-1]} differ in {', '.join(parts)}"


def distinct_parts(signatures: Sequence[str]) -> list[str]:
    """Return the signatures without their common parts."""
    shared = set.intersection(*(set(signature.split("|")) for signature in signatures))
    parts = ["|".join(p for p in signature.split("|") if p not in shared) for signature in signatures]
    return parts if all(parts) else list(signatures)


def names_text(names: Sequence[str], rest_text: str = " and {} more") -> str:
    """Return the first ``MAX_LABELS`` names, and how many more there are."""
    rest = len(names) - MAX_LABELS
    return ", ".join(names) if rest <= 0 else ", ".join(names[:MAX_LABELS]) + rest_text.format(rest)


def same_prompts(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Split runs into those with the same tasks and prompts as the first run, and all other runs."""
    prompts = next((run.facts["prompts"] for run in runs if run.facts), None)
    same = [run for run in runs if not run.facts or run.facts["prompts"] == prompts]
    return same, [run for run in runs if run.facts and run.facts["prompts"] != prompts]


class RunOrder(NamedTuple):
    """Sorted runs; if their training order is not known, also the reason why."""

    runs: tuple[Run, ...]
    problem: str = ""
    """Reason why the training order is not known, so that trends cannot be reported; empty if it is known."""


def training_order(runs: Sequence[Run]) -> RunOrder:
    """Sort runs by (step, position in the plan, start), and say whether that is the order of training."""
    ordered = sorted(runs, key=_key)
    steps = [run.step for run in ordered]
    if None not in steps and len(set(steps)) == len(steps):
        return RunOrder(tuple(ordered))
    if _from_one_list(runs):
        by_place = sorted(runs, key=lambda run: run.order)
        known_steps = [run.step for run in by_place if run.step is not None]
        if known_steps == sorted(known_steps):
            return RunOrder(tuple(by_place))
    if len(ordered) < 2:
        return RunOrder(tuple(ordered))
    unclear = [run.checkpoint for run in ordered if run.step is None or steps.count(run.step) > 1]
    return RunOrder(tuple(ordered), f"the order of {', '.join(unclear)} is not known")


def run_labels(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the name of each run's checkpoint, with the run id if several runs have that checkpoint."""
    names = [run.checkpoint for run in runs]
    return tuple(
        run.checkpoint if names.count(run.checkpoint) == 1 else f"{run.checkpoint} ({run.id})" for run in runs
    )


def _key(run: Run) -> tuple[bool, float, int, str]:
    return (run.step is None, run.step or 0, run.order, run.started)


def _from_one_list(runs: Sequence[Run]) -> bool:
    """Return whether all runs come from one list of checkpoints and have different positions in the list."""
    lists = {run.facts.get("sequence", "") for run in runs}
    return len(lists) <= 1 and len({run.order for run in runs}) == len(runs)
