"""The faces of a report: text from outside changes no structure, and a poor report is a whole page."""

from __future__ import annotations

import re

import pytest

from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.write import to_html
from hengwen.documents.run.document import run_document

HOSTILE = (
    "</pre></td></script><script>alert(1)</script><img src=x onerror=alert(1)>"
    "'\"&amp;]]>--><!--{{7*7}}{% x %}|*_`[x](y)"
)


def page(data, language="en") -> str:
    packaged = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)
    return packaged.sub("", to_html(run_document(data), language))


def test_hostile_text_changes_no_tag_of_the_page(make):
    def tags(data):
        return re.findall(r"<(?!wbr>)[/\w]+", page(data))  # an address may break after its dots

    assert tags(make(HOSTILE, text=HOSTILE)) == tags(make("!", text="!"))


def test_the_answer_is_shown_as_it_was_written(make):
    assert "<pre>  第一行\n\t&lt;b&gt;</pre>" in page(make(text="  第一行\n\t<b>"))


def test_each_headline_score_of_several_checkpoints_has_a_chart(data, table_of):
    course = page(data).split('id="course"')[1].split("</section>")[0]
    assert course.count('<svg class="chart"') == 3
    assert page(table_of({"a": [1.0, 2.0]})).count('<svg class="chart"') == 0


def test_a_significant_change_for_the_worse_is_marked_in_table_and_chart(table_of):
    better, worse = [1.0] * 8, [0.5] * 8
    marked = page(table_of({"a": better, "b": worse}))
    assert marked.count('class="num worse"') == 1
    assert marked.count('class="point worse"') == 2  # on the first screen and in its chart
    assert 'worse"' not in page(table_of({"a": worse, "b": better}))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({}, "There are no runs.", id="no-runs"),
        pytest.param({"a": []}, "No scores, so nothing to decide.", id="no-rows"),
        pytest.param({"a": [None, None]}, "no answer has a score", id="all-failed"),
        pytest.param({"a": [1.0]}, "1 prompt · 1 answer", id="one-prompt"),
    ],
)
def test_a_poor_report_says_what_it_lacks(table_of, values, message):
    assert message in page(table_of(values))
    assert message in to_markdown(run_document(table_of(values)), "en")
    assert not re.search(r"\bnan\b", page(table_of(values)).lower())


def test_a_single_checkpoint_has_its_mean_with_its_interval_and_no_column_of_comparisons(table_of):
    document = run_document(table_of({"only": [0.1, 0.2, 0.3, 0.4]}))
    (line,) = document.blocks[0].scores.lines
    assert line.after.startswith("0.25 [")
    head = re.search("<thead>.*</thead>", to_html(document, "en"))[0]
    assert re.findall("<th[^>]*>([^<]+)", head) == ["score", "mean", "verdict"]


def test_a_single_checkpoint_has_no_trajectory(table_of):
    assert "Trajectory over the checkpoints" not in page(table_of({"a": [1.0, 2.0]}))
    assert "Trajectory over the checkpoints" in page(table_of({"a": [1.0], "b": [2.0]}))


def test_anchors_and_humans_have_their_tables(data):
    text = to_markdown(run_document(data), "en")
    assert "**Anchors**" in text
    human = text.split("**Judge versus humans**")[1].split("**")[0]
    assert r"| lyric\_craft.level<br>judge · 0–1 | human.lyric\_craft.level<br>human · 0–1 |" in human


def test_a_score_whose_settings_changed_says_why_it_is_not_compared(data):
    reason = "signatures differ: v:1 (base, sft); v:2 (rl, rl-long)"
    assert page(data).count(f"distinct_n.distinct_2 is not compared: {reason}") == 1
