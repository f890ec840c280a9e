"""Coverage of prompts, reasons of failures and who judged: the same in every face."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rows import each_row
from score_rows import row_of

from hengwen.documents.blocks import AnswerFilter, Details, Sentence, Table
from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.terminal import to_terminal
from hengwen.documents.render.words import to_rows
from hengwen.documents.render.write import to_html
from hengwen.documents.run.document import run_document
from hengwen.documents.run.failures import failure_findings
from hengwen.documents.run.report import ReportData, build_report
from hengwen.records import Failure, Row, Run, Score
from hengwen.results.score_table import ScoreTable
from hengwen.text.language import Language, in_language

RUN = Run(id="r", plan="p", plan_hash="", checkpoint="c")
RULES = {"model": "rules", "clauses": {}}


def row(prompt: int, repeat: int, outcome: Score | Failure) -> Row:
    name = f"p{prompt}"
    return row_of(
        run_id="r", task="t", checkpoint="c", sample_id=name, repeat=repeat, cluster=name, outcome=outcome
    )


def score(name: str, signature: str = "s|v:1", kind: str = "judge", **details: object) -> Score:
    return Score(name=name, value=0.5, signature=signature, kind=kind, details=details)


def data_of(*rows: Row, samples: int | None = None) -> ReportData:
    table = ScoreTable(rows)
    if samples is not None:
        table.set_sample_count("r", "t", samples)
    return ReportData(plan="p", runs=(RUN,), table=table)


def faces(data: ReportData, language: Language = "en") -> dict[str, str]:
    document = run_document(data)
    file = io.StringIO()
    to_terminal(document, Console(file=file, width=200), language, verbose=True)
    return {
        "terminal": file.getvalue(),
        "md": to_markdown(document, language),
        "html": to_html(document, language),
    }


def failures_of(data: ReportData) -> tuple[list[str], list[list[str]]]:
    """Return the sentences about failures, and the texts of the rows of their table."""
    (section,) = [
        block
        for part in run_document(data).blocks
        if isinstance(part, Details)
        for block in part.blocks
        if isinstance(block, Details) and in_language(block.title, "en") == "Failures by status"
    ]
    sentences = [in_language(block.text, "en") for block in section.blocks if isinstance(block, Sentence)]
    (further,) = [block for block in section.blocks if isinstance(block, Details)]
    (table,) = [block for block in further.blocks if isinstance(block, Table)]
    return sentences, [[in_language(cell.text, "en") for cell in row] for row in table.rows]


@pytest.fixture
def half_answered():
    """Of 40 prompts 20 have three answers, the others none."""
    message = "there is no stored answer\nto this \x1b[31msample"
    return data_of(
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
    for text in faces(half_answered).values():
        assert "20/40 prompts (50%) · 60 answers (50%)" in text
    cell = run_document(half_answered).record["runs"][0]["scores"]["t/a.x"]
    assert (cell["prompts"], cell["prompts_expected"], cell["prompt_coverage"]) == (20, 40, 0.5)
    assert (cell["n"], cell["coverage"]) == (60, 0.5)


def test_a_run_under_a_limit_says_how_many_prompts_of_the_task_it_covers() -> None:
    data = data_of(*(row(prompt, 1, score("a.x")) for prompt in range(5)), samples=100)
    for text in faces(data).values():
        assert "5/100 prompts (5%) · 5 answers" in text


def test_a_complete_cell_needs_no_percentages() -> None:
    data = data_of(*(row(prompt, 1, score("a.x")) for prompt in range(5)), samples=5)
    for text in faces(data).values():
        assert "5 prompts · 5 answers" in text


def test_every_format_gives_each_status_with_its_first_reason(half_answered) -> None:
    reason = "there is no stored answer to this sample"
    for text in faces(half_answered).values():
        assert f"20 missing: {reason}" in text
        assert text.count(reason) == 3  # on the first screen, in a sentence, in the table of all failures
    cell = run_document(half_answered).record["runs"][0]["scores"]["t/a.x"]
    assert cell["first_messages"] == {"missing": reason}


def test_the_first_screen_names_each_status_and_leads_to_its_answers() -> None:
    failures = [("timeout", "late"), ("parse_error", "no level"), ("parse_error", "no other level")]
    rows = [
        row(i, 1, Failure(name="a.x", status=status, message=message, signature="s|v:1", kind="judge"))
        for i, (status, message) in enumerate(failures)
    ]
    (finding,) = failure_findings(
        build_report(data_of(*rows, *(row(i, 1, score("a.x")) for i in range(3, 60))))
    )
    assert finding.is_alarm
    assert finding.text.en == "5% of 60 answers have no score: 2 parse_error (no level) · 1 timeout (late)"
    assert finding.link is not None
    assert finding.link.text == "2 parse_error"
    assert finding.link.rows == AnswerFilter("", "t", status="parse_error")


@each_row("failed", [0, 1, 2])
def test_two_answers_in_a_hundred_without_a_score_are_not_on_the_first_screen(failed: int) -> None:
    failure = Failure(name="a.x", status="timeout", message="late", signature="s|v:1", kind="judge")
    failures = [row(i, 1, failure) for i in range(failed)]
    data = data_of(*failures, *(row(i, 1, score("a.x")) for i in range(failed, 100)))
    assert [*failure_findings(build_report(data))] == []


def test_a_reason_is_in_the_language_of_the_report(half_answered) -> None:
    for text in faces(half_answered, "zh").values():
        assert "20 missing：这个样本没有存下的回答" in text
        assert "no stored answer" not in text


def test_a_long_reason_is_cut() -> None:
    data = data_of(
        row(1, 1, Failure(name="a.x", status="timeout", message="late " * 10**5, signature="s|v:1"))
    )
    _, ((*_, reason, _),) = failures_of(data)
    assert len(reason) == 160
    assert reason.endswith("…")


def test_scores_that_fail_together_are_one_row() -> None:
    failures = [
        row(prompt, 1, Failure(name=name, status="timeout", message="late", signature="s|v:1"))
        for prompt in range(3)
        for name in ("j.level", "j.tone", "j.form")
    ]
    data = data_of(*failures)
    sentences, (cells,) = failures_of(data)
    assert sentences == ["3 timeout: late"]
    assert cells == ["t/j.level (+2)", "c", "3 timeout", "late", "0/3 prompts (0%) · 0 answers (0%)"]
    (row_,) = [record for record in to_rows(run_document(data), "en").rows if "failures" in record]
    assert "t/j.level, t/j.tone, t/j.form" in row_


def test_more_kinds_of_failures_than_sentences_are_counted() -> None:
    data = data_of(
        *(
            row(
                prompt,
                1,
                Failure(name=f"s{kind}.x", status="timeout", message=f"kind {kind}", signature="s|v:1"),
            )
            for kind in range(10)
            for prompt in range(10 - kind)
        )
    )
    sentences, _ = failures_of(data)
    assert sentences[0] == "10 timeout: kind 0"
    assert sentences[8:] == ["3 more of 2 other kinds"]


def test_a_rules_judge_is_named_by_what_it_is_in_notes_and_summary() -> None:
    data = data_of(
        row(1, 1, score("lyric.total", "lyric|rules:document|v:1", "scorer")),
        row(1, 1, score("gpt.level", "gpt|rubric:1.16ea716d|rules:8e24b1b2|openai/m|v:1", model="m")),
        row(1, 1, score("base.level", "base|v:1", **RULES)),
        row(1, 1, score("base.final", "base.final|caps:[]|[base|v:1]|v:1")),
    )
    report = build_report(data)
    assert {address for address, notes in report.notes.items() if notes} == {"t/base.level", "t/base.final"}
    page = to_markdown(run_document(data), "en")
    assert len(re.findall(r"^\| base.*Rules judge: a baseline", page, re.MULTILINE)) == 2
    named = {
        finding.address
        for finding in report.findings
        if "judged by rules, not by a language model" in finding.text.en
        and "由规则评审给出" in finding.text.zh
    }
    assert named == {"t/base.final"}
