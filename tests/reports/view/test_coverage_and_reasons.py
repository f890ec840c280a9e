"""Coverage of prompts, reasons of failures and who judged: the same in every format."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from hengwen.cli.ui.tables import print_view
from hengwen.records import Failure, Row, Run, Score
from hengwen.reports import build_view
from hengwen.reports.render.write import render
from hengwen.reports.view.failures import failure_lines, failure_rows
from hengwen.reports.view.models import ReportData
from hengwen.results.score_table import ScoreTable

RUN = Run(id="r", plan="p", plan_hash="", checkpoint="c")
RULES = {"model": "rules", "clauses": {}}


def row(prompt: int, repeat: int, outcome: Score | Failure) -> Row:
    name = f"p{prompt}"
    return Row(
        run_id="r", task="t", checkpoint="c", sample_id=name, repeat=repeat, cluster=name, outcome=outcome
    )


def score(name: str, signature: str = "s|v:1", kind: str = "judge", **details: object) -> Score:
    return Score(name=name, value=0.5, signature=signature, kind=kind, details=details)


def view_of(*rows: Row, samples: int | None = None):
    table = ScoreTable(rows)
    if samples is not None:
        table.set_sample_count("r", "t", samples)
    return build_view(ReportData(plan="p", runs=(RUN,), table=table, language="en"))


def terminal(view) -> str:
    text = io.StringIO()
    print_view(view, Console(file=text, width=200, highlight=False))
    return text.getvalue()


def formats(view) -> dict[str, str]:
    return {"terminal": terminal(view), "md": render(view, "md"), "html": render(view, "html")}


@pytest.fixture
def half_answered():
    """Of 40 prompts 20 have three answers, the others none."""
    message = "there is no stored answer\nto this \x1b[31msample"
    return view_of(
        *(row(prompt, repeat, score("a.x")) for prompt in range(20) for repeat in (1, 2, 3)),
        *(
            row(
                prompt,
                1,
                Failure(name="a.x", status="missing", message=message, signature="s|v:1", kind="judge"),
            )
            for prompt in range(20, 40)
        ),
    )


def test_every_format_shows_prompts_and_answers_with_their_coverage(half_answered) -> None:
    for text in formats(half_answered).values():
        assert "20/40 prompts (50%) · 60 answers (75%)" in text
    cell = json.loads(render(half_answered, "json"))["runs"][0]["scores"]["t/a.x"]
    assert (cell["prompts"], cell["prompts_expected"], cell["prompt_coverage"]) == (20, 40, 0.5)
    assert (cell["n"], cell["coverage"]) == (60, 0.75)


def test_a_run_under_a_limit_says_how_many_prompts_of_the_task_it_covers() -> None:
    view = view_of(*(row(prompt, 1, score("a.x")) for prompt in range(5)), samples=100)
    for text in formats(view).values():
        assert "5/100 prompts (5%) · 5 answers" in text
    assert 'title="5 of 100 prompts, 5 answers; interval' in render(view, "html")


def test_a_complete_cell_needs_no_percentages() -> None:
    view = view_of(*(row(prompt, 1, score("a.x")) for prompt in range(5)), samples=5)
    for text in formats(view).values():
        assert "5 prompts · 5 answers" in text


def test_every_format_gives_each_status_with_its_first_reason(half_answered) -> None:
    texts = formats(half_answered)
    reason = "there is no stored answer to this sample"
    assert f"failed: 20 missing: {reason}" in texts["terminal"]
    assert "20 missing | there is no stored answer to this sample |" in texts["md"]
    assert f'20 missing</td><td class="why">{reason}</td>' in texts["html"]
    assert f'title="20 missing (first: {reason})"' in texts["html"]
    cell = json.loads(render(half_answered, "json"))["runs"][0]["scores"]["t/a.x"]
    assert cell["first_messages"] == {"missing": reason}


def test_a_long_reason_is_cut() -> None:
    view = view_of(
        row(1, 1, Failure(name="a.x", status="timeout", message="late " * 10**5, signature="s|v:1"))
    )
    (failure,) = failure_rows(view)
    assert len(failure.message) == 160
    assert failure.message.endswith("…")


def test_scores_that_fail_together_are_one_row() -> None:
    failures = [
        row(prompt, 1, Failure(name=name, status="timeout", message="late", signature="s|v:1"))
        for prompt in range(3)
        for name in ("j.level", "j.tone", "j.form")
    ]
    view = view_of(*failures)
    (failure,) = failure_rows(view)
    assert failure.addresses == ("t/j.level", "t/j.tone", "t/j.form")
    assert (failure.failed, failure.counts) == (3, "0/3 prompts (0%) · 0 answers (0%)")
    assert failure_lines(view) == ["9 timeout: late"]
    assert "t/j.level (+2)" in render(view, "md")


def test_more_kinds_of_failures_than_lines_are_counted() -> None:
    names = ("timeout", "refused", "truncated")
    view = view_of(
        *(
            row(prompt, 1, Failure(name="a.x", status=status, message="", signature="s|v:1"))
            for status, count in zip(names, (3, 2, 1), strict=True)
            for prompt in range(count)
        )
    )
    assert failure_lines(view, 2) == ["3 timeout", "2 refused", "1 more of 1 other kinds"]


def test_a_rules_judge_is_named_by_what_it_is_in_notes_and_summary() -> None:
    view = view_of(
        row(1, 1, score("lyric.total", "lyric|rules:document|v:1", "scorer")),
        row(1, 1, score("gpt.level", "gpt|rubric:1.16ea716d|rules:8e24b1b2|openai/m|v:1", model="m")),
        row(1, 1, score("base.level", "base|v:1", **RULES)),
        row(1, 1, score("base.final", "base.final|caps:[]|[base|v:1]|v:1")),
    )
    noted = {score.name for score in view.scores if score.notes}
    assert noted == {"base.level", "base.final"}
    assert set(view.notes) == {"base|v:1", "base.final|caps:[]|[base|v:1]|v:1"}
    named = {
        finding.address
        for finding in view.findings
        if "judged by rules, not by a language model" in finding.en and "由规则评审给出" in finding.zh
    }
    assert named == {"t/base.final"}
