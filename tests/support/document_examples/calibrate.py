"""A judge that agrees with two raters, and a judge with too few labels for a decision."""

from pathlib import Path
from typing import Any

from hengwen.documents.blocks import Document
from hengwen.documents.judges.calibrate import calibrate_document
from hengwen.judges.calibration import JudgedAnswer, calibrate
from hengwen.records import Label

LEVELS = [0, 0.5, 1]
HUMAN = [0, 0.5, 1, 1, 0.5, 0, 0.5]
JUDGE = [0, 0.5, 1, 0.5, 0.75, 0, 0.5]


def example(folder: Path) -> Document:
    answers = [
        JudgedAnswer(
            task="talk", id=str(i), checkpoint=f"step-{1 + i % 2}", value=JUDGE[i % 7], signature="live|v:1"
        )
        for i in range(48)
    ]
    labels = [
        Label(
            task="talk",
            id=str(i),
            checkpoint=f"step-{1 + i % 2}",
            score="live.level",
            value=HUMAN[(i + (rater == "b") * (i % 5 == 0)) % 7],
            rater=rater,
            drawn="random|seed:1|from:48|strata:none" if i else "",
        )
        for i in range(40)
        for rater in ("a", "b")
    ]
    settings: dict[str, Any] = {"score": "live.level", "levels": LEVELS, "resamples": 50}
    certified = calibrate(labels, answers, **settings)
    few = calibrate(labels[:6], answers[:20], **settings)
    return calibrate_document([certified, few])
