"""Pair the anchors (fixed answers with human values) that two runs judged."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.monitoring.judge_drift.effects import AnchorChanges
from hengwen.monitoring.judge_drift.judged_series import AnswerId, member_verdicts
from hengwen.monitoring.judge_drift.verdicts import AnchorAgreement
from hengwen.records import Score
from hengwen.score_id import LEVEL
from hengwen.stats.level_weights import level_index
from hengwen.stats.paired import sign_flip_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.records import Row, Scale
    from hengwen.score_id import ScoreId

AnchorId = tuple[str | None, int | None, str]
"""(sample id, repeat, hash of prompt and answer). An edited anchor has a new hash, so it is a new anchor."""


class _Judged(NamedTuple):
    cluster: str
    value: float


class JudgedAnchor(NamedTuple):
    """One anchor (fixed answer) with the judge's values in two runs (``then``, ``now``) and human values."""

    cluster: str
    then: float
    now: float
    level: float
    """Human value that decides the weight of the anchor: the human value of this score or, if people rated no
    anchor on this score, the human value of the overall quality (``JUDGE.level``)."""
    human: float | None
    """Human value of this score; None if people rated the anchors only overall (``JUDGE.level``)."""


class RunAnchors:
    """The anchors (fixed answers) of one run, with the values that judges and people gave them."""

    def __init__(self) -> None:
        self._judged: dict[tuple[ScoreId, str], dict[AnchorId, _Judged]] = defaultdict(dict)
        """Judged values of anchors by score and panel member; the member "" is the judge as a whole."""
        self._human: dict[ScoreId, dict[AnswerId, float]] = defaultdict(dict)

    def add(self, row: Row) -> None:
        """Add a row that holds the value of an anchor by a judge or by a person."""
        outcome = row.outcome
        score = row.score.about("answer")
        if row.score.is_human:
            if isinstance(outcome, Score):
                self._human[score][row.sample_id, row.repeat] = outcome.value
            return
        anchor = (row.sample_id, row.repeat, row.item_hash)
        if isinstance(outcome, Score):
            self._judged[score, ""][anchor] = _Judged(row.cluster, outcome.value)
        for member, value in member_verdicts(outcome).items():
            if value is not None:
                self._judged[score, member][anchor] = _Judged(row.cluster, value)

    def pairs(
        self, later: RunAnchors, score: ScoreId, members: tuple[str, str] = ("", "")
    ) -> list[JudgedAnchor]:
        """Return the anchors that this run and a later run judged, and that have a human value."""
        human = later._human.get(score) or self._human.get(score)
        levels = human or later._human_levels(score) or self._human_levels(score)
        then, now = self._judged[score, members[0]], later._judged[score, members[1]]
        return [
            JudgedAnchor(
                judged.cluster,
                judged.value,
                now[anchor].value,
                levels[anchor[:2]],
                human[anchor[:2]] if human else None,
            )
            for anchor, judged in then.items()
            if anchor in now and anchor[:2] in levels
        ]

    def _human_levels(self, score: ScoreId) -> Mapping[AnswerId, float]:
        """Return the anchors' human values of the overall level by the judge of a score."""
        return self._human.get(score.with_part(LEVEL), {})


def anchor_changes(anchors: Sequence[JudgedAnchor], answers: Iterable[float], scale: Scale) -> AnchorChanges:
    """Return the changes and human levels of anchors, and the levels of the earlier checkpoint's answers."""

    def level(value: float) -> int:
        return level_index(value, scale.low, scale.high, scale.levels)

    return AnchorChanges(
        differences=[anchor.now - anchor.then for anchor in anchors],
        clusters=[anchor.cluster for anchor in anchors],
        levels=[level(anchor.level) for anchor in anchors],
        answer_levels=[level(value) for value in answers],
    )


def anchor_agreement(anchors: Sequence[JudgedAnchor]) -> AnchorAgreement | None:
    """Return the judge's mean distance from human values in both runs; None if no anchor has such a value."""
    rated = [
        (anchor.cluster, anchor.then - anchor.human, anchor.now - anchor.human)
        for anchor in anchors
        if anchor.human is not None
    ]
    if not rated:
        return None
    errors = np.abs([distances for _, *distances in rated])
    test = sign_flip_test(errors[:, 0], errors[:, 1], [cluster for cluster, *_ in rated])
    return AnchorAgreement(
        anchors=len(rated),
        error_then=float(errors[:, 0].mean()),
        error_now=float(errors[:, 1].mean()),
        p=test.p,
    )
