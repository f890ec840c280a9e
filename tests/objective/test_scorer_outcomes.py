"""Every field of the outcomes of the scorers that plans name, on sets small enough to check by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rows import each_row

from hengwen import registry
from hengwen.records import Response, Sample, Scale, Score

SAMPLE = Sample(id="1", references=("今晚月色很美",))
ANSWER = Response(sample_id="1", text="今晚月色真美")
SET = [
    (
        Sample(id=str(number), references=(f"今晚月色很美{number}",), cluster="ab"[number // 2]),
        Response(sample_id=str(number), text=f"今晚月色真美{number % 2}"),
    )
    for number in range(4)
]
"""28 characters; two answers differ from their reference in one character, two in two."""
SHARE, PERCENT = Scale(low=0, high=1), Scale(low=0, high=100)
LOW_SHARE = Scale(low=0, high=1, higher_is_better=False)
REPEATED = Scale(low=0, high=1, higher_is_better=False, discrete=True)
TER = Scale(low=0, high=1e6, higher_is_better=False)
BLEU_SIGNATURE = "bleu|width:keep|nrefs:1|case:mixed|eff:{}|tok:zh|smooth:exp|v:1"
CHRF_SIGNATURE = "chrf|width:keep|beta:2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|v:1"
TER_SIGNATURE = "ter|split:tercom|width:keep|nrefs:1|case:lc|tok:tercom|norm:yes|punct:yes|asian:yes|v:1"


def without_versions(signature: str) -> str:
    return re.sub(r"\|(version|sacrebleu|zlib):[\d.]+", "", signature)


def fields(score: Score) -> tuple[Any, ...]:
    details = {
        name: without_versions(value) if name == "signature" else value
        for name, value in score.details.items()
    }
    return score.name, score.value, without_versions(score.signature), score.scale, score.reason, details


@each_row(
    ("name", "options", "expected"),
    [
        (
            "bleu",
            {},
            [
                (
                    "bleu.sentence",
                    pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4)),
                    "bleu|width:keep|case:mixed|eff:yes|tok:auto|smooth:exp|v:1",
                    PERCENT,
                    "",
                    {
                        "tokenizer": "zh",
                        "precisions": pytest.approx([500 / 6, 60, 50, 100 / 3]),
                        "brevity_penalty": 1.0,
                        "signature": BLEU_SIGNATURE.format("yes"),
                    },
                )
            ],
        ),
        (
            "chrf",
            {},
            [
                (
                    "chrf.sentence",
                    pytest.approx(100 * (5 / 6 + 3 / 5 + 2 / 4 + 1 / 3) / 6),
                    "chrf|width:keep|beta:2|case:mixed|nc:6|nw:0|v:1",
                    PERCENT,
                    "",
                    {"signature": CHRF_SIGNATURE},
                )
            ],
        ),
        (
            "ter",
            {},
            [
                (
                    "ter.sentence",
                    pytest.approx(100 / 6),
                    "ter|split:auto|width:keep|case:lc|v:1",
                    TER,
                    "",
                    {"edits": 1, "tokenizer": "tercom", "signature": TER_SIGNATURE},
                )
            ],
        ),
        (
            "rouge",
            {},
            [
                (
                    f"rouge_l.{part}",
                    pytest.approx(5 / 6),
                    "rouge|kind:rougeL|tok:mixed|beta:1|refs:best|stem:no|width:keep|v:1",
                    SHARE,
                    "",
                    {},
                )
                for part in ("f", "precision", "recall")
            ],
        ),
        (
            "repetition",
            {"n": 1},
            [("repetition_1.share", 0.0, "repetition|n:1|tok:mixed|v:1", LOW_SHARE, "", {})],
        ),
        (
            "type_token_ratio",
            {},
            [("type_token_ratio.share", 1.0, "type_token_ratio|window:whole|tok:mixed|v:1", SHARE, "", {})],
        ),
    ],
)
def test_a_scorer_of_answers_fills_every_field(name: str, options: dict, expected: list) -> None:
    scores = registry.build("scorers", name, options).score(SAMPLE, ANSWER)
    assert [fields(score) for score in scores] == expected


NEAR = [
    {"answer": "1#1", "of": "0#1", "similarity": pytest.approx(6 / 7)},
    {"answer": "2#1", "of": "0#1", "similarity": 1.0},
    {"answer": "3#1", "of": "0#1", "similarity": pytest.approx(6 / 7)},
]
NEAR_SHARES = {"0.8": 0.75, "0.85": 0.75, "0.9": 0.5}


@each_row(
    ("name", "options", "expected"),
    [
        (
            "near_duplicates",
            {},
            (
                "near_duplicates.repeats",
                0.75,
                "near_duplicates|at:0.85|scope:repeats|v:1",
                REPEATED,
                "3 of 4 answers repeat an earlier one",
                {"n": 4, "duplicates": NEAR, "shares": NEAR_SHARES, "review": []},
            ),
        ),
        (
            "near_duplicates",
            {"scope": "checkpoint"},
            (
                "near_duplicates.checkpoint",
                0.75,
                "near_duplicates|at:0.85|scope:checkpoint|v:1",
                REPEATED,
                "3 of 4 answers repeat an earlier one",
                {"n": 4, "duplicates": NEAR, "shares": NEAR_SHARES},
            ),
        ),
        (
            "near_duplicates",
            {"threshold": 0.9},
            (
                "near_duplicates.repeats",
                0.5,
                "near_duplicates|at:0.9|scope:repeats|v:1",
                REPEATED,
                "2 of 4 answers repeat an earlier one",
                {
                    "n": 4,
                    "duplicates": [NEAR[1], NEAR[2] | {"of": "1#1", "similarity": 1.0}],
                    "shares": NEAR_SHARES,
                    "review": [NEAR[0]],
                },
            ),
        ),
        (
            "near_duplicates",
            {"threshold": 0.7},
            (
                "near_duplicates.repeats",
                0.75,
                "near_duplicates|at:0.7|scope:repeats|v:1",
                REPEATED,
                "3 of 4 answers repeat an earlier one",
                {"n": 4, "duplicates": NEAR, "shares": NEAR_SHARES},
            ),
        ),
        (
            "distinct_n",
            {},
            (
                "distinct_2.checkpoint",
                pytest.approx(7 / 24),
                "distinct_n|n:2|scope:checkpoint|tok:mixed|v:2",
                SHARE,
                "",
                {},
            ),
        ),
        (
            "self_bleu",
            {},
            (
                "self_bleu.repeats",
                pytest.approx(100),
                "self_bleu|scope:repeats|width:keep|case:mixed|eff:yes|tok:auto|smooth:exp|v:1",
                Scale(low=0, high=100, higher_is_better=False),
                "",
                {"n": 4},
            ),
        ),
    ],
)
def test_a_scorer_of_sets_fills_every_field(name: str, options: dict, expected: tuple) -> None:
    (score,) = registry.build("scorers", name, options).score_set(SET)
    assert fields(score) == expected


@each_row(
    ("name", "scope", "message"),
    [
        ("self_bleu", "repeats", "self-BLEU compares answers with each other, and there is only one"),
        ("self_bleu", "checkpoint", "self-BLEU compares answers with each other, and there is only one"),
        ("near_duplicates", "repeats", "near duplicates are pairs of answers, and there is only one answer"),
    ],
)
def test_a_comparison_of_answers_does_not_apply_to_one_answer(name: str, scope: str, message: str) -> None:
    scorer = registry.build("scorers", name, {"scope": scope})
    (failure,) = scorer.score_set(SET[:1])
    assert (failure.name, failure.status, failure.message, failure.signature) == (
        f"{name}.{scope}",
        "not_applicable",
        message,
        scorer.signature,
    )


CORPUS: dict[str, tuple] = {
    "bleu": (
        pytest.approx(100 * (22 / 28 * 14 / 24 * 8 / 20 * 4 / 16) ** (1 / 4)),
        "bleu.corpus|width:keep|case:mixed|eff:no|tok:auto|smooth:exp|v:1",
        BLEU_SIGNATURE.format("no"),
        PERCENT,
        "zh",
        {
            "precisions": pytest.approx([2200 / 28, 1400 / 24, 40, 25]),
            "brevity_penalty": 1.0,
            "hypothesis_length": 28,
            "reference_length": 28,
        },
    ),
    "chrf": (
        pytest.approx(100 * (22 / 28 + 14 / 24 + 8 / 20 + 4 / 16) / 6),
        "chrf.corpus|width:keep|beta:2|case:mixed|nc:6|nw:0|v:1",
        CHRF_SIGNATURE,
        PERCENT,
        "character n-grams",
        {},
    ),
    "ter": (
        pytest.approx(600 / 28),
        "ter.corpus|split:auto|width:keep|case:lc|v:1",
        TER_SIGNATURE,
        TER,
        "tercom",
        {"edits": 6, "reference_length": 28},
    ),
}


@pytest.mark.parametrize(
    ("text", "value", "kind", "of", "reason"),
    [
        ("我想吃鱼", 1.0, "exact", 1, "exact, closest to answer 2 of the corpus"),
        ("我想吃鱼呀！", 1.0, "particle_only", 1, "particle_only, closest to answer 2 of the corpus"),
        ("天上有一只大鸟飞过去", 0.0, "none", None, "no answer of the corpus shares a 5-gram"),
    ],
)
def test_a_score_of_leakage_fills_every_field(
    tmp_path: Path, text: str, value: float, kind: str, of: int | None, reason: str
) -> None:
    (tmp_path / "train.txt").write_text("晚上好呀，今天的月亮很圆呢\n我想吃鱼", "utf-8")
    scorer = registry.build("scorers", "leakage", {"corpus": str(tmp_path / "train.txt")})
    (score,) = scorer.score(SAMPLE, Response(sample_id="1", text=text))
    assert (score.name, score.value, score.scale) == ("leakage.containment", value, LOW_SHARE)
    assert (score.reason, score.details) == (reason, {"kind": kind, "of": of})
