"""The document of power: the differences that a plan detects, and the prompts that smaller ones need."""

from __future__ import annotations

from dataclasses import asdict

from hengwen.documents.blocks import Cell, Decision, Document, Table, Verdict
from hengwen.documents.cells import SCORE, number_cell, right, run_record, score_names, thousands_cell
from hengwen.monitoring.power import PlanPower
from hengwen.text.language import SEMICOLON, say
from hengwen.text.numbers import decimals_for, number

PROBLEMS = {
    "not scored": say("one of the runs has no answer with this score"),
    "group score": say("one value for a group of answers, none for each prompt"),
    "no common prompts": say("no prompt has a score in both runs"),
    "keys": say("scored with different settings"),
    "constant": say("all prompts have the same difference, so the variance is unknown"),
    "too few": say("too few independent prompts to tell anything"),
}


def power_document(power: PlanPower) -> Document:
    """Return the document of the power of a plan."""
    names = score_names([score.address for score in power.scores])
    known = [score for score in power.scores if not score.problem]
    rows: list[tuple[Cell, ...]] = []
    detected = []
    for score in known:
        decimals = decimals_for(score.scale, [score.smallest_difference])
        smallest = number(score.smallest_difference, decimals)
        detected.append(say("{difference} in {score}", difference=smallest, score=names[score.address].words))
        rows += [
            (
                Cell(text=names[score.address].head, values={"": score.address}),
                number_cell(item.difference, decimals),
                thousands_cell(item.prompts),
                thousands_cell(score.prompts),
            )
            for item in score.needed
        ]
    title = say("A run of {plan} detects nothing yet.", plan=power.plan)
    if detected:
        title = say("A run of {plan} detects {listed}.", plan=power.plan, listed=SEMICOLON.join(detected))
    columns = (
        SCORE,
        right("difference", "差别", "difference"),
        right("prompts_needed", "需要的题目", "prompts needed"),
        right("prompts", "现有题目", "prompts now"),
    )
    return Document(
        kind="power",
        title=say("power {plan}", plan=power.plan),
        notes=(
            say(
                "differences of {first} and {second}; power 80%, alpha .05 for {tests} scores together",
                first=power.baseline.checkpoint,
                second=power.other.checkpoint,
                tests=power.tests,
            ),
        ),
        blocks=(
            Decision(
                title=title,
                bullets=tuple(
                    Verdict(tone="open", subject=names[score.address].head, sentence=PROBLEMS[score.problem])
                    for score in power.scores
                    if score.problem
                ),
            ),
            *([Table(key="power", columns=columns, rows=tuple(rows))] if rows else []),
        ),
        record={
            "schema": 1,
            "plan": power.plan,
            "baseline": run_record(power.baseline),
            "other": run_record(power.other),
            "tests": power.tests,
            "scores": [asdict(score) for score in power.scores],
        },
    )
