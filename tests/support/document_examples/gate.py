"""Gates of every outcome: passed, failed, undecided with two conditions, only a warning, nothing scored."""

from pathlib import Path
from typing import Any

from hengwen.documents.blocks import Document
from hengwen.documents.gates.gate import gate_document
from hengwen.monitoring.gates.results import GateReport, GateResult, TermResult
from hengwen.monitoring.run_comparison import ScoreComparison
from hengwen.records import Run, Scale
from hengwen.score_id import ScoreId
from hengwen.stats.paired import PairedTest

BEFORE = Run(id="r0", plan="songs", plan_hash="", checkpoint="step-1")
AFTER = Run(id="r1", plan="songs", plan_hash="", checkpoint="step-2", step=2)
LEVEL = TermResult(
    text="talk/jury.level >= 0.6",
    kind="score",
    outcome="passed",
    task="talk",
    value=0.7312,
    interval=(0.6501, 0.8123),
    limit=0.6,
    confidence=0.95,
    prompts=1200,
    clusters=40,
    prompt_coverage=1.0,
    scale=Scale(low=0, high=1),
)
FALL = TermResult(
    text="no_drop(lyrics/*)",
    kind="no_drop",
    outcome="failed",
    prompts=40,
    p=0.00031,
    level=0.03,
    look=2,
    baseline=BEFORE,
    scores=(
        ScoreComparison(
            address="lyrics/rhyme",
            family="headline",
            outcome="worse",
            p_adjusted=0.00031,
            test=PairedTest(difference=-0.21, p=0.0001, prompts=40, clusters=40, error=0.04),
        ),
    ),
)
MARGIN = TermResult(
    text="noninferior(talk/jury.level, 0.05)",
    kind="noninferior",
    outcome="inconclusive",
    task="talk",
    reason="too uncertain",
    value=-0.01,
    interval=(-0.09, 0.07),
    limit=-0.05,
    prompts=40,
    level=0.05,
    look=1,
    baseline=BEFORE,
    needed_prompts=2100,
)
NOTHING = TermResult(
    text="talk/[odd] >= 1",
    kind="score",
    outcome="error",
    reason="nothing scored",
    detail="3 refused (first: <no> | `answer`)",
    prompts=0,
)


def gate(*terms: TermResult, **more: Any) -> GateResult:
    worst = terms[-1].outcome
    fields: dict[str, Any] = {"tier": "fail", "outcome": worst, "enforced": worst, **more}
    return GateResult(expression=" and ".join(term.text for term in terms), terms=terms, **fields)


def example(folder: Path) -> Document:
    uncertified = {ScoreId("talk", "jury", "level"): "no calibration"}
    return gate_document(
        GateReport(
            plan="songs",
            run=AFTER,
            gates=(
                gate(LEVEL),
                gate(FALL),
                gate(MARGIN, enforced=None, uncertified=uncertified),
                gate(FALL, tier="warn", enforced=None),
                gate(NOTHING),
            ),
            warnings=("the run r1 is interrupted, not finished",),
        )
    )
