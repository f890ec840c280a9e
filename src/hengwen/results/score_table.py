"""Table of outcomes (scores and failures), with one column for each score of each run."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hengwen.records import STATUSES, Kind, Reducer, Row, Scale, Score
from hengwen.results.comparability import provenance_of
from hengwen.score_id import LABEL_ROLES, ScoreId

if TYPE_CHECKING:
    from numpy.typing import NDArray

AnswerId = tuple[str | None, int | None]
"""(sample id, repeat): identifies an answer within one task of a run."""
STATUS_NAMES = ("ok", *STATUSES)
STATUS_CODES = {status: code for code, status in enumerate(STATUS_NAMES)}
"""Code of each status in a column; 0 for a score."""
NOT_APPLICABLE = STATUS_CODES["not_applicable"]

MAX_MESSAGE = 1000
"""Maximum number of characters of a failure's message that a column keeps."""


class SeriesKey(NamedTuple):
    """Key of a series: all outcomes (scores and failures) of one score in one run."""

    run_id: str
    score: ScoreId
    kind: Kind

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.score.task

    @property
    def address(self) -> str:
        """Address of the score in plans and reports: ``TASK/SCORE``."""
        return self.score.address


class AnswerKeys:
    """Sample, repeat and cluster of each outcome of a series, as parallel lists.

    The columns of all scores that one scorer or judge gives share one object of this class.
    """

    __slots__ = ("_prompts", "clusters", "repeats", "sample_ids")

    def __init__(self) -> None:
        self.sample_ids: list[str | None] = []
        self.repeats: list[int | None] = []
        self.clusters: list[str] = []
        self._prompts: tuple[list[str | None], NDArray[np.intp]] = ([], np.empty(0, np.intp))

    def __len__(self) -> int:
        return len(self.sample_ids)

    def extend(
        self, sample_ids: Iterable[str | None], repeats: Iterable[int | None], clusters: Iterable[str]
    ) -> None:
        """Append the keys of several outcomes."""
        self.sample_ids += sample_ids
        self.repeats += repeats
        self.clusters += clusters

    def last(self, count: int) -> tuple[list[str | None], list[int | None], list[str]]:
        """Return the sample ids, repeats and clusters of the last outcomes."""
        start = len(self) - count
        return self.sample_ids[start:], self.repeats[start:], self.clusters[start:]

    @property
    def prompts(self) -> tuple[list[str | None], NDArray[np.intp]]:
        """The different sample ids in order of appearance, and the index of each outcome's sample id."""
        if len(self._prompts[1]) != len(self):
            codes: dict[str | None, int] = {}
            indexes = [codes.setdefault(sample, len(codes)) for sample in self.sample_ids]
            self._prompts = list(codes), np.array(indexes, np.intp)
        return self._prompts


@dataclass(slots=True, eq=False)
class Column:
    """Scores and failures (outcomes) of one series (one score in one run), as parallel arrays."""

    keys: AnswerKeys = field(default_factory=AnswerKeys)
    numbers: array[float] = field(default_factory=lambda: array("d"))
    """Value of each score; NaN for a failure."""
    codes: bytearray = field(default_factory=bytearray)
    """Status of each score or failure, as its code in ``STATUS_CODES``; 0 for a score."""
    first_messages: dict[str, str] = field(default_factory=dict)
    """For each status, the message of the first failure, cut to ``MAX_MESSAGE`` characters."""
    signatures: set[str] = field(default_factory=set)
    provenance: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of a judge's scores for each origin, such as (``model``, name that the server returned)."""
    judged_by_rules: bool = False
    """Whether a rules judge (fixed rules, no model) gave a score of this series."""
    scale: Scale | None = None
    plausible: tuple[float, float] | None = None
    """Lowest and highest plausible value, if the plan states them."""
    reducer: Reducer = "mean"
    """Name of the function that combines the values of a prompt's repeats."""
    interval: tuple[float, float] | None = None
    """Confidence interval of a score of a group of answers, from ``ci`` in the details of the score."""
    confidence: float | None = None
    """Confidence level of ``interval``, from ``level`` in the details of the score; None if the details have
    no level."""
    composed_of: tuple[int, int] | None = None
    """Numbers of answers and of prompts in a scored group of answers, from the details of the score."""
    sample_count: int | None = None
    """Number of samples of the task. It is None if it is unknown, and for human labels and anchors, because
    they cover other samples."""
    _shares_keys: bool = False
    """Whether other columns use the same ``keys``."""

    @classmethod
    def of(
        cls,
        values: Sequence[float | None],
        *,
        sample_ids: Sequence[str | None],
        repeats: Sequence[int | None] | None = None,
        clusters: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
        **fields: Any,
    ) -> Column:
        """Return a column with these outcomes."""
        column = cls(**fields)
        if statuses is None:
            statuses = ["missing" if value is None else "ok" for value in values]
        keys = sample_ids, repeats or [1] * len(values), clusters or [sample or "" for sample in sample_ids]
        column.keys.extend(*keys)
        column.codes.extend(STATUS_CODES[status] for status in statuses)
        column.numbers.extend(nan if value is None else value for value in values)
        if len({len(values), len(statuses), *map(len, keys)}) > 1:
            raise ValueError("the lists of a column differ in length")
        return column

    def with_values(self, values: Sequence[float | None]) -> Column:
        """Return this column with other values; the failures stay the same."""
        return replace(self, numbers=array("d", [nan if value is None else value for value in values]))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def has_scores(self) -> bool:
        """Whether any outcome is a score."""
        return 0 in self.codes

    @property
    def is_group_score(self) -> bool:
        """Whether the outcomes are of groups of answers."""
        return None in self.keys.prompts[0]

    @property
    def sample_ids(self) -> list[str | None]:
        """Id of the sample of each outcome; None for an outcome of a group of answers."""
        return self.keys.sample_ids

    @property
    def repeats(self) -> list[int | None]:
        """Number of the repeat (answer to the sample) of each outcome; None for a group of answers."""
        return self.keys.repeats

    @property
    def clusters(self) -> list[str]:
        """Cluster of the sample of each outcome."""
        return self.keys.clusters

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Whether each outcome is a score."""
        return np.asarray(np.frombuffer(self.codes, dtype=np.uint8) == 0)

    @property
    def array(self) -> NDArray[np.float64]:
        """The values as a float array, which shares its memory with the column; NaN for a failure."""
        return np.frombuffer(self.numbers, dtype=float)

    @property
    def values(self) -> list[float | None]:
        """The values as a new list; None for a failure."""
        if not any(self.codes):
            return [*self.numbers]
        return [None if code else value for value, code in zip(self.numbers, self.codes, strict=True)]

    @property
    def statuses(self) -> list[str]:
        """The statuses as a new list: ``ok`` for a score, or the status of the failure."""
        return [STATUS_NAMES[code] for code in self.codes]

    def rows(self) -> Iterable[tuple[str | None, int | None, str, str, float | None]]:
        """Return sample id, repeat, cluster, status and value of each outcome."""
        return zip(self.sample_ids, self.repeats, self.clusters, self.statuses, self.values, strict=True)

    def by_answer(self) -> dict[AnswerId, float]:
        """Return the values of the answers that have one."""
        keys = zip(self.sample_ids, self.repeats, strict=True)
        return {key: value for key, value in zip(keys, self.values, strict=True) if value is not None}

    @property
    def status_counts(self) -> Counter[str]:
        """Number of outcomes of each status."""
        counts = np.bincount(np.frombuffer(self.codes, dtype=np.uint8))
        return Counter({STATUS_NAMES[code]: int(count) for code, count in enumerate(counts) if count})

    def answers(self) -> Counter[str | None]:
        """Return the number of answers to each prompt to which the score applies, in order of appearance."""
        prompts, indexes = self.keys.prompts
        applies = np.frombuffer(self.codes, dtype=np.uint8) != NOT_APPLICABLE
        counts = np.bincount(indexes[applies], minlength=len(prompts)).tolist()
        return Counter({prompt: count for prompt, count in zip(prompts, counts, strict=True) if count})

    def append(
        self,
        sample_id: str | None,
        repeat: int | None,
        cluster: str,
        status: str,
        value: float | None,
        signature: str,
    ) -> None:
        """Append an outcome; its scale, details and message are recorded separately."""
        self._own_keys()
        self.keys.extend((sample_id,), (repeat,), (cluster,))
        self.codes.append(STATUS_CODES[status])
        self.numbers.append(nan if value is None else value)
        self.signatures.add(signature)

    def extend(
        self, keys: AnswerKeys, numbers: NDArray[np.float64], codes: NDArray[np.uint8], signature: str
    ) -> None:
        """Append several outcomes."""
        if not self.codes:
            self.keys, self._shares_keys = keys, True
        elif self.keys is not keys:
            self._own_keys()
            self.keys.extend(*keys.last(len(codes)))
        self.numbers.frombytes(np.ascontiguousarray(numbers).tobytes())
        self.codes += codes.tobytes()
        self.signatures.add(signature)

    def _own_keys(self) -> None:
        if self._shares_keys:
            keys = AnswerKeys()
            keys.extend(*self.keys.last(len(self.keys)))
            self.keys, self._shares_keys = keys, False

    def record_message(self, status: str, message: str) -> None:
        """Keep the message of a failure unless an earlier failure has the same status."""
        if message:
            self.first_messages.setdefault(status, message[:MAX_MESSAGE])

    def read_details(
        self, kind: Kind, details: Mapping[str, Any], *, is_group_score: bool, times: int = 1
    ) -> None:
        """Copy into this column the details of a score that describe its series."""
        if kind == "judge":
            for origin in provenance_of(details):
                self.provenance[origin] += times
            # only a rules judge has clauses; a model may be called "rules" too
            by_rules = details.get("model") == "rules" and "clauses" in details
            self.judged_by_rules = self.judged_by_rules or by_rules
        if not is_group_score:
            return
        interval = details.get("ci")
        if interval is not None:
            self.interval = (float(interval[0]), float(interval[1]))
            self.confidence = float(details["level"]) if "level" in details else None
        if "answers" in details and "prompts" in details:
            self.composed_of = (int(details["answers"]), int(details["prompts"]))


class ScoreTable:
    """Table with a column of scores and failures for each score of each run, in order of appearance.

    Examples:
        >>> score = Score(name="length", value=3, signature="length|v:1")
        >>> key = {"run_id": "r", "checkpoint": "c", "sample_id": "a", "repeat": 1, "cluster": "a"}
        >>> table = ScoreTable([Row(**key, score=ScoreId("t", "length", ""), outcome=score)])
        >>> [(key.address, column.values) for key, column in table.series.items()]
        [('t/length', [3.0])]
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.series: dict[SeriesKey, Column] = {}
        for row in rows:
            self.add(row)

    def arrange(self, score_order: Iterable[str]) -> None:
        """Sort the columns by a list of score addresses; columns that the list does not name follow.

        Human labels and scores of anchors follow the scores of their task, in the same order.
        """
        rank = {address: index for index, address in enumerate(dict.fromkeys(score_order))}
        last = len(rank)
        ranks = {
            key: rank.get((key.score if key.score.is_of_run else key.score.about("answer")).address, last)
            for key in self.series
        }
        first_of_task: dict[str, int] = {}
        for key, index in ranks.items():
            first_of_task[key.task] = min(index, first_of_task.get(key.task, last))

        def position(key: SeriesKey) -> tuple[int, int, int]:
            if ranks[key] == last:
                return last, 0, 0
            group = 0 if key.score.is_of_run else 1 + LABEL_ROLES.index(key.score.role)
            return first_of_task[key.task], group, ranks[key]

        self.series = {key: self.series[key] for key in sorted(self.series, key=position)}

    def set_range(self, run_id: str, address: str, plausible: tuple[float, float]) -> None:
        """Set the plausible range of the score at an address."""
        for key, column in self.series.items():
            if (key.run_id, key.score.address) == (run_id, address):
                column.plausible = plausible

    def set_reducer(self, run_id: str, task: str, reducer: Reducer) -> None:
        """Set the function that combines the repeats of a task's prompts; signatures name it unless mean."""
        for key, column in self.series.items():
            if (key.run_id, key.task) == (run_id, task) and not column.is_group_score:
                column.reducer = reducer
                if reducer != "mean":
                    column.signatures = {f"{signature}|repeats:{reducer}" for signature in column.signatures}

    def set_sample_count(self, run_id: str, task: str, count: int) -> None:
        """Set the number of samples in a task's files; human scores and anchors cover other samples."""
        for key, column in self.series.items():
            if (key.run_id, key.task) == (run_id, task) and key.score.is_of_run:
                column.sample_count = count

    def column(self, key: SeriesKey) -> Column:
        """Return the column of a series; a new series gets an empty one."""
        return self.series.setdefault(key, Column())

    def add(self, row: Row) -> None:
        """Append a row (a score or failure) to the column of its score and run."""
        outcome = row.outcome
        column = self.column(SeriesKey(row.run_id, row.score, outcome.kind))
        if isinstance(outcome, Score):
            column.append(row.sample_id, row.repeat, row.cluster, "ok", outcome.value, outcome.signature)
            column.scale = column.scale or outcome.scale
            column.read_details(outcome.kind, outcome.details, is_group_score=row.sample_id is None)
        else:
            column.append(row.sample_id, row.repeat, row.cluster, outcome.status, None, outcome.signature)
            column.record_message(outcome.status, outcome.message)
