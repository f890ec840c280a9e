"""The grammar of gates: what it means, what it refuses and where."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rows import each_row

from hengwen.errors import ConfigError
from hengwen.plans.gates import (
    FUNCTIONS,
    GateSpec,
    NoDropTerm,
    NonInferiorTerm,
    Term,
    ThresholdTerm,
    check_addresses,
    matching,
    parse_gate,
)

KNOWN = ["lyrics/lyric.total", "lyrics/lyric.rhyme", "live/muice_live.level"]


def only(text: str) -> Term:
    (term,) = parse_gate(text).terms
    return term


@each_row(
    ("text", "measure", "address", "operator", "threshold"),
    [
        ("lyrics/lyric.total >= 75", "score", "lyrics/lyric.total", ">=", 75),
        ("a/b<-.5", "score", "a/b", "<", -0.5),
        ("a/b > 1e-3", "score", "a/b", ">", 0.001),
        ("coverage( a/b )<=1.", "coverage", "a/b", "<=", 1),
        ("calibration(a/b) >= 0.4", "calibration", "a/b", ">=", 0.4),
        ("评测/打分.总分 >= 0.6", "score", "评测/打分.总分", ">=", 0.6),
    ],
)
def test_a_threshold_has_a_measure_an_address_and_a_number(
    text: str, measure: str, address: str, operator: str, threshold: float
) -> None:
    term = only(text)
    assert isinstance(term, ThresholdTerm)
    assert (term.measure, term.address, term.operator, term.threshold) == (
        *(measure, address, operator, threshold),
    )


def test_noninferior_has_a_baseline_and_a_margin() -> None:
    term = only("noninferior(lyrics/lyric.total, ckpt1001, 2.0)")
    assert isinstance(term, NonInferiorTerm)
    assert (term.address, term.baseline, term.margin) == ("lyrics/lyric.total", "ckpt1001", 2.0)


@each_row(
    ("text", "pattern", "baseline"),
    [
        ("no_drop(lyrics/*)", "lyrics/*", "baseline"),
        ("no_drop(*, git:origin/main~2)", "*", "git:origin/main~2"),
        ("no_drop(a/b,20260301-101500-14326c)", "a/b", "20260301-101500-14326c"),
        ("no_drop(a/b, 1000)", "a/b", "1000"),
    ],
)
def test_no_drop_has_a_pattern_and_may_name_a_baseline(text: str, pattern: str, baseline: str) -> None:
    term = only(text)
    assert isinstance(term, NoDropTerm)
    assert (term.pattern, term.baseline) == (pattern, baseline)


def test_terms_are_joined_by_and_and_keep_their_text() -> None:
    gate = parse_gate("a/b  >= 0.6 and coverage(a/b)  >= 0.95\n and no_drop(a/*)")
    assert [term.text for term in gate.terms] == ["a/b >= 0.6", "coverage(a/b) >= 0.95", "no_drop(a/*)"]
    assert gate.expression == "a/b >= 0.6 and coverage(a/b) >= 0.95 and no_drop(a/*)"


WRONG = [
    ("", 1, "expected a score (TASK/SCORE) or a function"),
    ("   ", 1, "expected a score (TASK/SCORE) or a function"),
    ("coverge(a/b) >= 1", 1, "unknown function 'coverge'; did you mean 'coverage'?"),
    ("total >= 1", 1, "expected a score (TASK/SCORE), got 'total'"),
    ("a/b", 4, "expected one of >= > <= <"),
    ("a/b == 1", 5, "expected one of >= > <= <, got '=='"),
    ("a/b => 1", 5, "expected one of >= > <= <, got '='"),
    ("a/b >= ", 7, "expected a number"),
    ("a/b >= high", 8, "expected a number, got 'high'"),
    ("a/b >= 60%", 8, "expected a number, got '60%'; write 0.6"),
    ("a/b >= nan", 8, "expected a number, got 'nan'"),
    ("a/b >= 1e999", 8, "expected a number, got '1e999'"),
    ("a/b >= 1 or a/c >= 1", 10, "terms are joined by 'and'; alternatives are not possible"),
    ("a/b >= 1 AND a/c >= 1", 10, "terms are joined by 'and'; alternatives are not possible"),
    ("a/b >= 1 a/c >= 1", 10, "expected 'and' or the end of the gate, got 'a/c'"),
    ("a/b >= 1 and", 13, "expected a score (TASK/SCORE) or a function"),
    ("a/* >= 1", 1, "expected one score, got the pattern 'a/*'; patterns are for no_drop"),
    ("no_drop(a/?*)", 9, "a pattern has no other wildcard than *, got 'a/?*'"),
    ("no_drop(total)", 9, "expected a score (TASK/SCORE), got 'total'"),
    ("no_drop(a/b", 12, "expected ',' or ')'"),
    ("no_drop(a/b, )", 14, "expected a baseline: a run, a checkpoint or git:REF, got ')'"),
    ("no_drop >= 1", 1, "'no_drop' is a function: write no_drop(...)"),
    ("coverage(a/b) >= 95", 18, "a coverage lies in 0..1, got 95"),
    ("calibration(a/b) >= 2", 21, "an agreement (kappa) lies in -1..1, got 2"),
    ("noninferior(a/b, c)", 19, "expected ',' and a margin, got ')'"),
    ("noninferior(a/b, c, 0)", 21, "the margin must be above 0, got 0"),
    ("a/b ≥ 1", 5, "write '>=' instead of '≥'"),
    ("no_drop（a/b）", 8, "write '(' instead of '（'"),
    ("__import__('os').system('x') >= 1", 1, "unknown function '__import__'"),
]


@each_row(("text", "column", "message"), WRONG, ids=[text for text, _, _ in WRONG])
def test_an_error_names_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_gate(text)
    assert str(error.value).startswith(f"column {column} of {text!r}: {message}")


@pytest.mark.slow
@given(
    st.text(max_size=60) | st.lists(st.sampled_from([*FUNCTIONS, *"(),<>=*/ 1a", "and", "a/b"])).map("".join)
)
@example("\x00")
@example("a/b >= 1" + " and a/b >= 1" * 500)
def test_any_text_is_a_gate_or_an_error_with_a_column_in_it(text: str) -> None:
    try:
        gate = parse_gate(text)
    except ConfigError as error:
        column = int(re.match(r"column (\d+) of ", str(error))[1])
        assert 1 <= column <= len(text) + 1
    else:
        assert gate.terms
        assert parse_gate(gate.expression).terms[0].text == gate.terms[0].text


NAMES = st.from_regex(r"[a-z_.\-\u4e00-\u4e20]{1,8}", fullmatch=True)
ADDRESSES = st.tuples(NAMES, NAMES).map("/".join)
NUMBERS = st.floats(0.01, 1, allow_nan=False).map(str)
TERMS = st.one_of(
    st.builds("{} {} {}".format, ADDRESSES, st.sampled_from([">=", ">", "<=", "<"]), NUMBERS),
    st.builds("coverage({}) >= {}".format, ADDRESSES, NUMBERS),
    st.builds("noninferior({}, {}, {})".format, ADDRESSES, NAMES, NUMBERS),
    st.builds("no_drop({}, {})".format, ADDRESSES, NAMES),
)


@pytest.mark.slow
@given(st.lists(TERMS, min_size=1, max_size=4))
def test_every_gate_of_the_grammar_is_parsed_into_its_terms(terms: list[str]) -> None:
    assert [term.text for term in parse_gate(" and ".join(terms)).terms] == terms


def test_a_gate_in_yaml_is_a_text_or_a_mapping_with_a_tier() -> None:
    assert GateSpec.model_validate("a/b >= 1").parsed == parse_gate("a/b >= 1")
    assert GateSpec.model_validate({"gate": "a/b >= 1", "tier": "warn"}).parsed.tier == "warn"


def check(text: str) -> None:
    check_addresses(parse_gate(text), KNOWN, "the plan")


def test_known_scores_and_patterns_are_accepted() -> None:
    check("lyrics/lyric.total >= 1 and coverage(live/muice_live.level) >= 0.9 and no_drop(*/lyric.*)")


@each_row(
    ("text", "message"),
    [
        (
            "coverage(lyrics/lyric.totl) >= 1",
            "column 10 of 'coverage(lyrics/lyric.totl) >= 1': the plan has no score 'lyrics/lyric.totl'; did "
            "you mean 'lyrics/lyric.total'?",
        ),
        ("no_drop(lyric/*)", "column 9 of 'no_drop(lyric/*)': no score of the plan matches 'lyric/*'"),
    ],
)
def test_unknown_scores_are_refused_with_the_nearest_name(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        check(text)
    assert str(error.value).startswith(message)


def test_a_star_stands_for_any_text() -> None:
    assert matching("*lyric.*", KNOWN) == KNOWN[:2]
    assert matching("*", KNOWN) == KNOWN
    assert matching("lyrics/lyric.total", KNOWN) == KNOWN[:1]
