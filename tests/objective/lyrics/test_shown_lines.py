"""What a user reads of a score: the whole explanation, the table, every field of a line, and all reasons."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.objective import LyricRules, score_lyric
from hengwen.objective.lyrics.lines import LineDiagnosis
from hengwen.objective.lyrics.score_lyric import build_table
from hengwen.objective.lyrics.scorer import Lyric
from hengwen.records import Response, Sample

TEMPLATE = "(verse)\ncccR\ncccR\ncccc\n(bridge)\ncc\n(chorus)\ncccR\ncccR"
LYRIC = "(verse)\n我在远方\n看见月\n(outro)\nla\n(chorus)\n你在故乡\n想着天亮\n等雨来"
LINES = """\
#  section             template  lyric  factor  class       rhymes  line
1  (verse)             4 R       4      1.0000  16T 十六唐          我在远方
2  (verse)             4 R       3      0.8571  04J 四皆            看见月
   (verse)             4         -
   (bridge) unmatched  2         -
3  (outro) unmatched   -         0                                  la
4  (chorus)            4 R       4 R    1.0000  16T 十六唐  5       你在故乡
5  (chorus)            4 R       4 R    1.0000  16T 十六唐  4       想着天亮
6  (chorus)            -         3              09K 九开            等雨来"""
SUMS = """\
phase 1      7.5728 = 10 x p1_sr 0.7573 (whole texts)
phase 2.1   21.6667 = 32.5 x p2_1_sr 0.6667 (names of sections)
phase 2.2    9.3333 = 17.5 x am 0.5333 (am = p2_1_sr x p2_2_cr 0.8000; 4 lines matched)
phase 3      9.1429 = 20 x p3_cr 0.8571 x am 0.5333 (product of the factors)
phase 4      7.1111 = 20 x p4_rr 0.6667 x am 0.5333 (2 rhymes found, 4 required)
bonus        0.0000 = 10 x 0.0000 x am 0.5333 (r = 2/4 = 0.5000 is outside the band)"""
CARRIED = """\
phase 1      7.5728 = 10 x p1_sr 0.7573 (whole texts)
phase 2.1   16.4078 = 32.5 x p1_sr 0.7573 x p2_1_sr 0.6667 (names of sections)
phase 2.2    7.0680 = 17.5 x am 0.4039 (am = p1_sr 0.7573 x p2_1_sr x p2_2_cr 0.8000; 4 lines matched)
phase 3      4.0388 = 20 x p3_cr 0.5000 x am 0.4039 (share of exact lines)
phase 4      5.3851 = 20 x p4_rr 0.6667 x am 0.4039 (2 rhymes found, 4 required)
bonus        0.0000 = 10 x 0.0000 x am 0.4039 (r = 2/4 = 0.5000 is outside the band)"""
MUCHIN = """\
phase 1      7.5728 = 10 x p1_sr 0.7573 (whole texts)
phase 2.1   21.6667 = 32.5 x p2_1_sr 0.6667 (names of sections)
phase 2.2    9.3240 = 17.5 x am 0.5328 (am = p2_1_sr x p2_2_cr 0.7992; 4 lines matched)
phase 3      9.1337 = 20 x p3_cr 0.8571 x am 0.5328 (product of the factors)
phase 4      7.1040 = 20 x p4_rr 0.6667 x am 0.5328 (2 rhymes found, 4 required)
bonus        1.7050 = 10 x 0.3200 x am 0.5328 (r = 2/4 = 0.5000 is near the band)"""
REPAIRS = "repair: line 1: dropped '好的'\nrepair: line 2: read '[Verse]' as (verse)"


@each_row(
    ("lyric", "options", "total", "sums"),
    [
        (LYRIC, {}, "54.8268 = base 54.8268 + bonus 0.0000", SUMS),
        (
            LYRIC,
            {"carry_phase1": True, "strict_count": True},
            "40.4725 = base 40.4725 + bonus 0.0000",
            CARRIED,
        ),
        (
            LYRIC,
            {"rules": "muchin"},
            "56.5062 = base 54.8012 + bonus 1.7050",
            MUCHIN,
        ),
        (
            "好的\n" + LYRIC.replace("(verse)", "[Verse]"),
            {"parse": "lenient"},
            "54.8268 = base 54.8268 + bonus 0.0000",
            f"{SUMS}\n{REPAIRS}",
        ),
    ],
    ids=["document", "carried and strict", "muchin", "repaired"],
)
def test_the_explanation_is_complete(lyric: str, options: dict, total: str, sums: str) -> None:
    score = score_lyric(lyric, TEMPLATE, **options)
    assert score.explain() == f"total {total}   {score.signature}\n{LINES}\n{sums}"


@each_row(
    ("rhyming", "lines", "rules", "bonus"),
    [
        (3, 5, {}, "10.0000 = 10 x 1.0000 x am 1.0000 (r = 3/5 = 0.6000 is in the band 0.6 to 0.8)"),
        (4, 5, {}, "10.0000 = 10 x 1.0000 x am 1.0000 (r = 4/5 = 0.8000 is in the band 0.6 to 0.8)"),
        (
            2,
            4,
            {"band_low": 0.5, "band_high": 0.5},
            "10.0000 = 10 x 1.0000 x am 1.0000 (r = 2/4 = 0.5000 is in the band 0.5 to 0.5)",
        ),
        (
            2,
            4,
            {},
            "5.0000 = 10 x 0.5000 x am 1.0000 (r = 2/4 = 0.5000 is outside the band, but every rhyme is on a "
            "line that requires one)",
        ),
        (0, 4, {}, "0.0000 = 10 x 0.0000 x am 1.0000 (r = 0/4 = 0.0000 is outside the band)"),
        (
            0,
            4,
            {"near_bonus": 1.0},
            "0.0000 = 10 x 0.0000 x am 1.0000 (r = 0/4 = 0.0000 is outside the band)",
        ),
    ],
)
def test_the_explanation_gives_the_reason_of_the_bonus(
    rhyming: int, lines: int, rules: dict, bonus: str
) -> None:
    template = "\n".join(["(verse)", *["cR"] * rhyming, *["cc"] * (lines - rhyming)])
    lyric = "\n".join(["(verse)", *["月光"] * rhyming, "风起", "听歌", "大山", "看海"][: lines + 1])
    text = score_lyric(lyric, template, rules=LyricRules(**rules)).explain()
    assert text.splitlines()[-1].split(maxsplit=1) == ["bonus", bonus]


def test_a_line_has_every_field_of_template_and_lyric() -> None:
    rows = score_lyric("(verse)\n 我在远方！ \n(end)\n天亮\n远方", "(verse)\n cccR \n(end)\nccR\ncR").lines
    assert rows == (
        LineDiagnosis(
            section="(verse)",
            section_number=1,
            matched=True,
            template="cccR",
            lyric="cccc！",
            source="我在远方！",
            number=1,
            template_count=4,
            lyric_count=4,
            factor=1.0,
            code="16T",
            template_rhymes=True,
            lyric_rhymes=False,
            group=(1,),
        ),
        LineDiagnosis(
            section="(end)",
            section_number=2,
            matched=True,
            template="ccR",
            lyric="cR",
            source="天亮",
            number=2,
            template_count=3,
            lyric_count=2,
            factor=4 / 5,
            code="16T",
            template_rhymes=True,
            lyric_rhymes=True,
            group=(2, 3),
        ),
        LineDiagnosis(
            section="(end)",
            section_number=2,
            matched=True,
            template="cR",
            lyric="cR",
            source="远方",
            number=3,
            template_count=2,
            lyric_count=2,
            factor=1.0,
            code="16T",
            template_rhymes=True,
            lyric_rhymes=True,
            group=(2, 3),
        ),
    )


def test_a_missing_line_leaves_the_fields_of_its_side_empty() -> None:
    template_only, lyric_only = score_lyric("(end)\n月", "(verse)\ncR").lines
    empty = {"matched": False, "factor": None, "group": (), "number": None, "code": "", "source": ""}
    assert template_only == LineDiagnosis(
        section="(verse)",
        section_number=1,
        template="cR",
        lyric=None,
        template_count=2,
        lyric_count=None,
        template_rhymes=True,
        lyric_rhymes=False,
        **empty,
    )
    assert lyric_only == LineDiagnosis(
        section="(end)",
        section_number=2,
        template=None,
        lyric="c",
        template_count=None,
        lyric_count=1,
        template_rhymes=False,
        lyric_rhymes=False,
        **empty | {"number": 1, "code": "04J", "source": "月", "group": (1,)},
    )


@each_row("rules", ["document", "muchin"])
@each_row("line", ["月光", "月 光!", "光", "la", "la月la" * 30, "月" * 101, "月" * 100])
def test_a_line_keeps_its_source_under_both_rule_sets(rules: str, line: str) -> None:
    (row,) = score_lyric(f"(verse)\n{line}", "(verse)\ncR", rules=rules).lines
    assert row.source == line
    assert row.code == {"光": "16T", "月": "04J"}.get(line.strip("!la")[-1:], "")


def test_sections_are_aligned_under_the_junk_heuristic_of_the_rules() -> None:
    tags = "\n".join(f"({'ab'[number % 2]})\nc" for number in range(220))
    lyric = tags.replace("c", "月")
    muchin = score_lyric(lyric, f"(x)\nc\n{tags}", rules="muchin")
    document = score_lyric(lyric, f"(x)\nc\n{tags}")
    assert sum(row.matched for row in muchin.lines) == muchin.lines_min
    assert sum(row.matched for row in document.lines) == document.lines_min == 220


def test_the_table_aligns_numbers_to_the_right_and_dims_unmatched_lines() -> None:
    table = build_table(score_lyric(LYRIC, TEMPLATE))
    assert table.title == "54.83 = 54.83 + 0.00"
    assert [(column.header, column.justify) for column in table.columns] == [
        ("#", "right"),
        ("section", "left"),
        ("template", "left"),
        ("lyric", "left"),
        ("factor", "right"),
        ("class", "left"),
        ("rhymes", "left"),
        ("line", "left"),
    ]
    assert [row.style for row in table.rows] == [None, None, None, "dim", "dim", None, None, None]
    assert [str(cell) for cell in table.columns[7].cells][-1] == "等雨来"


REASONS = {
    "lyric.total": "base 54.83 + bonus 0.00; sections 0.667, lines 0.800, characters 0.857, "
    "2 rhymes found, 4 required",
    "lyric.base": "sum of the phases without the bonus",
    "lyric.bonus": "2 rhymes on 4 matched lines",
    "lyric.phase1": "similarity of the whole texts 0.757",
    "lyric.phase2_1": "similarity of the sections 0.667",
    "lyric.phase2_2": "sections 0.667, lines 0.800, 4 lines matched",
    "lyric.phase3": "characters 0.857; sections 0.667, lines 0.800",
    "lyric.phase4": "2 rhymes found, 4 required; sections 0.667, lines 0.800",
}
SAMPLE = Sample(id="1", metadata={"template": TEMPLATE})


def test_each_score_has_its_own_reason() -> None:
    scores = Lyric().score(SAMPLE, Response(sample_id="1", text=LYRIC))
    assert {score.name: score.reason for score in scores} == REASONS
    assert [bool(score.details) for score in scores] == [True] + [False] * 7
    assert "repairs" not in scores[0].details


def test_repairs_are_counted_in_the_reason_and_listed_in_the_details() -> None:
    text = "好的\n" + LYRIC.replace("(verse)", "[Verse]")
    total = Lyric(parse="lenient").score(SAMPLE, Response(sample_id="1", text=text))[0]
    assert total.reason == f"{REASONS['lyric.total']}; 2 repairs"
    assert total.details["repairs"] == ["line 1: dropped '好的'", "line 2: read '[Verse]' as (verse)"]


def test_a_phase_without_weight_has_the_scale_of_a_share() -> None:
    scorer = Lyric(rules={"overall": 0.0, "structure": 0.6, "full": 50, "bonus": 5})
    scores = scorer.score(SAMPLE, Response(sample_id="1", text=LYRIC))
    assert [(score.scale.low, score.scale.high) for score in scores] == [
        (0, 55),
        (0, 50),
        (0, 5),
        (0, 1),
        (0, pytest.approx(19.5)),
        (0, pytest.approx(10.5)),
        (0, 10),
        (0, 10),
    ]
