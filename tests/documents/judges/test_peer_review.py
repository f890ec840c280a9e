from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.documents.blocks import Bar, Details, Document, Table, Verdict
from hengwen.documents.judges.peer_review import peer_review_document
from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.write import to_html
from hengwen.judges.trust.admission_report import AdmissionRecord, judge_key
from hengwen.monitoring.judge_trust import pair_judge_trust
from hengwen.peer_review import Battles, PeerReview, compare_with_human, peer_review
from hengwen.text.language import in_language

ATTACK = "<script>alert(1)</script>|[x](javascript:1)"


@pytest.fixture(scope="module")
def review() -> PeerReview:
    return peer_review(simulated_battles(0, np.array([2.0, 1.0, 0.5]), models=4, questions=20), n_boot=40)


def rank_bars(document: Document) -> list[Bar | None]:
    (table,) = (block for block in document.blocks if isinstance(block, Table))
    at = [column.key for column in table.columns].index("ranks")
    return [row[at].bar for row in table.rows]


def test_names_of_models_and_judges_are_data_in_every_format() -> None:
    battles = Battles.from_columns(
        model_a=[ATTACK, "x"],
        model_b=["x", ATTACK],
        winner=["a", "b"],
        judge=[f"j{ATTACK}"] * 2,
        question=[1, 2],
    )
    document = peer_review_document(peer_review(battles, n_boot=20))
    html = to_html(document, "en")
    assert "<script>alert" not in html
    assert "&lt;script&gt;" in html
    markdown = to_markdown(document, "en")
    assert "<script>" not in markdown
    assert "|[x]" not in markdown.replace("\\|\\[", "")


def test_the_possible_ranks_of_each_model_are_drawn(review: PeerReview) -> None:
    bars = rank_bars(peer_review_document(review))
    assert [(bar.value, bar.interval, bar.limits) for bar in bars if bar] == [
        (model.rank, model.ranks, (1.0, 4.0)) for model in review.models
    ]
    assert not any(bar.reference is not None for bar in bars if bar), "a rank has no limit"


def test_the_title_says_who_may_lead_and_how_many_places_are_settled(review: PeerReview) -> None:
    leaders = [model.name for model in review.models if model.ranks[0] == 1]
    settled = sum(model.ranks[0] == model.ranks[1] for model in review.models)
    title = in_language(peer_review_document(review).blocks[0].title, "en")
    assert title.endswith(f"; {settled} of 4 places are settled.")
    assert all(name in title for name in leaders)


def test_a_ranking_that_nobody_compared_with_people_is_said_to_be_so(review: PeerReview) -> None:
    people = compare_with_human(review, {model.name: -model.rank for model in review.models})
    texts = [to_markdown(peer_review_document(review, human), "en") for human in (None, people)]
    assert ["not compared with one by people" in text for text in texts] == [True, False]


def test_each_judge_has_a_line_with_its_number_of_verdicts(review: PeerReview) -> None:
    judges = [pair_judge_trust({}, judge.name) for judge in review.judges]
    lines = list(filter(is_trust, peer_review_document(review, judges=judges).blocks))
    assert [(line.tone, in_language(line.sentence, "en")) for line in lines] == [
        (
            "untested",
            f"never tested: only its name is known · {judge.verdicts} verdicts · admission "
            "never tested · people: no verdicts (--human compares rankings only) · to test: "
            "hengwen doctor --judge PROVIDER/MODEL",
        )
        for judge in review.judges
    ]


def test_a_judge_admitted_on_single_answers_is_untested_on_pairs(review: PeerReview) -> None:
    signature = "mine|rubric:2.aaaaaaaa|prompt:12345678|lang:zh|openai/m|v:1"
    record = AdmissionRecord(
        verdict="admitted", tested="2026-11-20T08:00:00Z", models=("m",), checks={"repeats": (11, 11)}
    )
    known = {judge_key(signature): asdict(record)}
    judges = [
        pair_judge_trust(known, "j0", task=task, models=["m"], signature=signature) for task in ("a", "b")
    ]
    document = peer_review_document(review, judges=judges)
    (line, _) = filter(is_trust, document.blocks)
    assert (line.tone, in_language(line.sentence, "en")) == (
        "open",
        "admitted on single answers, untested on pairs: model m · admission 2026-11-20: admitted (passed 11 "
        "of 11 trials) · people: no verdicts (--human compares rankings only) · rubric 2.aaaaaaaa",
    )
    trusted: Any = document.record["judge_trust"]
    assert [judge["kind"] for judge in trusted] == ["pairs", "pairs"]


def test_many_judges_are_counted_by_what_is_known_of_them(review: PeerReview) -> None:
    signature = "mine|rubric:2.aaaaaaaa|lang:zh|openai/m|v:1"
    record = AdmissionRecord(verdict="not admitted", tested="", models=("m",), checks={"repeats": (1, 11)})
    known = {judge_key(signature): asdict(record)}
    judges = [pair_judge_trust({}, f"j{i}") for i in range(8)]
    judges.append(pair_judge_trust(known, "x", signature=signature))
    blocks = peer_review_document(review, judges=judges).blocks
    (line,) = filter(is_trust, blocks)
    assert (line.tone, in_language(line.sentence, "en")) == (
        "rejected",
        "of 9, 8 never tested, 1 not admitted.",
    )
    details = next(block for block in blocks if isinstance(block, Details) and "Judges" in str(block.title))
    assert len(list(filter(is_trust, details.blocks))) == 9
    (same,) = filter(is_trust, peer_review_document(review, judges=judges[:8]).blocks)
    assert in_language(same.sentence, "en") == "all 8 never tested."
    assert in_language(same.sentence, "zh") == "共 8 位，均从未检验。"


def is_trust(block: object) -> bool:
    return isinstance(block, Verdict) and in_language(block.subject, "en").lower().startswith("judge")


def test_two_models_of_one_rank_have_bars_too() -> None:
    battles = Battles.from_columns(model_a=["x"], model_b=["y"], winner=["tie"])
    document = peer_review_document(peer_review(battles))
    assert len(rank_bars(document)) == 2
    assert "<svg" in to_html(document, "en")
