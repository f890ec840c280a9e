"""Nine checkpoints: a score that falls, one that moves as usual, one value for all answers; human labels."""

from pathlib import Path

from recorded_runs import record_run

from hengwen import drift_report, open_store
from hengwen.documents.blocks import Document
from hengwen.documents.drift.document import drift_document

FALL = [0.9, 0.87, 0.74, 0.62, 0.55, 0.4, 0.33, 0.2, 0.12]
JITTER = [0.5, 0.7, 0.45, 0.65, 0.52, 0.6, 0.48, 0.66, 0.57]


def values(mean: float, checkpoint: int) -> dict[str, list[float]]:
    """Return two repeats of each of 12 prompts, which vary around the mean."""
    return {
        f"p{prompt}": [
            round(mean + 0.01 * ((7 * prompt + 5 * checkpoint * repeat) % 11 - 5), 4) for repeat in (1, 2)
        ]
        for prompt in range(12)
    }


def example(folder: Path) -> Document:
    with open_store("sqlite://") as store:
        for index, (fall, jitter) in enumerate(zip(FALL, JITTER, strict=True)):
            scores = {
                "s.value": values(fall, index),
                "j.value": values(jitter, index),
                "g.all": {"": [jitter]},
            }
            human = {f"p{prompt}": [prompt % 4 / 4] for prompt in range(12)} if index > 6 else None
            record_run(store, f"c{index}", scores, order=index, human=human)
        return drift_document(drift_report(store))
