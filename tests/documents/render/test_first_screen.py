"""The blocks of first screens in every face: the decision, the table of scores, bars and courses."""

import io
import re

import pytest
from rich.console import Console
from rows import each_row

from hengwen.documents.blocks import (
    Bar,
    Decision,
    Document,
    Link,
    Point,
    ScoreLine,
    Scores,
    Sentence,
    Series,
    Verdict,
)
from hengwen.documents.cells import bar_limits
from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.svg import BAR_WIDTH, draw_bar, draw_course
from hengwen.documents.render.terminal import to_terminal
from hengwen.documents.render.words import to_rows
from hengwen.documents.render.write import to_html
from hengwen.text.language import Bilingual

MEANS = (0.61, 0.77, 0.76, 0.28)


def course(means=MEANS, marks=("", "best", "", "newest")) -> Series:
    return Series(
        name="",
        points=tuple(
            Point(
                x=1000 * i,
                label=f"step-{i}",
                value=mean,
                text=f"{mean:.2f}",
                interval=(mean - 0.1, mean + 0.1),
                mark=mark,
            )
            for i, (mean, mark) in enumerate(zip(means, marks, strict=True))
        ),
    )


def score_line(**settings) -> ScoreLine:
    values = {
        "key": "score-voice",
        "name": Bilingual("语气", "Voice"),
        "address": "persona/voice.level",
        "course": course(),
        "before": "0.77",
        "after": "0.28",
        "before_name": "step-1",
        "after_name": "step-3",
        "bar": Bar(value=-0.49, interval=(-0.66, -0.2), family_interval=(-0.68, -0.16), limits=(-0.8, 0.8)),
        "difference": "−0.49 [−0.66, −0.20]",
        "p": "p < .001",
        "prompts": Bilingual("12 题", "12 prompts"),
        "tone": "worse",
        "word": Bilingual("下降", "fallen"),
        "values": {"before": 0.7708, "after": 0.2812},
        "details": ("of one family of 24 tests",),
    }
    return ScoreLine(**(values | settings))


def document(**settings) -> Document:
    decision = Decision(
        title=Bilingual("暂留 step-1", "Keep step-1."),
        bullets=(
            Verdict(
                tone="worse",
                subject=Bilingual("下降", "Fell"),
                sentence=Bilingual("语气（12 题变差）", "voice (12 prompts worse)"),
                link=Link(text=Bilingual("12 题变差", "12 prompts worse"), target="worse"),
            ),
        ),
        scores=Scores(key="scores", lines=(score_line(**settings),), legend=("left is worse",)),
        judges=(Verdict(tone="rejected", subject="judge voice", sentence="not admitted"),),
        details=(Sentence(text="how it was tested"),),
    )
    return Document(kind="run", title="demo", blocks=(decision,))


def test_a_page_opens_with_the_decision_and_links_its_numbers() -> None:
    page = to_html(document(), "en")

    assert re.findall("<h1>(.*?)</h1>", page) == ['Keep <span class="nowrap">step-1</span>.']
    assert 'voice (<a href="#worse">12 prompts worse</a>)' in page
    assert '<tr id="score-voice">' in page
    assert "How" not in page.split("</h1>")[0]


def test_a_link_whose_words_are_not_in_the_sentence_stands_behind_it() -> None:
    verdict = Verdict(tone="worse", sentence="it fell", link=Link(text="see <why>", target="worse"))

    page = to_html(Document(kind="run", title="t", blocks=(verdict,)), "en")

    assert 'it fell <a href="#worse">see &lt;why&gt;</a>' in page


def test_markdown_and_terminal_show_the_title_the_line_and_the_judge() -> None:
    file = io.StringIO()
    to_terminal(document(), Console(width=120, file=file), "en", verbose=True)

    for text in (to_markdown(document(), "en").replace("\\", ""), file.getvalue()):
        for words in (
            "Keep step-1.",
            "0.77 step-1 → 0.28 step-3",
            "▼ fallen",
            "✕",
            "of one family",
            "how it was",
        ):
            assert words in text


def test_the_statistics_are_folded_in_a_terminal() -> None:
    file = io.StringIO()
    to_terminal(document(), Console(width=120, file=file), "en")

    assert "how it was tested" not in file.getvalue()
    assert "The statistics behind these sentences" in file.getvalue()


def test_rows_hold_the_values_unrounded() -> None:
    columns, rows = to_rows(document(), "en")

    record = dict(zip(columns, rows[0], strict=True))
    assert record["score"] == "persona/voice.level"
    assert (record["before"], record["after"], record["difference"]) == (0.7708, 0.2812, -0.49)
    assert (record["difference_low"], record["difference_high"]) == (-0.66, -0.2)


def positions(svg: str) -> list[float]:
    return [float(x) for x in re.findall(r'(?:M|H|cx=")([\d.]+)', svg)]


@each_row("lower_is_better", [False, True])
def test_left_of_zero_is_worse_also_where_lower_is_better(lower_is_better: bool) -> None:
    sign = -1 if lower_is_better else 1
    bar = Bar(
        value=sign * -0.4,
        interval=(-0.6, -0.2) if sign > 0 else (0.2, 0.6),
        limits=(-0.8, 0.8),
        lower_is_better=lower_is_better,
    )

    svg = str(draw_bar(bar, "worse", "worse"))

    middle, *drawn = positions(svg)
    assert middle == BAR_WIDTH / 2
    assert drawn
    assert all(x < middle for x in drawn)
    assert (">−0.8<" in svg.split("middle")[0]) is not lower_is_better


def test_an_unbounded_interval_is_drawn_to_the_ends_of_the_axis() -> None:
    bar = Bar(
        value=0.1, interval=(-0.1, 0.3), family_interval=(float("-inf"), float("inf")), limits=(-0.3, 0.3)
    )

    assert 'class="thin" d="M8 18H216"' in str(draw_bar(bar, "none", "none"))


def test_a_corrected_interval_is_drawn_only_where_it_is_longer() -> None:
    equal, longer = (
        Bar(value=0.1, interval=(-0.1, 0.2), family_interval=family, limits=(-0.3, 0.3))
        for family in ((-0.1, 0.2), (-0.2, 0.2))
    )
    assert ["thin" in str(draw_bar(bar, "none", "none")) for bar in (equal, longer)] == [False, True]


@each_row(
    ("values", "end"),
    [((0.49, (-0.68, 0.16)), 0.8), ((17.3, (12.0, 22.6)), 30), ((0.0, None), 1), ((1e-7,), 1e-7)],
)
def test_the_axis_of_differences_ends_at_a_round_number(values, end: float) -> None:
    low, high = bar_limits(*values)

    assert high == pytest.approx(end)
    assert low == -high


def test_a_course_marks_the_best_seen_and_the_newest_and_prints_the_range_of_the_intervals() -> None:
    svg = str(draw_course(score_line(), "en"))

    assert re.findall('class="tick"[^>]*>([^<]*)<', svg) == ["0.87", "0.18"]
    assert svg.count('class="best"') == svg.count('class="newest"') == 1
    assert re.findall('class="value[^>]*>([^<]*)<', svg) == ["0.77", "0.28"]


def test_a_best_seen_that_is_the_newest_is_a_circle_in_a_diamond() -> None:
    means = course(marks=("", "", "", "best and newest"))

    svg = str(draw_course(score_line(course=means), "en"))

    assert svg.count('class="best"') == svg.count('class="newest"') == 1


def test_a_course_leaves_a_gap_where_the_settings_changed() -> None:
    points = [*course().points]
    changed = Point(x=2000, label="s", value=0.7, text="0.70", is_connected=False)

    broken = Series(name="", points=(*points[:2], changed, points[3]))
    svg = str(draw_course(score_line(course=broken), "en"))

    assert re.search('class="line" d="(.*?)"', svg)[1].count("M") == 2


def test_a_course_without_values_draws_nothing() -> None:
    points = (Point(x=0, label="a", value=None),)

    assert draw_course(score_line(course=Series(name="", points=points)), "en") == ""
