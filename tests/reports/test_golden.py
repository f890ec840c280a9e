"""The fixed report in all formats: against golden files, and against each other."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from hengwen.reports import build_view, to_json
from hengwen.reports.render.write import render
from hengwen.text.numbers import interval, number, percent

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def golden(name, text):
    """The golden text; written first where HENGWEN_GOLDEN=write."""
    path = GOLDEN / name
    if os.environ.get("HENGWEN_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("format", ["html", "md"])
def test_the_text_is_the_golden_text(data, format, language):  # noqa: A002
    text = render(build_view(replace(data, language=language)), format)
    assert text == golden(f"report.{language}.{format}", text)


@pytest.mark.parametrize("format", ["html", "md"])
def test_a_report_is_in_one_language(table_of, format):  # noqa: A002
    data = table_of({"a": [1.0, None], "b": [0.5, 0.25]})
    english = render(build_view(replace(data, language="en")), format)
    assert not re.findall(
        r"[\u4e00-\u9fff]", english.replace('<div class="seal" aria-hidden="true">衡文</div>', "")
    )
    chinese = render(build_view(replace(data, language="zh")), format)
    for phrase in ("prompts", "answers", "checkpoints", "failed", "better", "How to read"):
        assert phrase not in re.sub(r"<style>.*?</style>|class=\"[^\"]*\"", "", chinese, flags=re.DOTALL)


def rounded(value):
    """The value with its floats to 9 digits: the last bits may differ between machines."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def test_the_json_is_the_golden_json(data):
    text = render(build_view(data), "json")
    assert rounded(json.loads(text)) == rounded(json.loads(golden("report.json", text)))


def test_all_formats_show_the_same_numbers(data):
    view = build_view(data)
    report = to_json(view)
    html, markdown = html_rows(render(view, "html")), markdown_rows(render(view, "md"))
    checked = 0
    for score in view.scores:
        expected = []
        for run in report["runs"]:
            cell = run["scores"][score.address]
            ci = [interval(tuple(cell["ci"]), score.decimals)] if cell["ci"] else []
            expected.append([number(cell["mean"], score.decimals), *ci, counts_of(cell)])
        assert html[score.name] == expected
        assert markdown[score.name] == expected
        checked += len(expected)
    assert checked == 28


def counts_of(cell):
    """The numbers of prompts and answers in a JSON cell, as the tables show them."""
    if not cell["prompts"] and cell["n"]:
        return f"n {cell['n']}"
    partly = cell["prompt_coverage"] not in (None, 1)
    prompts = f"{cell['prompts']}/{cell['prompts_expected']}" if partly else f"{cell['prompts']}"
    prompt_share = f" ({percent(cell['prompt_coverage'])})" if partly else ""
    answer_share = f" ({percent(cell['coverage'])})" if cell["coverage"] not in (None, 1) else ""
    nouns = (
        "prompt" if cell["prompts"] == 1 and not partly else "prompts",
        "answer" if cell["n"] == 1 else "answers",
    )
    return f"{prompts} {nouns[0]}{prompt_share} · {cell['n']} {nouns[1]}{answer_share}"


def html_rows(text):
    """Name -> for each checkpoint [mean, interval, counts], as the score tables show them."""
    rows = {}
    pattern = r'<th scope="row"><span class="name">(.*?)</span>(.*?)</tr>'
    for name, body in re.findall(pattern, text, re.DOTALL):
        cells = re.findall(r"<td class=\"num\">(.*?)</td>", body, re.DOTALL)
        rows[unescape(name)] = [
            re.findall(r"class=\"cell-(?:mean|ci)\">([^<]*)<|interval: \w+\">([^<]*)<", cell)
            for cell in cells
        ]
    return {name: [[a or b for a, b in cell] for cell in cells] for name, cells in rows.items()}


def markdown_rows(text):
    """The same from the Markdown tables."""
    rows = {}
    for line in text.splitlines():
        match = re.match(r"\| (\S+) \((?:scorer|judge|human)\) \|[^|]*\|(.*)\|$", line)
        if match:
            cells = match[2].replace("\\[", "[").replace("\\]", "]").split("|")
            rows[match[1].replace("\\_", "_")] = [
                [
                    a or b or c
                    for a, b, c in re.findall(
                        r"\*\*(.*?)\*\*|(\[.*?\])|((?:n \d|\d+(?:/\d+)? prompt)[^<]*?)(?=<| $)", cell
                    )
                ]
                for cell in cells
            ]
    return rows


def test_the_course_is_the_same_in_all_formats(data):
    view = build_view(data)
    html, markdown = render(view, "html"), render(view, "md").replace("\\_", "_")
    total = to_json(view)["sequences"]["lyrics/lyric.total"]
    pen = number(total["pen"], 3)
    assert f"| lyric.total | 65.0 → 77.0 | +12.0 | {pen} | 1 / 6 | 3 / 4 | 2 | too short |" in markdown
    row = re.search(r"<code>lyric\.total</code></th>(.*?)</tr>", html, re.DOTALL)
    assert row is not None
    assert re.findall(r'num">(.*?)<', row[1]) == ["65.0 → 77.0", "+12.0", pen, "1 / 6", "3 / 4", "2"]
    assert html.count("signatures differ: v:1 (base, sft); v:2 (rl, rl-long)") == 2
    assert markdown.count("signatures differ: v:1 (base, sft); v:2 (rl, rl-long)") == 2
