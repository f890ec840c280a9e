"""A plan with a score of which differences are detected, and one that nothing scored."""

from pathlib import Path

from hengwen.documents.blocks import Document
from hengwen.documents.power import power_document
from hengwen.monitoring.power import PlanPower, PromptsNeeded, ScorePower
from hengwen.records import Run, Scale


def run(checkpoint: str) -> Run:
    return Run(id=f"20260101T000000-{checkpoint}", plan="songs", plan_hash="", checkpoint=checkpoint)


def example(folder: Path) -> Document:
    needed = tuple(
        PromptsNeeded(difference=difference, prompts=prompts)
        for difference, prompts in ((6.21, 40), (3.1, 161), (0.001, None))
    )
    level = ScorePower(
        address="lyrics/jury.level",
        scale=Scale(low=0, high=100),
        prompts=40,
        clusters=36,
        smallest_difference=6.21,
        needed=needed,
    )
    return power_document(
        PlanPower(
            plan="songs",
            baseline=run("step-1"),
            other=run("step-2"),
            scores=(level, ScorePower(address="talk/[none]", problem="not scored")),
            tests=1,
        )
    )
