"""A judge that became stricter, a panel with one member, and a score that needs more prompts."""

from pathlib import Path

from judge_drifts import CROSSED, effect, report, score

from hengwen.documents.blocks import Document
from hengwen.documents.judge_drift import judge_drift_document
from hengwen.monitoring.judge_drift.effects import JudgeConsistency
from hengwen.monitoring.judge_drift.verdicts import AnchorAgreement
from hengwen.results.comparability import Difference


def example(folder: Path) -> Document:
    agreement = AnchorAgreement(anchors=120, error_then=0.1, error_now=0.15, p=0.04)
    consistency = JudgeConsistency(
        kappa=0.62,
        kappa_interval=(0.55, 0.69),
        floor=0.8,
        excess=0.05,
        p=0.0004,
        p_adjusted=0.0008,
        answers=180,
        prompts=60,
    )
    return judge_drift_document(
        report(
            score(
                verdict="judge drifted", consistency=consistency, changes=(Difference("model", "m-1", "m-2"),)
            ),
            score(family="member", label="m-2/strict", arm="anchors", agreement=agreement, again=None),
            score(address="t/k.level", reason="not enough evidence", judge=effect(-0.01, 0.4)),
            score(
                address="t/l.level",
                verdict="judge drifted",
                judge=effect(0.0, 0.6),
                interaction=effect(0.09, 0.002),
                crossed=0.7,
                now=0.79,
            ),
            crossed=CROSSED,
        )
    )
