from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.errors import ConfigError
from hengwen.peer_review import Battles, PeerReview, compare_with_human, peer_review, write_review
from hengwen.peer_review.report.rank_bars import rank_bars
from hengwen.peer_review.report.tables import judge_rows, model_rows

ATTACK = "<script>alert(1)</script>|[x](javascript:1)"


@pytest.fixture(scope="module")
def review() -> PeerReview:
    return peer_review(simulated_battles(0, np.array([2.0, 1.0, 0.5]), models=4, questions=20), n_boot=40)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_format_has_the_same_cells_and_notes(review: PeerReview, tmp_path: Path, language: str) -> None:
    human = compare_with_human(review, {f"m0{n}": -n for n in range(4)})
    pages = {}
    for suffix in ("html", "md", "json"):
        path = write_review(review, tmp_path / f"r.{suffix}", human=human, language=language, failures=3)
        pages[suffix] = path.read_text("utf-8")
    for row in [*model_rows(review), *judge_rows(review)]:
        for cell in row:
            assert f">{cell}<" in pages["html"]
            assert f" {cell} |".replace("[", "\\[").replace("]", "\\]") in pages["md"]
    for note in review.notes:
        text = note.zh if language == "zh" else note.en
        assert text in pages["html"]
        assert text.split("(")[0] in pages["md"]
    for page in (pages["html"], pages["md"]):
        assert re.search(r"Spearman \d\.\d{3}", page)
        assert re.search(r"failed: 3|判定：3 次", page)
    document = json.loads(pages["json"])
    assert [model["name"] for model in document["models"]] == [model.name for model in review.models]
    assert (document["failures"], document["human"]["ranking"]["n"]) == (3, 4)


def test_names_of_models_and_judges_are_data_in_every_format(tmp_path: Path) -> None:
    battles = Battles.from_columns(
        model_a=[ATTACK, "x"],
        model_b=["x", ATTACK],
        winner=["a", "b"],
        judge=[f"j{ATTACK}"] * 2,
        question=[1, 2],
    )
    hostile = peer_review(battles, n_boot=20)
    html = write_review(hostile, tmp_path / "r.html", language="en").read_text("utf-8")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    markdown = write_review(hostile, tmp_path / "r.md", language="en").read_text("utf-8")
    assert "<script>" not in markdown
    assert "|[x]" not in markdown.replace("\\|\\[", "")


def test_a_bar_goes_from_the_best_to_the_worst_possible_rank(review: PeerReview) -> None:
    bars = rank_bars(review)
    assert len(bars) == len(review.models)
    for model, bar in zip(review.models, bars, strict=True):
        assert f'aria-label="{model.ranks[0]}–{model.ranks[1]}"' in bar
        low, high = (f"{6 + (rank - 1) / 3 * 148:.1f}" for rank in model.ranks)
        assert f'x1="{low}" x2="{high}"' in bar


def test_a_single_ranked_position_has_a_bar_too() -> None:
    battles = Battles.from_columns(model_a=["x"], model_b=["y"], winner=["tie"])
    assert len(rank_bars(peer_review(battles))) == 2


def test_an_unknown_suffix_or_language_is_named(review: PeerReview, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown format of report"):
        write_review(review, tmp_path / "r.pdf")
    with pytest.raises(ValueError, match="language"):
        write_review(review, tmp_path / "r.md", language="fr")
