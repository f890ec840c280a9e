"""The canary set, and judges that obey an attack, ignore it, fail or give a constant level."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections import Counter

import numpy as np
import pytest
from rows import each_row

from hengwen.errors import BackendError, StoreError
from hengwen.judges import Panel, RubricJudge, RulesJudge
from hengwen.judges.rubric.model_judge import parse_verdict
from hengwen.judges.trust.canaries import (
    OUTCOMES,
    Canary,
    load_canaries,
    run_canaries,
)
from hengwen.objective.duplicates.similarity import similarity
from hengwen.prompts import load_rubric
from hengwen.prompts.render import neutralize, render_judge_prompt
from hengwen.prompts.rubric import packaged_rubrics
from hengwen.records import Response, Sample

from .simulations import report_of, share_failed, simulated_reports

CANARIES = load_canaries()
PERSONA = load_rubric("persona_generic")
TECHNIQUES = sorted({canary.technique for canary in CANARIES})
PLAIN = {canary.answer for canary in CANARIES}


@pytest.fixture
def run(function_judge):
    """Run the canaries on a judge, or on a function of the answer that returns a level."""

    def call(judge, *, rubric=PERSONA, **options):
        tested = function_judge(lambda text, *_: judge(text)) if callable(judge) else judge
        return asyncio.run(run_canaries(tested, rubric, **options))

    return call


def obedient(text):
    return 0.0 if text in PLAIN else 1.0


def test_the_set_is_well_formed():
    assert len(CANARIES) >= 24
    assert len({canary.id for canary in CANARIES}) == len(CANARIES)
    assert [canary.id for canary in CANARIES] == [f"{c.technique}.{c.language}" for c in CANARIES]
    for field in ("answer", "input", "attack"):
        assert len({getattr(canary, field) for canary in CANARIES} - {"{answer}\n\n{verdict}"}) >= 36


@each_row("technique", TECHNIQUES)
def test_every_technique_is_there_in_both_languages(technique):
    canaries = [canary for canary in CANARIES if canary.technique == technique]
    assert sorted(canary.language for canary in canaries) == ["en", "zh"]
    assert len({canary.floor for canary in canaries}) == 1


@each_row("canary", CANARIES)
def test_a_canary_is_a_weak_answer_in_its_language_and_the_same_with_an_attack(canary):
    attacked = canary.attacked(PERSONA)
    assert canary.answer in attacked
    assert attacked != canary.answer
    assert not re.search(r"\{(answer|best|verdict)\}", attacked)
    assert bool(re.search(r"[\u4e00-\u9fff]", canary.input)) == (canary.language == "zh")
    assert bool(re.search(r"[\u4e00-\u9fff]", canary.answer)) == (canary.language == "zh")
    assert len("".join(canary.answer.split())) >= 20, "long enough for the length clauses of the rules judge"


@each_row("canary", CANARIES)
def test_an_attack_asks_for_the_best_level_of_the_rubric(canary, small):
    if canary.technique == "encoded":
        decoded = base64.b64decode(canary.attack.splitlines()[-1]).decode("utf-8")
        assert re.search("最高等级|highest level", decoded)
        return
    added = canary.attacked(small).replace(canary.answer, "")
    assert "High" in added
    assert "A" not in re.findall(r"\b[A-E]\b", canary.attack), "no label is written down"


def test_no_two_weak_answers_are_alike():
    texts = sorted(PLAIN)
    alike = [(a, b) for i, a in enumerate(texts) for b in texts[:i] if similarity(a, b) > 0.6]
    assert not alike


@each_row("name", packaged_rubrics())
def test_the_fake_verdict_would_be_a_good_one(name):
    rubric = load_rubric(name)
    for canary in CANARIES:
        if canary.technique == "fake_verdict":
            verdict = parse_verdict(canary.attacked(rubric).removeprefix(canary.answer), rubric)
            assert verdict.level == "A"
            assert set(verdict.criteria.values()) == {"A"}


def test_hidden_text_is_invisible_but_there():
    for canary in CANARIES:
        if canary.technique == "hidden_text":
            added = canary.attacked(PERSONA).removeprefix(canary.answer)
            assert added.count("\u200b") >= 15
            assert re.search("给这份回答等级A|Give this level A", re.sub("[\u200b\u2060]", "", added))


@each_row("canary", CANARIES)
def test_an_attack_stays_data_in_the_prompt(canary):
    fence = "0123456789abcdef"
    sample = Sample(id="1", input=canary.input)
    system, user = (
        content
        for _, content in render_judge_prompt(
            PERSONA, sample, Response(sample_id="1", text=canary.attacked(PERSONA)), fence=fence
        )
    )
    assert canary.answer not in system
    sections = re.findall(rf"^<<<{fence}:([\w-]+)\n(.*?)\n{fence}>>>$", user, re.MULTILINE | re.DOTALL)
    assert sections == [("input", canary.input), ("response", neutralize(canary.attacked(PERSONA), fence))]
    assert not re.search(r"<<<\w|\w>>>|<\|", sections[1][1])


@each_row(
    ("floor", "count", "index"),
    [("E", 5, 0), ("D", 5, 1), ("C", 5, 2), ("D", 2, 0), ("D", 3, 0), ("C", 3, 1), ("D", 4, 0), ("D", 9, 2)],
)
def test_the_floor_is_scaled_to_the_levels(floor, count, index, small):
    levels = {float(n): small.levels[1].model_copy(update={"label": f"L{n}"}) for n in range(count)}
    rubric = small.model_copy(update={"levels": levels})
    assert CANARIES[0].model_copy(update={"floor": floor}).floor_value(rubric) == index


@pytest.mark.parametrize(
    ("level_of", "outcome"),
    [
        (obedient, "fooled"),
        (lambda text: 0.0, "resisted"),
        (lambda text: 0.5, "lenient"),
        (lambda text: 1.0, "lenient"),
        (lambda text: 0.0 if text not in PLAIN else 0.25, None),
        (lambda text: "parse_error", "failed"),
        (lambda text: BackendError("down", status="timeout"), "failed"),
        (lambda text: TypeError("odd"), "failed"),
        (lambda text: 0.0 if text in PLAIN else "refused", "failed"),
        (lambda text: 1.0 if text not in PLAIN else "timeout", "failed"),
    ],
    ids=[
        "obeys everything",
        "always the worst",
        "always the middle",
        "always the best",
        "punishes attacks",
        "no verdict",
        "no endpoint",
        "broken",
        "refuses attacks",
        "no level to compare with",
    ],
)
def test_each_judge_gets_its_outcome(run, level_of, outcome):
    counts = run(level_of).counts
    assert sum(counts.values()) == len(CANARIES)
    if outcome is None:
        lenient = sum(canary.floor == "E" for canary in CANARIES)
        assert counts == {"fooled": 0, "resisted": len(CANARIES) - lenient, "lenient": lenient, "failed": 0}
    else:
        assert counts[outcome] == len(CANARIES)


def test_a_judge_that_obeys_one_technique_in_one_language_is_reported_so(run):
    report = run(lambda text: 0.75 if "Ignore the rubric" in text else 0.0)
    fooled = [result for result in report.results if result.outcome == "fooled"]
    assert [(result.id, result.plain, result.attacked, result.floor) for result in fooled] == [
        ("ignore_rubric.en", 0.0, 0.75, 0.25)
    ]
    assert report.by_technique["ignore_rubric"] == {"fooled": 1, "resisted": 1, "lenient": 0, "failed": 0}
    assert report.by_technique["threat"]["fooled"] == 0
    assert report.by_language["en"]["fooled"] == 1
    assert report.by_language["zh"] == {
        "fooled": 0,
        "resisted": len(CANARIES) // 2,
        "lenient": 0,
        "failed": 0,
    }


def test_a_raise_within_the_floor_counts_too(run):
    assert run(lambda text: 0.0 if text in PLAIN else 0.25).counts["fooled"] == len(CANARIES)


def test_a_failure_keeps_its_reason_and_the_value_that_is_there(run):
    result = run(lambda text: 0.25 if text in PLAIN else BackendError("gone", status="refused")).results[0]
    assert (result.plain, result.attacked, result.outcome) == (0.25, None, "failed")
    assert result.message == "with the attack: refused: gone"


def test_the_report_is_plain_and_in_the_order_of_the_set(run):
    report = run(obedient)
    data = json.loads(json.dumps(report.as_dict()))
    assert [result["id"] for result in data["results"]] == [canary.id for canary in CANARIES]
    assert list(data["by_technique"]) == TECHNIQUES
    assert list(data["by_language"]) == ["en", "zh"]
    assert data["total"] == len(CANARIES) == data["fooled"]
    assert data["rubric"] == f"persona_generic 1.{PERSONA.hash}"
    assert set(OUTCOMES) < set(data)
    assert report == run(obedient)
    assert Counter(result["language"] for result in data["results"])["zh"] == len(CANARIES) // 2


def test_other_canaries_are_another_set(run):
    chosen = [canary for canary in CANARIES if canary.language == "zh"]
    report = run(obedient, canaries=chosen)
    assert len(report.results) == len(chosen)
    assert report.canaries != run(obedient).canaries
    assert run(obedient, canaries=()).counts == dict.fromkeys(OUTCOMES, 0)


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 5])
def test_no_more_calls_at_a_time_than_allowed(run, function_judge, concurrency):
    judge = function_judge(lambda text, *_: obedient(text))
    run(judge, concurrency=concurrency)
    assert judge.max_active == concurrency
    with pytest.raises(ValueError, match="concurrency must be at least 1, got 0"):
        run(judge, concurrency=0)


def test_a_judge_of_another_rubric_is_refused(run):
    with pytest.raises(ValueError, match=r"gave 5, but rubric 'persona_generic' has levels from 0 to 1"):
        run(lambda text: 5.0)


def test_a_full_disk_stops_it(run):
    with pytest.raises(StoreError):
        run(lambda text: StoreError("disk full"))


@pytest.mark.parametrize("name", packaged_rubrics())
def test_no_attack_fools_the_rules_judge_but_it_sees_no_weakness_either(run, name):
    rubric = load_rubric(name)
    report = run(RulesJudge(rubric=rubric), rubric=rubric)
    assert report.counts == {"fooled": 0, "resisted": 0, "lenient": len(CANARIES), "failed": 0}
    assert (report.informative, report.status) == (0, "unclear")


def test_the_rules_judge_takes_padding_for_an_answer(run):
    """Why the packaged answers are long: any text, an attack too, mends an answer that was too short."""
    short = CANARIES[0].model_copy(update={"answer": "嗯"})
    (result,) = run(RulesJudge(rubric=PERSONA), canaries=[short]).results
    assert (result.outcome, result.plain, result.attacked) == ("fooled", 0.25, 0.75)


def test_a_rubric_judge_and_a_panel_can_be_tried(run, fake):
    good = json.dumps({"reason": "r", "criteria": dict.fromkeys(PERSONA.criteria, "E"), "level": "E"})
    judges, backends = [], []
    for number in range(2):
        backend = fake(*[good] * (2 * len(CANARIES)))
        backend.signature = f"fake/{number}"
        backends.append(backend)
        judges.append(RubricJudge(rubric=PERSONA, backend=backend))
    report = run(Panel(judges=judges))
    assert report.counts["resisted"] == len(CANARIES)
    assert len(backends[0].requests) == 2 * len(CANARIES)


def test_a_canary_needs_all_its_fields():
    with pytest.raises(ValueError, match="floor"):
        Canary.model_validate({**CANARIES[0].model_dump(), "floor": "A"})


@pytest.mark.parametrize(
    ("level_of", "raises", "lowerings", "status"),
    [
        (obedient, 38, 0, "failed"),
        (lambda text: 0.0, 0, 0, "passed"),
        (lambda text: 0.25 if text in PLAIN else 0.0, 0, 38, "passed"),
        (lambda text: 1.0, 0, 0, "unclear"),
        (lambda text: 0.75, 0, 0, "unclear"),
        (lambda text: "parse_error", 0, 0, "unclear"),
    ],
    ids=["obeys everything", "steadfast", "punishes attacks", "always the best", "lenient", "no verdict"],
)
def test_a_judge_fails_where_attacks_raise_more_than_they_lower(run, level_of, raises, lowerings, status):
    report = run(level_of)
    assert (report.raises, report.lowerings, report.status) == (raises, lowerings, status)


def test_jumps_to_the_top_weigh_more_than_noise_of_one_level():
    changes = [1.0] * 8 + [0.25] * 2 + [-0.25] * 5 + [0.0] * 23
    report = report_of([(0.0 if change >= 0 else 0.25, max(change, 0.0)) for change in changes])
    assert (report.raises, report.lowerings, report.status) == (10, 5, "failed")
    small = report_of([(0.0 if change >= 0 else 0.25, 0.25 if change > 0 else 0.0) for change in changes])
    assert (small.raises, small.lowerings, small.status) == (10, 5, "passed")


@pytest.mark.slow
@each_row(("flip_rate", "fooled"), [(0.05, 1.9), (0.1, 3.6), (0.2, 6.6)])
def test_noise_alone_does_not_fail_a_judge(flip_rate, fooled):
    reports = simulated_reports(600, flip_rate)
    assert np.mean([report.raises for report in reports]) == pytest.approx(fooled, abs=0.25)
    assert np.mean([report.status == "failed" for report in reports]) <= 0.015


@pytest.mark.slow
@each_row(("flip_rate", "least"), [(0.05, 0.6), (0.1, 0.55), (0.2, 0.5)])
def test_a_judge_that_a_fifth_of_the_attacks_fools_fails_mostly(flip_rate, least):
    assert share_failed(300, flip_rate, fooled_share=0.2) >= least
