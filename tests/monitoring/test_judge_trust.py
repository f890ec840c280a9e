"""What a result says of its judges: admission, agreement with people, anchors."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from rows import each_row
from score_rows import row_of

from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.judges.trust.admission_report import AdmissionRecord, judge_key
from hengwen.monitoring.judge_trust import judge_trust, trust_of
from hengwen.records import Run, Scale, Score
from hengwen.results.score_table import ScoreTable
from hengwen.runs.imported.record import import_scores
from hengwen.runs.run_plan import run_plan
from hengwen.store import open_store

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
SIGNATURE = "mine|rubric:2.aaaaaaaa|prompt:12345678|lang:zh|openai/gpt-4o|temp:0|v:1"
ADMITTED = AdmissionRecord(
    verdict="admitted",
    tested="2026-11-20T08:00:00+00:00",
    models=("gpt-4o-2024",),
    checks={"degraded": (40, 45), "repeats": (11, 11)},
    fooled=1,
    informative=36,
    attacks=38,
)


def run_of(order: int) -> Run:
    return Run(
        id=f"r{order}",
        plan="p",
        plan_hash="",
        checkpoint=f"c{order}",
        order=order,
        step=order,
        started=f"2026-01-0{order + 1}T00:00:00Z",
        status="finished",
    )


def table_of(human, judge, *, anchors=(), **details) -> ScoreTable:
    """Return the scores of one run for each column of two arrays of levels; NaN for no label."""
    table = ScoreTable()
    scale = Scale(low=0, high=1, levels=LEVELS)
    for order in range(judge.shape[1]):
        key = {"run_id": f"r{order}", "task": "t", "checkpoint": f"c{order}", "repeat": 1}
        for i, (label, level) in enumerate(zip(human[:, order], judge[:, order], strict=True)):
            about = {**key, "sample_id": f"p{i}", "cluster": f"p{i}"}
            given = {"signature": SIGNATURE, "kind": "judge", "scale": scale}
            details_of = details or {"model": "gpt-4o-2024"}
            score = Score(name="mine.level", value=float(level), details=details_of, **given)
            table.add(row_of(**about, outcome=score))
            if not np.isnan(label):
                people = {"signature": "human|v:1", "kind": "human", "scale": scale}
                labelled = Score(name="human.mine.level", value=float(label), **people)
                table.add(row_of(**about, outcome=labelled))
        for i, value in enumerate(anchors):
            about = {**key, "sample_id": f"a{i}", "cluster": f"a{i}"}
            table.add(row_of(**about, outcome=Score(name="anchor.mine.level", value=value, **given)))
    return table


def levels_of(seed: int = 1, *, noise: float = 0.2, runs: int = 2):
    rng = np.random.default_rng(seed)
    human = rng.choice(LEVELS, (30, runs))
    return human, np.where(rng.random(human.shape) < noise, rng.choice(LEVELS, human.shape), human)


def line(trust) -> str:
    (verdict,) = trust_verdicts(trust)
    return f"{verdict.tone}: {verdict.sentence.en}"


def test_a_judge_that_nobody_tested_is_never_tested_with_the_commands() -> None:
    human, judge = levels_of()
    table = table_of(np.full_like(human, np.nan), judge)
    assert line(trust_of([run_of(0), run_of(1)], table, {})) == (
        "untested: never tested: model gpt-4o-2024 · admission never tested · people: no labels · no anchors "
        "· rubric 2.aaaaaaaa · to test: hengwen doctor --judge openai/gpt-4o; hengwen label PLAN"
    )


def test_an_admitted_judge_that_agrees_is_plain_and_every_figure_is_said() -> None:
    table = table_of(*levels_of(noise=0.05), anchors=[0.5, 0.75])
    (trust,) = trust_of([run_of(0), run_of(1)], table, {judge_key(SIGNATURE): vars_of(ADMITTED)})
    assert (trust.admission, trust.agreement.decision, trust.agreement.n) == (ADMITTED, "certified", 60)
    text = line([trust])
    assert text.startswith(
        "plain: admitted and certified: model gpt-4o-2024 · admission 2026-11-20: admitted "
    )
    assert (
        "(passed 51 of 56 trials) · attacks: fooled by 1 of 36 attacks that could have raised a level" in text
    )
    assert " on 60 labels, " in text
    assert "within checkpoints, certified · anchors 0.62 in every run (n=2)" in text
    assert trust_record([trust])[0]["agreement"]["decision"] == "certified"


def vars_of(record: AdmissionRecord) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(record)


def test_the_distance_between_checkpoints_does_not_certify() -> None:
    rng = np.random.default_rng(3)
    human = np.stack([rng.choice([0, 0.25], 30), rng.choice([0.75, 1], 30)], axis=1)
    judge = np.stack([rng.choice([0, 0.25], 30), rng.choice([0.75, 1], 30)], axis=1)
    (trust,) = trust_of([run_of(0), run_of(1)], table_of(human, judge), {})
    assert trust.agreement.kappa.low > 0.8
    assert trust.agreement.decision == "not certified"
    assert line([trust]).startswith("rejected: not certified")


@each_row("verdict", ["not admitted", "inconclusive"])
def test_a_judge_that_failed_or_is_not_known_never_looks_fine(verdict) -> None:
    record = replace(ADMITTED, verdict=verdict, problems={"degraded": "failed"}, informative=0, fooled=0)
    table = table_of(*levels_of(noise=0.05))
    trust = trust_of([run_of(0), run_of(1)], table, {judge_key(SIGNATURE): vars_of(record)})
    text = line(trust)
    assert text.startswith(
        "rejected: not admitted" if verdict == "not admitted" else "open: certified, admission"
    )
    assert "(degraded, lower: 40 of 45) · attacks: none of 38 attacks could have raised a level" in text


def test_an_admission_of_another_model_or_rubric_does_not_count() -> None:
    table = table_of(*levels_of())
    for old, new in (("gpt-4o", "gpt-5"), ("2.aaaaaaaa", "3.bbbbbbbb"), ("temp:0", "temp:1")):
        other = {judge_key(SIGNATURE.replace(old, new)): vars_of(ADMITTED)}
        assert trust_of([run_of(0)], table, other)[0].admission is None
    renamed = judge_key(SIGNATURE.replace("mine|", "other|").replace("prompt:12345678", "persona:1"))
    assert trust_of([run_of(0)], table, {renamed: vars_of(ADMITTED)})[0].admission == ADMITTED


@pytest.mark.slow
def test_a_store_gives_the_same_and_only_the_judges_of_the_named_scores() -> None:
    with open_store("sqlite://") as store:
        runs = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store).runs
        everything = judge_trust(store, runs)
        assert [item.judge for item in everything] == ["lyric_craft", "persona_generic"]
        assert {item.kind for item in everything} == {"rules"}
        assert everything == trust_of(runs, store.table(runs), {})
        (persona,) = judge_trust(store, runs[-1:], used={"persona/persona_generic.level"})
        assert persona.agreement == everything[1].agreement, "labels of the other runs count too"
        assert [anchor.checkpoint for anchor in persona.anchors] == [runs[-1].checkpoint]
        assert judge_trust(store, runs, used={"lyrics/lyric.total"}) == ()
        key = judge_key(f"x|{next(iter(store.table(runs[-1:]).series)).run_id}")
        store.save_admission(key, "2026-01-01", {"verdict": "admitted"})
        store.save_admission(key, "2026-01-02", {"verdict": "not admitted"})
        store.save_admission(key, "2026-01-02", {"verdict": "inconclusive"})
        assert store.admissions() == {key: {"verdict": "inconclusive"}}


def test_the_line_of_a_panel_says_its_members_and_which_are_untested() -> None:
    other = SIGNATURE.replace("openai/gpt-4o", "openai/other")
    table = ScoreTable()
    outcome = Score(
        name="mine.level",
        value=0.5,
        signature=f"mine|panel:median|quorum:1|[{SIGNATURE}; {other}]|v:1",
        kind="judge",
        scale=Scale(low=0, high=1, levels=LEVELS),
    )
    table.add(
        row_of(run_id="r0", task="t", checkpoint="c0", repeat=1, sample_id="p", cluster="p", outcome=outcome)
    )
    (judge,) = trust_of([run_of(0)], table, {judge_key(SIGNATURE): vars_of(ADMITTED)})
    assert [tuple(member) for member in judge.members] == [
        ("openai/gpt-4o", "admitted"),
        ("openai/other", None),
    ]
    sentence = trust_verdicts([judge])[0].sentence
    assert "panel of openai/gpt-4o (admitted), openai/other (never tested)" in sentence.en
    assert " · to test: hengwen doctor PLAN; " in sentence.en
    assert sentence.zh.startswith("几乎未经检验：评审团：openai/gpt-4o（")
    assert trust_record([judge])[0]["members"][1] == {"name": "openai/other", "verdict": None}


def test_imported_scores_of_a_judge_have_a_line_and_only_labelled_parts_an_agreement(tmp_path) -> None:
    def imported(*, raters: bool):
        rows = ["checkpoint,id,name,rater,score"]
        for i in range(60):
            rows += [f"a,p{i},fluency,,{1 + i % 9}", f"a,p{i},tone,,{1 + i * 7 % 10}"]
            rows += [f"a,p{i},fluency,ann,{1 + i % 9}"] if raters else []
        file = tmp_path / f"{raters}.csv"
        file.write_text("\n".join(rows), encoding="utf-8")
        return import_scores(file, store, judge="gpt-x", scale="1-10").runs

    with open_store(tmp_path / "x.db") as store:
        runs = imported(raters=False)
        (trust,) = judge_trust(store, runs)
        assert (trust.judge, trust.kind, trust.agreement) == ("gpt-x", "imported", None)
        assert line([trust]).startswith(
            "untested: never tested: scores of another tool · admission never tested"
        )
        assert judge_trust(store, runs, used={"scores/gpt-x.tone"}) == (trust,)
        assert judge_trust(store, runs, used={"scores/other.tone"}) == ()
        (trust,) = judge_trust(store, imported(raters=True))
        assert (trust.judge, trust.agreement.n, trust.agreement.kappa.value) == ("gpt-x.fluency", 60, 1.0)
        assert trust.agreement.decision == "certified"
