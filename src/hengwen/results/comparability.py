"""``ComparabilityKey``: what the sample of answers behind a series is.

The signature says what the scorer is. Two series with equal signatures still differ in their numbers where
the prompts, the references, the number of repeats, the endpoint or the version of a package differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.records import Run
    from hengwen.results.score_table import Column, ScoreTable, SeriesKey

HASH_LENGTH = 12
"""Hexadecimal digits of a hash in a key."""
MIN_SHARE = 0.05
"""Share of the scores from which on a model, a form or a method is part of the key."""
MAX_LABELS = 4
"""Labels that a conflict names."""
PROVENANCE = ("model", "form", "method")
"""Details of a judge's score that say what gave it: the model as the server returned it, the structured form
of the reply, and the way to the expected score."""


class Difference(NamedTuple):
    """A part in which two keys differ."""

    part: str
    this: str
    that: str


@dataclass(frozen=True, slots=True)
class ComparabilityKey:
    """What the sample of answers behind a series is; equal keys and signatures make series comparable.

    Examples:
        >>> first = ComparabilityKey({"samples": "1f", "repeats": "3"})
        >>> first.differences(ComparabilityKey({"samples": "1f", "repeats": "5"}))
        [Difference(part='repeats', this='3', that='5')]
        >>> first.differences(UNKNOWN)
        []
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    """Values by part, such as ``samples``, ``references``, ``repeats`` or ``endpoint``."""

    @property
    def is_known(self) -> bool:
        """Whether the key can be compared."""
        return "run" not in self.parts

    @property
    def digest(self) -> str:
        """The sha256 of all parts."""
        return digest(dict(self.parts))

    def differences(self, other: ComparabilityKey) -> list[Difference]:
        """Return the parts in which two keys differ; none if one of them is unknown.

        Args:
            other: Key of another series.
        """
        if not (self.is_known and other.is_known):
            return []
        parts = dict.fromkeys((*self.parts, *other.parts))
        values = (
            Difference(part, self.parts.get(part, "none"), other.parts.get(part, "none")) for part in parts
        )
        return [difference for difference in values if difference.this != difference.that]


UNKNOWN = ComparabilityKey({"run": "unknown"})
"""Key of a series of a run without facts: an older version of Hengwen wrote it."""
UNSCORED = ComparabilityKey({"run": "nothing scored"})
"""Key of a series without a score."""


def provenance_of(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what gave a judge's score, from its details; a panel has a list of values, one for each member.

    Examples:
        >>> list(provenance_of({"label": "A", "model": "gpt", "method": "logprobs"}))
        [('model', 'gpt'), ('method', 'logprobs')]
        >>> list(provenance_of({"model": ["gpt", "glm"]}))
        [('model', 'gpt'), ('model', 'glm')]
    """
    for part in PROVENANCE:
        value = details.get(part)
        if isinstance(value, str):
            if value:
                yield part, value
        elif isinstance(value, list):
            for item in dict.fromkeys(value):
                yield part, str(item)


def comparability_of(series: SeriesKey, table: ScoreTable, facts: Mapping[str, Any]) -> ComparabilityKey:
    """Return the key of a series.

    Args:
        series: Key of a series of the table.
        table: The outcomes.
        facts: ``Run.facts`` of the series' run.
    """
    column = table.series[series]
    task = facts.get("tasks", {}).get(series.task)
    if task is None:
        return UNKNOWN
    if "ok" not in column.statuses:
        return UNSCORED
    base = series.name.removeprefix("human.")
    is_anchor = base.startswith("anchor.")
    parts = {"anchors": task["anchors"]} if is_anchor else _sample_parts(series, column, task)
    if series.kind == "scorer":
        parts |= facts["versions"]
    elif series.kind == "judge":
        base = base.removeprefix("anchor.")
        parts |= _judge_parts(base, task["judges"].get(base.partition(".")[0], {}), facts["versions"])
        parts |= _provenance_parts(_verdict_column(series, table))
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
    elif None in column.sample_ids:
        parts["set size"] = f"{task['samples_taken']} prompts, repeats {task['repeats']}"
    elif None in column.repeats:
        parts["set size"] = task["repeats"]
    return parts


def _judge_parts(name: str, judge: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, str]:
    """Return the endpoint of a judge; for scores that rules decide, the versions of the packages too."""
    endpoints = judge.get("endpoints", [])
    parts = {"endpoint": " + ".join(endpoints)} if endpoints else {}
    derived = name.partition(".")[2].startswith(("final", "published", "normalised"))
    if not endpoints or (judge.get("rules") and derived):
        parts |= versions
    return parts


def _verdict_column(series: SeriesKey, table: ScoreTable) -> Column:
    """Return the column with the verdicts that a judge's score derives from: that of its level."""
    prefix = "anchor." if series.name.startswith("anchor.") else ""
    judge = series.name.removeprefix("anchor.").partition(".")[0]
    level = series._replace(name=f"{prefix}{judge}.level")
    return table.series.get(level, table.series[series])


def _provenance_parts(column: Column) -> dict[str, str]:
    """Return what gave the scores of a column, without what gave fewer than ``MIN_SHARE`` of them."""
    scored = column.statuses.count("ok")
    values: dict[str, list[str]] = {}
    for (part, value), count in sorted(column.provenance.items()):
        if count >= MIN_SHARE * scored:
            values.setdefault(part, []).append(value)
    return {part: " + ".join(values[part]) for part in PROVENANCE if part in values}


def comparability_conflict(labels: Sequence[str], keys: Sequence[ComparabilityKey | None]) -> str:
    """Return which runs differ in which parts of their keys, or the empty string.

    Args:
        labels: One per run.
        keys: One per run; None where the run does not have the score. Unknown keys are left out.

    Examples:
        >>> first = ComparabilityKey({"references": "1f", "repeats": "3"})
        >>> second = ComparabilityKey({"references": "2e", "repeats": "5"})
        >>> comparability_conflict(["a", "b", "c"], [first, first, second])
        'a and c differ in references, repeats'
        >>> comparability_conflict(["a", "b"], [first, UNKNOWN])
        ''
    """
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


def same_prompts(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs that have the same tasks and prompts as the first run, and the others.

    A run without facts is taken to have the same ones, because nothing is known of it.

    Args:
        runs: Runs of plans with one name; folders with different plans may use one name and one store.

    Examples:
        >>> from hengwen.records import Run
        >>> runs = [
        ...     Run(id=name, plan="p", plan_hash="", checkpoint=name, facts={"prompts": name[0]})
        ...     for name in ("a1", "b1", "a2")
        ... ]
        >>> [[run.id for run in group] for group in same_prompts(runs)]
        [['a1', 'a2'], ['b1']]
    """
    prompts = next((run.facts["prompts"] for run in runs if run.facts), None)
    same = [run for run in runs if not run.facts or run.facts["prompts"] == prompts]
    return same, [run for run in runs if run.facts and run.facts["prompts"] != prompts]
