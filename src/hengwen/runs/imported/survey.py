"""``Survey`` reads files of scores once: their checkpoints, tasks and prompts, without texts and values."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.records import Run, Sample, Score, digest
from hengwen.runs.imported.reading import ImportedScore, RunKey, ScoreFile
from hengwen.runs.task_scores import sample_hashes, usual_repeats
from hengwen.score_id import LEVEL, ScoreId

MAX_LISTED = 20
"""Maximum number of wrong rows, and of failures, that are listed with their lines."""


@dataclass(slots=True)
class Survey:
    """What the files have, without their texts and values."""

    files: list[ScoreFile]
    samples: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each task, the hash of the prompt of each sample."""
    answers: dict[tuple[RunKey, str], dict[str, int]] = field(default_factory=dict)
    """For each run and task, the number of answers to each sample."""
    order: dict[ScoreId, None] = field(default_factory=dict)
    judges: set[tuple[str, str]] = field(default_factory=set)
    steps: dict[str, list[float | None]] = field(default_factory=dict)
    statuses: dict[RunKey, Counter[str]] = field(default_factory=dict)
    raters: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    """File, line and reason of the first failures, and of labels of raters that are no value."""
    unlisted: int = 0
    """Number of further ones."""
    unlabelled: int = 0
    """Number of labels of raters that are no value."""
    labels: Counter[RunKey] = field(default_factory=Counter)
    """For each run, the number of values that raters gave."""
    _known_hashes: dict[str, dict[str, str]] = field(default_factory=dict)

    def read(self) -> None:
        """Read all rows once; the error of the first wrong row has those of the others as notes."""
        for file, item in self.scores():
            self._add(file, item)
        wrong = [error for file in self.files for error in file.wrong]
        if wrong:
            for error in wrong[1:MAX_LISTED]:
                wrong[0].add_note(str(error))
            if len(wrong) > MAX_LISTED:
                wrong[0].add_note(f"further wrong rows: {len(wrong) - MAX_LISTED}")
            raise wrong[0]

    def scores(self) -> Iterator[tuple[ScoreFile, ImportedScore]]:
        """Yield the scores of all files."""
        repeats: dict[tuple[object, ...], int] = {}
        for file in self.files:
            for item in file.scores(repeats):
                yield file, item

    def _add(self, file: ScoreFile, item: ImportedScore) -> None:
        score = item.score
        steps = self.steps.setdefault(item.run[0], [])
        if item.run[1] not in steps:
            steps.append(item.run[1])
        counts = self.statuses.setdefault(item.run, Counter())
        if item.failed and item.failed not in self.failed[-1:]:  # a verdict on a pair is two scores
            if len(self.failed) < MAX_LISTED:
                self.failed.append(item.failed)
            else:
                self.unlisted += 1
        if item.rater:
            self.raters.add(item.rater)
            self.unlabelled += not isinstance(item.outcome, Score)
            self.labels[item.run] += isinstance(item.outcome, Score)
        else:
            counts["ok" if isinstance(item.outcome, Score) else item.outcome.status] += 1
            self.order.setdefault(score)
            if item.outcome.kind == "judge":
                self.judges.add((score.task, score.evaluator))
        samples = self.samples.setdefault(score.task, {})
        if item.sample_id is None:
            return
        prompt = digest(item.prompt)[:16] if item.prompt else ""
        if samples.setdefault(item.sample_id, prompt) != prompt:
            raise DataError(f"{file.path}: two prompts have the id {item.sample_id!r} in task {score.task!r}")
        answers = self.answers.setdefault((item.run, score.task), {})
        answers[item.sample_id] = max(answers.get(item.sample_id, 0), item.repeat or 1)

    @property
    def has_courses(self) -> bool:
        """Whether a name stands for a model with several steps, not for a checkpoint."""
        return any(len(steps) > 1 for steps in self.steps.values())

    def runs(self, plan: str, checkpoints: Sequence[str], settings: str, source: str) -> dict[RunKey, Run]:
        """Return a new run for each checkpoint."""
        now = datetime.now(UTC)
        courses: dict[str, dict[str, RunKey]] = {}
        for key in self.statuses:
            courses.setdefault(self._plan(plan, key), {})[self.checkpoint(key)] = key
        runs: dict[RunKey, Run] = {}
        for name, course in courses.items():
            for position, label in enumerate(_in_order(course, checkpoints)):
                key = course[label]
                runs[key] = Run(
                    id=f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
                    plan=name,
                    plan_hash=digest(settings, name, label),
                    checkpoint=label,
                    order=position,
                    step=key[1],
                    started=now.isoformat(timespec="microseconds"),
                    score_order=tuple(score.address for score in self.order),
                    facts={
                        "sequence": digest(list(course)),
                        "position": position,
                        "prompts": self._prompts(),
                        "versions": {},
                        "imported": source,
                        "tasks": {task: self._task(key, task) for task in self.samples},
                    },
                )
        return runs

    def _plan(self, plan: str, key: RunKey) -> str:
        return f"{plan}:{key[0]}" if self.has_courses and len(self.steps) > 1 else plan

    def checkpoint(self, key: RunKey) -> str:
        """Return the name of the checkpoint of a run."""
        name, step = key
        if step is None or not (self.has_courses or not name):
            return name
        return f"{name}-{step:.12g}" if name and len(self.steps) == 1 else f"step-{step:.12g}"

    def _prompts(self) -> str:
        return digest(sorted((task, self._hashes(task)["prompts"]) for task in self.samples))

    def _hashes(self, task: str) -> dict[str, str]:
        if task not in self._known_hashes:
            samples = self.samples[task].items()
            hashes = sample_hashes([Sample(id=name, input=prompt) for name, prompt in samples])
            self._known_hashes[task] = hashes
        return self._known_hashes[task]

    def _task(self, key: RunKey, task: str) -> dict[str, object]:
        hashes, total = self._hashes(task), len(self.samples[task])
        counts = self.answers.get((key, task), {})
        return {
            "samples": hashes["samples"],
            "references": hashes["references"],
            "samples_total": total,
            "samples_taken": total,
            "repeats": usual_repeats(counts.values()),
            "reducer": "mean",
            "anchors": "",
            "judges": {
                judge: {"endpoints": ["imported"], "rules": False, "rubric": ""}
                for judged, judge in sorted(self.judges)
                if judged == task
            },
            "scorers": [],
        }

    def human_scores(self, score: ScoreId) -> list[ScoreId]:
        """Return the scores of judges to which a person's value belongs; by default, its own name."""
        own = score.about("answer")
        if own in self.order:
            return [score]
        same = [other for other in self.order if other.task == own.task and not own.evaluator]
        named = [other for other in same if other.part == own.part] or [
            other for other in same if other.part == LEVEL
        ]
        return [other.about("human") for other in named] or [score]


def _in_order(course: Mapping[str, RunKey], checkpoints: Sequence[str]) -> list[str]:
    for name in checkpoints:
        if name not in course:
            raise ConfigError(f"no checkpoint {name!r} in the files{did_you_mean(name, course)}")
    rank = {name: index for index, name in enumerate(checkpoints)}
    steps = {name: key[1] for name, key in course.items()}
    if not checkpoints and None not in steps.values():
        return sorted(course, key=lambda name: steps[name] or 0)
    return sorted(course, key=lambda name: rank.get(name, len(rank)))
