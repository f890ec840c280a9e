"""The lyric scorer on cases small enough to check by hand."""

from __future__ import annotations

import math
import pickle

import pytest
from rows import each_row

from hengwen.objective import LyricRules, score_lyric

FOUR = "(verse)\ncccR\ncccR\ncccR\ncccR"
PERFECT = "(verse)\n我在远方\n看见月光\n你在故乡\n想着天亮"


def sized(counts: str) -> str:
    """Return sections a, b, ... with so many lines each."""
    return "\n".join(
        "\n".join([f"({chr(97 + index)})", *["cc"] * int(count)]) for index, count in enumerate(counts)
    )


@each_row(
    ("counts", "expected"),
    [("3323", 22 / 24), ("3393", 26 / 31), ("3343", 1.0)],
    ids=["fewer", "more", "same"],
)
def test_lines_are_compared_as_in_the_published_examples(counts: str, expected: float) -> None:
    score = score_lyric(sized(counts), sized("3343"))
    assert score.p2_2_cr == pytest.approx(expected, abs=1e-12)
    assert score.p2_1_sr == 1.0


def test_the_published_examples_round_to_the_published_figures() -> None:
    ratios = [score_lyric(sized(counts), sized("3343")).p2_2_cr for counts in ("3323", "3393")]
    assert [round(ratio, 4) for ratio in ratios] == [0.9167, 0.8387]


def test_four_perfect_lines_get_half_the_bonus() -> None:
    score = score_lyric(PERFECT, FOUR)
    assert (score.base, score.bonus, score.total) == (100.0, 5.0, 105.0)


def test_the_program_gives_four_perfect_lines_seven_tenths_of_the_bonus() -> None:
    score = score_lyric(PERFECT, FOUR, rules="muchin")
    share = 8 / 8.01
    assert score.total == pytest.approx(10 + 32.5 + (17.5 + 20 + 20 + 7) * share, abs=1e-12)


@each_row("rules", ["document", "muchin"])
def test_an_empty_lyric_scores_nothing(rules: str) -> None:
    score = score_lyric("", FOUR, rules=rules)
    assert (score.total, score.lines_min) == (0.0, 0)


def test_an_empty_template_is_an_error_in_the_document_rules_only() -> None:
    with pytest.raises(ValueError, match="the template is empty"):
        score_lyric(PERFECT, " \n")
    assert score_lyric("", "", rules="muchin").total == 42.5


def test_a_tag_whose_capital_has_two_letters_is_one_symbol() -> None:
    score = score_lyric("(ßa)\n月光\n(verse)\n月光", "(ßa)\ncc\n(verse)\ncc", rules="muchin")
    assert (score.p2_1_sr, score.lines_min) == (1.0, 2)


def test_blank_opposite_blank_is_alike_where_the_program_divides_by_zero() -> None:
    score = score_lyric("(verse)\n你和我\n\n我和你", "(verse)\nccc\n\nccc", rules="muchin")
    assert (score.p3_cr, score.lines_min) == (1.0, 3)


def test_carrying_phase_1_weighs_on_all_later_phases() -> None:
    lyric = PERFECT.replace("看见月光", "月光")
    free, carried = score_lyric(lyric, FOUR), score_lyric(lyric, FOUR, carry_phase1=True)
    assert carried.phase1 == free.phase1
    assert carried.phase2_1 == pytest.approx(free.phase2_1 * free.p1_sr)
    assert carried.total < free.total


def test_strict_counting_is_the_share_of_lines_met_exactly() -> None:
    lyric = "(verse)\n我在远方\n看见月光亮\n你在故乡\n想天亮"
    assert score_lyric(lyric, FOUR, strict_count=True).p3_cr == 0.5
    assert score_lyric(lyric, FOUR).p3_cr == pytest.approx((8 / 9) * (6 / 7))


def test_rhymes_of_the_whole_text_count_where_the_scope_is_whole() -> None:
    lyric = f"{PERFECT}\n(bridge)\n朋友\n以后"
    assert (score_lyric(lyric, FOUR).rc_ing, score_lyric(lyric, FOUR, rhyme_scope="whole").rc_ing) == (4, 6)


def test_r_of_the_whole_is_by_matched_lines() -> None:
    lyric = f"{PERFECT}\n(bridge)\n朋友\n以后"
    assert score_lyric(lyric, FOUR, rhyme_scope="whole").r_ratio == 1.5


def test_an_inline_tag_is_text_in_the_document_rules_and_splits_in_the_program() -> None:
    lyric = "(verse)\n我在远方(oh)看见月光"
    assert score_lyric(lyric, FOUR).msstr == "(verse)\ncccc(oh)cccc"
    assert score_lyric(lyric, FOUR, rules="muchin").p2_1_sr == pytest.approx(2 / 3)


def test_weights_of_ones_own_move_the_phases() -> None:
    rules = LyricRules(overall=0.3, structure=0.3)
    score = score_lyric(PERFECT, FOUR, rules=rules)
    assert (score.phase1, score.phase2_1 + score.phase2_2) == (30.0, pytest.approx(30.0))
    assert score.signature.startswith("lyric|rules:document(overall=0.3,structure=0.3)|")


@each_row(
    ("options", "message"),
    [
        ({"rules": "strict"}, "rules must be one of document, muchin or a LyricRules, got 'strict'"),
        ({"rhyme_scope": "all"}, "rhyme_scope must be matched or whole, got 'all'"),
        ({"parse": "loose"}, "parse must be exact or lenient, got 'loose'"),
        ({"rules": "muchin", "strict_count": True}, "strict_count does not exist in the rules 'muchin'"),
        ({"rules": "muchin", "rhyme_scope": "whole"}, "rhyme_scope 'whole' does not exist"),
    ],
)
def test_a_bad_option_is_named_with_what_is_allowed(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_lyric(PERFECT, FOUR, **options)


def test_a_text_that_is_no_string_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="the lyric must be a string, got NoneType"):
        score_lyric(None, FOUR)
    with pytest.raises(ValueError, match="carry_phase1 must be true or false, got 'yes'"):
        score_lyric(PERFECT, FOUR, carry_phase1="yes")


def test_the_parts_add_up_to_the_total() -> None:
    score = score_lyric("(verse)\n我在远方\n看见风\n\n(chorus)\noh", FOUR)
    assert math.isclose(score.base + score.bonus, score.total)
    assert score.as_dict()["total"] == score.total


LONG_ONES = {
    "digits before a letter in a tag": f"({'1' * 100_000}a)",
    "one line": "(verse)\n" + "春夏秋冬" * 25_000,
    "one line that ends in a word": "(verse)\n" + "春夏秋冬" * 25_000 + "音乐",
    "open brackets": "(a" * 50_000,
    "blank lines": "\n" * 100_000 + "月",
    "Han and Latin in turn": "月a" * 50_000,
    "5000 lines": "(verse)\n" + "月光洒在窗台\n远方\n" * 2_500,
    "2000 sections": "(verse)\n月光\n(chorus)\n远方来\n" * 1_000,
    "asterisks": "*" * 100_000,
}


@pytest.mark.slow
@each_row("name", LONG_ONES)
@each_row("options", [{}, {"rules": "muchin"}, {"parse": "lenient"}])
def test_long_texts_are_scored_and_not_cached(name: str, options: dict[str, str]) -> None:
    score = score_lyric(LONG_ONES[name], FOUR, **options)
    assert 0 <= score.total <= 110


def test_a_long_lyric_against_a_long_template_is_scored() -> None:
    lyric = "(verse)\n月光洒在窗台\n远方\n(chorus)\n海浪\n" * 1_000
    template = "(verse)\ncccccR\nccc\n(chorus)\ncR\n" * 1_100
    assert 40 < score_lyric(lyric, template).total < 60


def test_readable_names_give_the_published_numbers() -> None:
    score = score_lyric("(verse)\n我在远方\n看见月光\n你在风里\n想着天亮", FOUR)
    assert (score.rhymes_required, score.rhymes_found, score.rhymes_aligned) == (4, 3, 3)
    assert (score.rc_ino, score.rc_ing, score.pll_rc) == (4, 3, 3)
    assert score.structure_ratio == score.acmp_sr == 1.0


def test_the_total_is_the_correctly_rounded_sum_of_the_phases() -> None:
    score = score_lyric("(verse)\n我在远方\n看见风\n\n(chorus)\noh", FOUR)
    phases = (score.phase1, score.phase2_1, score.phase2_2, score.phase3, score.phase4, score.extra)
    assert score.total == math.fsum(phases)


def test_a_pickled_score_is_equal_and_explains_itself_without_its_parsed_texts() -> None:
    score = score_lyric(PERFECT, FOUR)
    unpickled = pickle.loads(pickle.dumps(score))
    assert unpickled == score
    assert (unpickled.parsed, unpickled.lines, unpickled.explain()) == (None, score.lines, score.explain())
    assert "parsed" not in repr(score)
