"""A plan with a score whose repeats help, one whose repeats are unknown, and one that nothing scored."""

from pathlib import Path
from typing import Any

from hengwen.documents.blocks import Document
from hengwen.documents.gates.power import power_document
from hengwen.monitoring.power.answer_cost import AnswerCost
from hengwen.monitoring.power.plan_power import PlanPower
from hengwen.monitoring.power.score_power import PowerSearch, ScorePower
from hengwen.records import Run, Scale
from hengwen.stats.paired_variance import PairedVariance

ALPHA, POWER, TESTS = 0.05, 0.8, 2


def run(checkpoint: str) -> Run:
    return Run(id=f"20260101T000000-{checkpoint}", plan="songs", plan_hash="", checkpoint=checkpoint)


def score_of(address: str, variance: PairedVariance, cost: AnswerCost, **more: Any) -> ScorePower:
    search = PowerSearch(variance=variance, answer=cost, level=ALPHA / TESTS, power=POWER)
    return ScorePower(
        address=address,
        scale=Scale(low=0, high=100),
        data_prompts=40,
        data_clusters=36,
        variance=variance,
        level=ALPHA / TESTS,
        present=search.size(40, 2),
        requirements=tuple(search.requirement(difference, 40, 2) for difference in (8.0, 4.0)),
        affordable=search.affordable(20.0, 2),
        **more,
    )


def example(folder: Path) -> Document:
    cost = AnswerCost(calls=3, input_tokens=900, output_tokens=200, cost=0.01)
    repeated = PairedVariance(
        cluster=10, prompt=60, repeat=80, repeats=2, cluster_size=1.1, freedom=35, repeat_freedom=40
    )
    single = PairedVariance(cluster=0, prompt=90, repeat=None, repeats=2, freedom=35)
    free = AnswerCost(calls=0, input_tokens=0, output_tokens=0, cost=0.0)
    return power_document(
        PlanPower(
            plan="songs",
            baseline=run("step-1"),
            other=run("step-2"),
            scores=(
                score_of("lyrics/jury.level", repeated, cost, judge_variance=30.0, infinite_repeats=4.2),
                score_of("talk/length", single, free, basis="one checkpoint", conflict="other settings"),
                ScorePower(address="talk/[none]", problem="not scored"),
            ),
            tests=TESTS,
            is_joint=False,
            alpha=ALPHA,
            power=POWER,
            correlation=0.0,
            budget=20.0,
        )
    )
