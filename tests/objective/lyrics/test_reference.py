"""The scorer against the expected values beside the checkout: every field, both rule sets, to 1e-9."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hengwen.objective import score_lyric

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Find = Callable[[str], Path]

pytestmark = pytest.mark.slow

RULES = ("document", "muchin")
TOLERANCE = 1e-9


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n")]


def numbers(lyric: str, template: str, **options: Any) -> dict[str, Any]:
    actual = score_lyric(lyric, template, **options).as_dict()
    actual["g_msstr"] = actual["msstr"]
    return actual


def differences(actual: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    return [
        name
        for name, value in expected.items()
        if (actual[name] != value if isinstance(value, str) else abs(actual[name] - value) > TOLERANCE)
    ]


@pytest.mark.parametrize("rules", RULES)
def test_every_field_of_the_synthetic_cases_is_met(shared: Find, rules: str) -> None:
    cases = rows(shared("data/lyrics-cases.jsonl"))
    assert len(cases) == 508
    wrong = []
    for case in cases:
        if "error" in case[rules]:
            with pytest.raises(ValueError, match="the template is empty"):
                score_lyric(case["lyric"], case["template"], rules=rules)
            continue
        actual = numbers(case["lyric"], case["template"], rules=rules)
        wrong += [(case["id"], name) for name in differences(actual, case[rules])]
    assert wrong == []


@pytest.mark.parametrize(
    ("column", "options"),
    [
        ("muchin_carry_total", {"rules": "muchin", "carry_phase1": True}),
        ("document_carry_total", {"carry_phase1": True}),
        ("document_strict_total", {"strict_count": True}),
        ("document_whole_total", {"rhyme_scope": "whole"}),
    ],
)
def test_every_total_with_an_option_is_met(shared: Find, column: str, options: dict[str, Any]) -> None:
    cases = [case for case in rows(shared("data/lyrics-cases.jsonl")) if isinstance(case.get(column), float)]
    assert len(cases) > 490
    wrong = [
        case["id"]
        for case in cases
        if abs(score_lyric(case["lyric"], case["template"], **options).total - case[column]) > TOLERANCE
    ]
    assert wrong == []


@pytest.mark.parametrize("rules", RULES)
def test_every_phase_of_the_real_lyrics_is_met(shared: Find, rules: str) -> None:
    lyrics = rows(shared("data/muchin-checkpoints.jsonl"))
    expected = rows(shared("data/muchin-checkpoints-expected.jsonl"))
    assert len(lyrics) == len(expected) == 360
    key = ("id", "checkpoint", "repeat")
    wrong = []
    for lyric, expected_row in zip(lyrics, expected, strict=True):
        assert [lyric[name] for name in key] == [expected_row[name] for name in key]
        actual = numbers(lyric["lyric"], lyric["template"], rules=rules)
        wrong += [(lyric["id"], name) for name in differences(actual, expected_row[rules])]
    assert wrong == []
