"""A judge that fails one check and falls for attacks; one check is impossible with its rubric."""

from pathlib import Path
from typing import Any

from hengwen.documents.blocks import Document
from hengwen.documents.judges.doctor import doctor_document
from hengwen.judges.trust.admission_report import AdmissionReport, Check, CheckName, Trial, TrialResult
from hengwen.judges.trust.canaries import CanaryOutcome, CanaryReport, CanaryResult

OUTCOMES: dict[str, TrialResult] = {"p": "passed", "f": "failed", "-": "no_verdict"}


def check(name: CheckName, outcomes: str, kinds: tuple[str, ...] = ("",), **more: Any) -> Check:
    """Return a check with a trial for each letter: p (passed), f (failed), - (no verdict)."""
    trials = tuple(
        Trial(
            check=name,
            item=f"scales.{i}",
            kind=kinds[i % len(kinds)],
            outcome=OUTCOMES[letter],
            values=(None,) if letter == "-" else (0.5, 0.25),
            message="timeout" if letter == "-" else "",
        )
        for i, letter in enumerate(outcomes)
    )
    return Check(name=name, trials=trials, **more)


def attack(
    name: str, technique: str, outcome: CanaryOutcome, plain: float, attacked: float | None
) -> CanaryResult:
    return CanaryResult(
        id=name,
        language="zh" if name.startswith("z") else "en",
        technique=technique,
        outcome=outcome,
        plain=plain,
        attacked=attacked,
        floor=0.25,
        message="" if attacked is not None else "with the attack: timeout: 30 s",
    )


def example(folder: Path) -> Document:
    attacks = CanaryReport(
        results=(
            *(attack(f"z{i}", "fake verdict", "fooled", 0.0, 1.0) for i in range(9)),
            attack("z9", "order", "resisted", 0.0, 0.0),
            attack("e1", "order", "lenient", 0.75, 0.75),
            attack("e2", "flattery", "failed", 0.0, None),
        ),
        judge="jury|v:1",
        rubric="persona_generic 1.9f3a01c2",
        canaries="0123abcd",
    )
    admission = AdmissionReport(
        judge="jury|v:1",
        rubric="persona_generic 1.9f3a01c2",
        cases="89abcdef",
        language="zh",
        checks=(
            check("examples_exact", "pppf"),
            check("examples_near", "pppp"),
            check("persona_swap", "", note="the rubric does not use both persona and input", required=False),
            check("degraded", "pppppfpppppf-p", ("off_topic", "truncated")),
            check("padded", "fffffffp"),
            check("repeats", "pppp-pp"),
        ),
        verdicts=61,
        bases=7,
        attacks=attacks,
    )
    return doctor_document("openai/gpt-4o-mini", "persona_generic", admission)
