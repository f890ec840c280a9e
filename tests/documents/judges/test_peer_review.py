from __future__ import annotations

import numpy as np
import pytest
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.documents.blocks import Chart, Details, Document
from hengwen.documents.judges.peer_review import peer_review_document
from hengwen.documents.render.html import to_html
from hengwen.documents.render.markdown import to_markdown
from hengwen.peer_review import Battles, PeerReview, peer_review

ATTACK = "<script>alert(1)</script>|[x](javascript:1)"


@pytest.fixture(scope="module")
def review() -> PeerReview:
    return peer_review(simulated_battles(0, np.array([2.0, 1.0, 0.5]), models=4, questions=20), n_boot=40)


def chart(document: Document) -> Chart:
    (details,) = (block for block in document.blocks if isinstance(block, Details))
    (block,) = details.blocks
    assert isinstance(block, Chart)
    return block


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


def test_the_chart_goes_from_the_best_to_the_worst_possible_rank(review: PeerReview) -> None:
    ranks = chart(peer_review_document(review))
    assert ranks.limits == (1.0, 4.0)
    (series,) = ranks.series
    assert [(point.label, point.value, point.interval) for point in series.points] == [
        (model.name, model.rank, model.ranks) for model in review.models
    ]
    assert not any(point.is_connected for point in series.points), "models are no course"


def test_two_models_of_one_rank_have_a_chart_too() -> None:
    battles = Battles.from_columns(model_a=["x"], model_b=["y"], winner=["tie"])
    document = peer_review_document(peer_review(battles))
    assert len(chart(document).series[0].points) == 2
    assert "<svg" in to_html(document, "en")
