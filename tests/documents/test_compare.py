"""A comparison as a document: what is said of each score, and what limits it, in both languages."""

from __future__ import annotations

import pytest
from printed import printed
from rows import each_row
from score_pairs import comparison, pair

from hengwen.documents.compare.document import compare_document
from hengwen.monitoring.run_comparison import ScorePair

HALF, MORE = [0.125] * 12, [0.75, 0.875] * 6


def words(*pairs: ScorePair, language="en", **fields) -> str:
    return printed(compare_document(comparison(*pairs, **fields)), language)


def row(text: str, address: str) -> list[str]:
    """Return the cells of the first row of a score in a table."""
    return next(line.split() for line in text.splitlines() if line.startswith(f"{address} "))


def test_a_score_has_a_verdict_and_a_row_with_its_numbers() -> None:
    text = words(pair(HALF, MORE), pair(MORE, HALF, family="breakdown", address="t/other"))
    lines = text.splitlines()
    assert lines[:2] == ["compare a → b · 12 common prompts", "b is better than a in s."]
    assert "▲ Better: s 0.12 → 0.81, +0.69 (0 worse, 12 better; p < .001, this pair alone)" in lines
    assert "t/other: worse" not in text
    assert " ".join(row(text, "t/s")) == (
        "t/s 0.12 → 0.81 +0.69 [0.32, 0.86] < .001 0 worse, 12 better ▲ better"
    )
    assert row(text, "t/other")[-2:] == ["▼", "worse"]
    assert "headline scores: 1 test, p corrected by maxT" in text
    assert "the smaller p here counts if the pair was chosen before looking" in text
    assert "breakdowns: 1 test, p corrected by BH" in text


@each_row(
    ("pairs", "title"),
    [
        ((pair(HALF, MORE), pair(MORE, HALF, address="t/z")), "b is worse than a in z, but better in s."),
        ((pair(MORE, HALF), pair(MORE, HALF, address="t/z")), "b is worse than a in s and z."),
        ((pair(HALF, HALF),), "No difference seen between a and b."),
        ((pair([0] * 4, [1] * 4),), "Undecided between a and b: s."),
        (
            (ScorePair(address="t/g", family="headline", problem="group score"),),
            "a and b cannot be compared.",
        ),
        (
            [pair(MORE, HALF, address=f"t/{i}") for i in range(7)],
            "b is worse than a in 0, 1, 2, 3 and 3 more.",
        ),
    ],
)
def test_the_title_says_what_differs(pairs, title: str) -> None:
    assert title in words(*pairs).splitlines()


def test_chinese_has_no_english_sentences() -> None:
    text = words(pair(HALF, HALF), pair(MORE, HALF), language="zh")
    assert "▼ 变差：s" in text
    assert "主要分数：共 2 次检验，p 按 maxT 校正" in text
    assert "可检出的最小差别" in text
    assert "difference" not in text


def test_the_effect_sizes_stand_in_the_details() -> None:
    text = words(pair(MORE, HALF, length_changes=[0.01 * index for index in range(12)]))
    assert "smallest detectable difference" in text
    details = [line for line in text.splitlines() if line.startswith("t/s ")][-1].split()
    assert details[2:5] == ["0/12/0", "−1.00", "0.00"]
    assert details[-1] == "1.06"


def test_weights_are_labelled_as_another_estimand() -> None:
    repeats = (((1, 2), (1, 2)),) * 12
    text = words(pair(HALF, MORE, repeats=repeats, repeat_variance=0.01), weights="precision")
    assert "weighted by precision (another estimand)" in text
    assert "(not corrected)" in text
    text = words(pair(HALF, MORE), weights="precision")
    assert "no weights: prompts have no repeats to average" in text
    assert "weighted" not in words(pair(HALF, MORE))


def test_scores_of_different_prompts_do_not_share_one_number() -> None:
    text = words(pair(HALF, MORE), pair(HALF[:8], MORE[:8], address="u/other"))
    assert text.splitlines()[0] == "compare a → b · 8–12 common prompts a score"


PASSES = [0] * 12, [1] * 11 + [0]
TEN = [0.1] * 10


@each_row(
    ("item", "expected"),
    [
        pytest.param(pair(*PASSES), "McNemar's p (not corrected)", id="passes and failures"),
        pytest.param(pair([0] * 4, [1] * 4), "at least 6 independent prompts are needed", id="few"),
        pytest.param(pair([0] * 4, [1] * 4), "◇ Cannot be told (too few prompts): s", id="few in words"),
        pytest.param(
            pair(HALF, HALF),
            "difference cannot be estimated from these differences",
            id="constant",
        ),
        pytest.param(pair(HALF, HALF), " 1  0 worse, 0 better, 12 equal", id="constant p"),
        pytest.param(
            pair([0] * 60, [1, 1] + [0] * 58),
            "only 2 of 60 prompts have another score: too few to tell",
            id="few changes",
        ),
        pytest.param(
            pair([0] * 60, [1, 1] + [0] * 58),
            "◇ Cannot be told (too few prompts differ): s",
            id="few changes in words",
        ),
        pytest.param(
            pair([0.75] * 12, [1.0] * 7 + [0.75] * 5),
            "most prompts are higher, but the 95% interval of the difference contains 0",
            id="undecided",
        ),
        pytest.param(
            pair(HALF, MORE, coverage=(1.0, 0.5)), "too many missing scores for a verdict", id="missing"
        ),
        pytest.param(
            pair(HALF, MORE, coverage=(1.0, 0.5)),
            "b has a score for 50% of the prompts, 100% of the answers",
            id="prompts",
        ),
        pytest.param(
            pair(HALF, MORE, answer_coverage=(0.9, 1.0)),
            "a has a score for 100% of the prompts, 90% of the answers",
            id="answers",
        ),
        pytest.param(
            pair(HALF, MORE, length_changes=[0.1] * 12),
            "not estimated, all lengths changed by the same ratio",
            id="one ratio",
        ),
        pytest.param(
            pair([0.5] * 8, [0.5] * 8, length_changes=[0.1] * 8),
            "not estimated below 10 independent prompts",
            id="no slope",
        ),
        pytest.param(pair(HALF, MORE, clusters=tuple("aabbccddeeff")), "12 in 6 clusters", id="clusters"),
        pytest.param(
            pair([0.5, 0.25] * 16, [0.25, 0.5] * 16, clusters=tuple("aabbccddeeffgghhiijjkkllmmnnoopp")),
            "smallest detectable difference at least about",
            id="few clusters",
        ),
        pytest.param(pair(HALF, MORE, subsampled=7), "prompts cut to equal repeats", id="unequal repeats"),
        pytest.param(
            ScorePair(address="t/g", family="headline", problem="group score"),
            "one value for a group of answers, none for each prompt",
            id="group",
        ),
        pytest.param(
            ScorePair(address="t/g", family="breakdown", problem="not scored"),
            "in one of the runs no answer has this score",
            id="not scored",
        ),
        pytest.param(
            ScorePair(address="t/g", family="headline", problem="keys", detail="samples differ: x, y"),
            "samples differ: x, y",
            id="conflict",
        ),
    ],
)
def test_what_limits_a_verdict_is_said(item: ScorePair, expected: str) -> None:
    assert expected in words(item)


def test_the_first_screen_says_why_a_score_is_not_comparable() -> None:
    text = words(ScorePair(address="t/g", family="headline", problem="group score"))
    assert "Not comparable (one value for a group of answers, none for each prompt): g" in text


def test_prompts_that_are_left_out_are_counted() -> None:
    assert "1 prompt that differs between the runs is left out" in words(pair(HALF, MORE), left_out_prompts=1)
    text = words(pair(HALF, MORE), left_out_prompts=3, language="zh")
    assert "两次运行中内容不同的 3 个题目已略去" in text


def test_the_rows_have_all_digits() -> None:
    document = compare_document(comparison(pair([0] * 7, [1 / 3] * 7)))
    (line,) = document.blocks[0].scores.lines
    assert line.values["after"] == pytest.approx(1 / 3, rel=1e-15)
    assert (line.values["family"], line.values["verdict"]) == ("headline", "mean undecided")
