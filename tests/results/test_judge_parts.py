"""Parts of a comparability key that depend on the judge: its endpoints, and versions where rules decide."""

from __future__ import annotations

from rows import each_row
from score_rows import score_of

from hengwen.results.comparability import _judge_parts

VERSIONS = {"jieba": "1", "numpy": "2"}
ENDPOINT = {"endpoint": "x + y"}


@each_row(
    ("name", "rules", "parts"),
    [
        ("craft.level", True, ENDPOINT),
        ("craft.final", True, ENDPOINT | VERSIONS),
        ("craft.published", True, ENDPOINT | VERSIONS),
        ("craft.normalised", True, ENDPOINT | VERSIONS),
        ("craft.final", False, ENDPOINT),
        ("final.level", True, ENDPOINT),
    ],
)
def test_versions_count_for_scores_that_rules_decide(name: str, rules: bool, parts: dict[str, str]) -> None:
    assert _judge_parts(score_of(name), {"endpoints": ["x", "y"], "rules": rules}, VERSIONS) == parts


@each_row("judge", [{}, {"endpoints": []}, {"endpoints": [], "rules": True}])
def test_a_judge_without_endpoints_depends_on_the_versions(judge: dict) -> None:
    assert _judge_parts("craft.level", judge, VERSIONS) == VERSIONS
