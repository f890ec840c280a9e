"""The identity of a score, and the one module that writes it as text."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from rows import each_row

from hengwen import score_id
from hengwen.score_id import ScoreId, renamed, score_ids, scores_of, split_address

SRC = Path(score_id.__file__).parent
PREFIX_OR_SUFFIX = re.compile(
    r"(human|anchor)\.|(human\.)?anchor\.|\.(level|final|published|normalised|checkpoint)"
)
"""Texts that build an address, or find out what it means."""
IN_SOURCE = re.compile(rf"""["'}}]({PREFIX_OR_SUFFIX.pattern})["'{{]""")
"""Such a text as a literal, or as a part of an f-string; other modules need not be parsed."""


def literals(path: Path) -> list[str]:
    """Return the texts in a module that are not docstrings; none if none can be an address."""
    source = path.read_text("utf-8")
    if not IN_SOURCE.search(source):
        return []
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]


def test_only_one_module_builds_an_address_or_takes_one_apart() -> None:
    found = {
        f"{path.relative_to(SRC)}: {text!r}"
        for path in SRC.rglob("*.py")
        if path != Path(score_id.__file__)
        for text in literals(path)
        if PREFIX_OR_SUFFIX.fullmatch(text)
    }
    assert found == set()


@each_row(
    ("names", "evaluator", "parts"),
    [
        (["lyric.total", "lyric.errors"], "", [("lyric", "total"), ("lyric", "errors")]),
        (["distinct_1", "distinct_2"], "", [("", "distinct_1"), ("", "distinct_2")]),
        (["exact"], "", [("exact", "")]),
        (["team.persona"], "team.persona", [("team.persona", "")]),
        (["a.b.level", "a.b.final_at_0.8"], "a.b", [("a.b", "level"), ("a.b", "final_at_0.8")]),
        (["x.a", "y.b"], "x", [("", "x.a"), ("", "y.b")]),
        (["odd.", "odd.a"], "", [("", "odd."), ("", "odd.a")]),
    ],
)
def test_an_identity_gives_back_the_name_of_the_score(
    names: list[str], evaluator: str, parts: list[tuple[str, str]]
) -> None:
    scores = score_ids("t", names, evaluator)
    assert [score[1:3] for score in scores.values()] == parts
    assert [score.base for score in scores.values()] == list(scores) == names


def test_a_role_is_a_prefix_of_the_address_only() -> None:
    score = ScoreId("t", "anchor", "level")
    assert [score.about(role).address for role in ("answer", "human", "anchor", "human anchor")] == [
        "t/anchor.level",
        "t/human.anchor.level",
        "t/anchor.anchor.level",
        "t/human.anchor.anchor.level",
    ]
    assert score.about("task").with_part("final") == ScoreId("t", "anchor", "final")


@each_row("text", ["t", "t/", "/s", ""])
def test_a_text_without_task_or_score_is_no_address(text: str) -> None:
    assert split_address(text) == ("", "")


def test_a_plan_renames_the_first_part_of_all_scores() -> None:
    assert renamed(["lyric.total", "lyric.errors"], "x") == {
        "lyric.total": "x.total",
        "lyric.errors": "x.errors",
    }
    assert renamed(["exact"], "x") == {"exact": "x"}
    assert renamed(["a", "b.c"], "x") == {"a": "x.a", "b.c": "x.b.c"}


def test_the_name_of_a_judge_may_have_dots() -> None:
    class Judge:
        names = ("team.persona.level", "team.persona.tone")

    assert [score.part for score in scores_of(Judge(), "t", is_judge=True).values()] == ["level", "tone"]
