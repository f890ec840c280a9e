"""A small tournament of six models, all of them judges; the two worst favour one another."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.documents.blocks import Document
from hengwen.documents.judges.peer_review import peer_review_document
from hengwen.judges.trust.admission_report import AdmissionRecord, judge_key
from hengwen.monitoring.judge_trust import pair_judge_trust
from hengwen.peer_review import compare_with_human, peer_review

SIGNATURE = "mine|rubric:2.aaaaaaaa|prompt:12345678|lang:zh|openai/m|temp:0|v:1"
ADMISSION = AdmissionRecord(
    verdict="admitted",
    tested="2026-11-20T08:00:00+00:00",
    models=("m-2026",),
    checks={"degraded": (40, 45), "repeats": (11, 11)},
    fooled=1,
    informative=36,
    attacks=38,
)


def example(folder: Path) -> Document:
    taste = np.zeros((6, 6))
    taste[4:, 4:] = 2.0
    battles = simulated_battles(
        7, np.array([2.0, 1.0, 0.5, 1.0, 1.0, 1.0]), models=6, questions=24, tastes=taste
    )
    review = peer_review(battles, n_boot=40)
    human = compare_with_human(review, {"m00": 3, "m01": 2, "m02": 2.5, "m09": 1})
    first, *others = battles.judges
    admissions = {judge_key(SIGNATURE): asdict(ADMISSION)}
    tested = pair_judge_trust(
        admissions,
        first,
        task="chat",
        models=["m-2026"],
        signature=SIGNATURE,
        rubric_source="persona_generic",
    )
    judges = [tested, *(pair_judge_trust({}, name) for name in others)]
    return peer_review_document(review, human, failures=3, judges=judges)
