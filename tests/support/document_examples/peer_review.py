"""A small tournament of six models, all of them judges; the two worst favour one another."""

from pathlib import Path

import numpy as np
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.documents.blocks import Document
from hengwen.documents.judges.peer_review import peer_review_document
from hengwen.peer_review import compare_with_human, peer_review


def example(folder: Path) -> Document:
    taste = np.zeros((6, 6))
    taste[4:, 4:] = 2.0
    battles = simulated_battles(
        7, np.array([2.0, 1.0, 0.5, 1.0, 1.0, 1.0]), models=6, questions=24, tastes=taste
    )
    review = peer_review(battles, n_boot=40)
    human = compare_with_human(review, {"m00": 3, "m01": 2, "m02": 2.5, "m09": 1})
    return peer_review_document(review, human, failures=3)
