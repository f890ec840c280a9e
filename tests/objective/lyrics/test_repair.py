"""Lenient parsing: what models write around lyrics is repaired, and each repair is told."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective import score_lyric
from hengwen.objective.lyrics.repair import repair

TEMPLATE = "(verse)\ncccR\ncccR\n(chorus)\nccccc"
CLEAN = "(verse)\n我在远方\n看见月光\n(chorus)\n风吹过窗台"


MESSES = {
    "brackets": CLEAN.replace("(verse)", "[Verse 1]").replace("(chorus)", "【副歌】"),
    "markdown": CLEAN.replace("(verse)", "**Verse**").replace("(chorus)", "### Chorus"),
    "colons": CLEAN.replace("(verse)", "Verse 1:").replace("(chorus)", "副歌："),
    "fence": f"```text\n{CLEAN}\n```",
    "fence in chatter": f"好的！\n```\n{CLEAN}\n```\n希望你喜欢。",
    "preamble": f"好的，以下是为你写的歌词：\n\n{CLEAN}",
    "title": f"《远方》\n作词：某人\n{CLEAN}",
    "end": f"{CLEAN}\n\n希望你喜欢这首歌！",
    "carriage returns": CLEAN.replace("\n", "\r\n"),
    "blank lines": CLEAN.replace("\n", "\n\n"),
    "punctuation": CLEAN.replace("远方", "远方，").replace("窗台", "窗台。”"),
    "timestamps": CLEAN.replace("我在", "[00:12.34]我在").replace("看见", "[00:15]看见"),
    "lrc": f"[ti:远方]\n[ar:某人]\n{CLEAN}",
    "rules": CLEAN.replace("(chorus)", "---\n(chorus)"),
    "list": CLEAN.replace("我在", "- 我在"),
    "invisible": f"\ufeff{CLEAN}".replace("月光", "月\u200b光"),
    "traditional": CLEAN.replace("我在远方", "我在遠方").replace("风吹过窗台", "風吹過窗臺"),
}


@each_row("mess", MESSES.values())
def test_a_messy_lyric_scores_as_the_clean_one_and_every_repair_is_told(mess: str) -> None:
    score, clean = score_lyric(mess, TEMPLATE, parse="lenient"), score_lyric(CLEAN, TEMPLATE)
    assert score.total == clean.total == 110
    assert score.msstr == clean.msstr
    assert score.repairs


@each_row("rules", ["document", "muchin"])
def test_a_clean_lyric_needs_no_repair(rules: str) -> None:
    score = score_lyric(CLEAN, TEMPLATE, rules=rules, parse="lenient")
    assert score.repairs == ()
    assert score.total == score_lyric(CLEAN, TEMPLATE, rules=rules).total
    assert "|parse:lenient|" in score.signature


def test_exact_parsing_repairs_nothing() -> None:
    score = score_lyric(MESSES["brackets"], TEMPLATE)
    assert (score.repairs, score.p2_1_sr) == ((), 0.0)


def test_repairs_name_the_lines_of_the_text_as_it_came() -> None:
    assert repair("好的：\n\n[Verse 1]\n[00:01.2]月光，远方").repairs == (
        "line 1: dropped '好的：'",
        "line 3: read '[Verse 1]' as (verse)",
        "line 4: dropped the timestamp [00:01.2]",
        "line 4: dropped punctuation ，",
        "dropped a blank line",
    )


def test_repairs_of_the_template_are_told_apart() -> None:
    score = score_lyric(CLEAN, TEMPLATE.replace("(verse)", "[Verse]"), parse="lenient")
    assert score.repairs == ("template, line 1: read '[Verse]' as (verse)",)
    assert score.total == 110


def test_lines_ahead_of_the_tags_stay_where_the_template_asks_for_them() -> None:
    template = f"cccc\n{TEMPLATE}"
    assert score_lyric(f"春夏秋冬\n{CLEAN}", template, parse="lenient").base == 100


def test_a_line_of_the_song_at_its_end_stays() -> None:
    lyric = f"{CLEAN}\n\n希望你明白"
    assert repair(lyric).text == f"{CLEAN}\n希望你明白"


def test_inner_punctuation_becomes_a_space() -> None:
    assert repair("(verse)\n“月亮，升起来。”").text == "(verse)\n月亮 升起来"


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("(verse)[Chorus] 1\n：:，。*`#-月光樂好的希望！《》\r"), max_size=80))
def test_what_was_repaired_is_left_alone(text: str) -> None:
    once = repair(text, keep_ahead=True)
    assert "\n\n" not in once.text
    assert len(repair(once.text, keep_ahead=True).text) <= len(once.text)
