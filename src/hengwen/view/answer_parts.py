"""The parts of the page of one answer: its scores and how they are made, its prompt at all checkpoints."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any

from hengwen.documents.answers.all_answers import INPUT_LIMIT, outcome_of, part_name, shown_text
from hengwen.documents.answers.pairs import with_texts
from hengwen.documents.answers.sources import AnswerRecord
from hengwen.documents.blocks import AnswerPair, AnswerSide, Cell, Chart, Column, Point, Series, Table
from hengwen.documents.cells import right, score_names
from hengwen.plans.endpoints import listed_price
from hengwen.records import Attempt, Kind, Outcome, Run, Score
from hengwen.score_id import ScoreId
from hengwen.text.language import COLON, MIDDLE_DOT, NOTED, SPACE, Bilingual, both, say
from hengwen.text.numbers import NOTHING, decimals_for, minus, number, plural, signed_difference

ANSWER = say("Answer")

_ATTEMPTS = {"repair": "repair", "fresh": "asked again"}
"""Calls of a verdict that is not in the first reply."""


def title_of(score: ScoreId, outcome: Outcome) -> Bilingual:
    """Return the value of a score in a sentence."""
    name = score_names([score.address])[score.address].words
    if not isinstance(outcome, Score):
        return COLON.join([name, NOTED.format(say("no score"), outcome.status)])
    return COLON.join([name, value_text(outcome)])


def value_text(outcome: Outcome) -> Bilingual:
    """Return a value with the end of its scale, or why there is none."""
    if not isinstance(outcome, Score):
        return both(outcome.status)
    value = number(outcome.value, decimals_for(outcome.scale, [outcome.value]))
    if outcome.scale is None:
        return both(value)
    return say(" of ").join([value, f"{outcome.scale.high:g}"])


def side_by_side(before: AnswerRecord, after: AnswerRecord, score: ScoreId) -> AnswerPair:
    """Return two answers to one prompt; with themselves if there is no other."""
    sides = []
    for record in (before, after):
        outcome = record.outcomes.get(score)
        value = value_text(outcome).zh.partition(" ")[0] if outcome else NOTHING
        sides.append(AnswerSide(checkpoint=record.checkpoint, value=value))
    pair = AnswerPair(
        key="texts",
        sample_id=after.sample_id,
        prompt=shown_text(after.input, INPUT_LIMIT),
        change="",
        values=(0.0, 0.0),
        lost_on="",
        before=sides[0],
        after=sides[1],
    )
    return with_texts(pair, before, after)


def score_table(key: str, record: AnswerRecord, other: AnswerRecord | None, *kinds: Kind) -> Table:
    """Return scores of an answer with their reasons, and their differences from another answer."""
    rows = []
    for score, outcome in record.outcomes.items():
        if outcome.kind not in kinds:
            continue
        change = _change(outcome, other.outcomes.get(score) if other else None)
        name = part_name(score) if score.source == "lyric" else None
        reason = outcome_of(score, outcome).reason
        if isinstance(outcome, Score) and (attempt := _ATTEMPTS.get(str(outcome.details.get("attempt")))):
            reason = SPACE.join([reason, f"({attempt})"])
        rows.append(
            (
                Cell(text=name or score.name, values={"": score.name}),
                Cell(text=value_text(outcome), tone="plain" if isinstance(outcome, Score) else "open"),
                Cell(text=change, tone="worse" if change.startswith("−") else "plain"),
                Cell(text=reason),
            )
        )
    return Table(
        key=key,
        columns=(
            Column(key="score", head=say("score"), is_whole=True),
            right("value", "值", "value"),
            Column(key="change", head=f"− {other.checkpoint}" if other else "", align="right"),
            Column(key="reason", head=say("how and why")),
        ),
        rows=tuple(rows),
    )


def _change(outcome: Outcome, other: Outcome | None) -> str:
    if not isinstance(outcome, Score) or not isinstance(other, Score):
        return ""
    if outcome.signature != other.signature:
        return "≠"
    return minus(signed_difference(other.value, outcome.value, decimals_for(outcome.scale, [outcome.value])))


def origins(run: Run, record: AnswerRecord) -> Iterator[tuple[str, str, str]]:
    """Yield each scorer and judge of an answer, its signature, and the command that computes it again."""
    run_facts: Mapping[str, Any] = run.facts
    facts = run_facts.get("tasks", {}).get(record.task, {})
    scorers = {scorer["name"]: scorer["options"] for scorer in facts.get("scorers", ())}
    judges = facts.get("judges", {})
    for name, signature in {(score.source, item.signature): None for score, item in record.outcomes.items()}:
        command = ""
        if name in scorers:
            options = [shlex.quote(f"{key}={_option(value)}") for key, value in scorers[name].items()]
            command = " ".join(
                [f"hengwen score ANSWERS.jsonl --scorer {name}", *(f"--set {o}" for o in options)]
            )
        elif name in judges and signature.startswith(name):
            rubric = shlex.quote(judges[name]["rubric"])
            command = f"hengwen score ANSWERS.jsonl -o VERDICTS.jsonl --rubric {rubric}"
            command += " --judge PROVIDER/MODEL" if judges[name]["endpoints"] else ""
        yield name, signature, command


def _option(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def call_facts(call: Attempt, endpoints: Sequence[str]) -> Bilingual:
    """Return model, status, tokens, time and cost of a call in a line."""
    usage = call.usage
    prices = {price for endpoint in endpoints if (price := listed_price(endpoint, call.model))}
    cost = (
        f" · {price.cost(usage):.6f} {price.currency}" if len(prices) == 1 and (price := prices.pop()) else ""
    )
    tokens = f"{usage.input_tokens} + {usage.output_tokens}"
    facts = say(
        "attempt {attempt_no} · {tokens} tokens · {latency:.1f} s{cost}",
        attempt_no=call.attempt_no,
        tokens=tokens,
        latency=call.latency,
        cost=cost,
    )
    return MIDDLE_DOT.join([call.model or "–", call.status, facts])


def course(records: Iterable[AnswerRecord], names: Mapping[str, str], score: ScoreId) -> Chart:
    """Return a score of one prompt over the checkpoints: the mean of its answers at each."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    decimals = 2
    for record in records:
        outcome = record.outcomes.get(score)
        if isinstance(outcome, Score):
            values[record.run_id].append(outcome.value)
            decimals = decimals_for(outcome.scale, [outcome.value])
    points = []
    for x, (run_id, name) in enumerate(names.items()):
        own = values[run_id]
        mean = fsum(own) / len(own) if own else None
        text, answers = (
            number(mean, decimals),
            say("{answers}", answers=plural(len(own), "answer"), own=len(own)),
        )
        hint = COLON.join([name, NOTED.format(text, answers)])
        points.append(Point(x=float(x), label=name, value=mean, text=text, hint=hint))
    words = score_names([score.address])[score.address].words
    return Chart(key="course", title=words, series=(Series(name=score.address, points=tuple(points)),))
