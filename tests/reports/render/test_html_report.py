"""The HTML page: self-contained, escaped, readable where there is little to show."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.records import Usage
from hengwen.reports import build_view, to_html
from hengwen.reports.view.models import ReportData
from hengwen.results.score_table import ScoreTable

VOID = {"meta", "link", "br", "line", "circle", "path"}
HOSTILE = (
    "</pre></td></script><script>alert(1)</script><img src=x onerror=alert(1)>"
    "'\"&amp;]]>--><!--{{7*7}}{% x %}"
)


class Skeleton(HTMLParser):
    """Start tags with the names of their attributes; checks that what opens is closed."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(sorted(name for name, _ in attrs))))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, tuple(sorted(name for name, _ in attrs))))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def skeleton(text):
    parser = Skeleton()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(HOSTILE, id="markup"),
        pytest.param("\x1b[31mred\x1b]0;title\x07\x00", id="terminal"),
        pytest.param("\u202egnp.exe\u2066", id="bidi"),
        pytest.param("|*_`[x](y)", id="markdown"),
        pytest.param("x" * 5000, id="long-line"),
        pytest.param("\ud800\uffff", id="not-for-utf8"),
    ],
)
def test_hostile_text_changes_no_tag_of_the_page(make, hostile):
    plain = skeleton(to_html(build_view(make("!", text="!"))))
    page = to_html(build_view(make(hostile, text=hostile)))
    assert skeleton(page).tags == plain.tags
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)
    page.encode("utf-8")


@given(st.text(st.sampled_from("<>&'\"{}%#-/=!|`\\ \n\ta词\x1b\u202e"), min_size=1, max_size=40))
@settings(deadline=None, max_examples=25)
def test_no_text_changes_the_tags(text):
    def page(part):
        return to_html(build_view(ReportData(plan=part, runs=(), table=ScoreTable(), warnings=(part,))))

    assert skeleton(page(text)).tags == skeleton(page("plain")).tags


def test_the_answer_is_shown_as_it_was_written(make):
    page = skeleton(to_html(build_view(make(text=f"  第一行\n\t{HOSTILE}"))))
    assert f"  第一行\n\t{HOSTILE}" in "".join(page.text)


def test_the_page_loads_nothing(data):
    page = to_html(build_view(data))
    assert not re.search(r"https?://|//\w|url\(|@import|<script|<link|<img|<iframe|\son\w+=", page)
    assert "default-src 'none'" in page


@pytest.mark.parametrize(("language", "tag", "heading"), [("zh", "zh-Hans", "概要"), ("en", "en", "Summary")])
def test_the_page_names_its_language(data, language, tag, heading):
    page = to_html(build_view(replace(data, language=language)))
    assert f'<html lang="{tag}">' in page
    assert f"<h2>{heading}</h2>" in page


def test_each_headline_has_a_chart_with_a_name(data):
    page = to_html(build_view(data))
    assert page.count("<svg") == 3
    assert re.findall(r'<title id="c\d-t">(.*?)</title>', page) == [
        "lyrics/lyric.total: mean at each checkpoint",
        "lyrics/distinct_n.distinct_2: mean at each checkpoint",
        "lyrics/lyric_craft.level: mean at each checkpoint",
    ]
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_rules_judge_is_called_a_baseline_beside_its_scores_and_signature(data):
    assert to_html(build_view(data)).count("A baseline, not a language model") == 3


def test_failures_are_flagged_and_listed_by_status(data):
    page = to_html(build_view(data))
    assert 'title="1 parse_error (first: no level in the reply)">failed 1' in page
    assert '<td class="flag">1 parse_error</td><td class="why">no level in the reply</td>' in page


def test_a_significant_change_for_the_worse_is_marked_in_table_and_chart(table_of):
    better, worse = [1.0] * 8, [0.5] * 8
    marked = to_html(build_view(table_of({"a": better, "b": worse})))
    assert marked.count("significantly worse than an earlier checkpoint") == 1
    assert marked.count('class="point flagged"') == 1
    assert "flagged" not in re.sub(
        r"<style>.*</style>", "", to_html(build_view(table_of({"a": worse, "b": better}))), flags=re.DOTALL
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({}, "There are no runs.", id="no-runs"),
        pytest.param({"a": []}, "There are no scores.", id="no-rows"),
        pytest.param({"a": [None, None]}, "no answer has a score", id="all-failed"),
        pytest.param({"a": [1.0]}, "1 prompt · 1 answer", id="one-prompt"),
    ],
)
def test_a_poor_report_is_a_whole_page(table_of, values, message):
    page = to_html(build_view(table_of(values)))
    assert message in page
    assert "nan" not in re.sub(r"<style>.*</style>", "", page, flags=re.DOTALL).lower()
    skeleton(page)


def test_an_empty_answer_says_that_it_is_empty(make):
    assert "(empty)</pre>" in to_html(build_view(make(text="")))


def test_a_single_checkpoint_has_no_trajectory(table_of):
    assert "Trajectory over the checkpoints" not in to_html(build_view(table_of({"a": [1.0, 2.0]})))
    assert "Trajectory over the checkpoints" in to_html(build_view(table_of({"a": [1.0], "b": [2.0]})))


def test_usage_is_counted_by_role(data):
    page = to_html(build_view(data))
    assert '<td class="num">1,234</td><td class="num">56,789</td>' in page
    assert data.usage["judge"] == Usage(calls=1234, input_tokens=56789, output_tokens=10)
