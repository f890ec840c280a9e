"""What the pages show of a store: the grid, the comparison of two runs, and runs that are not finished."""

from __future__ import annotations

import concurrent.futures
import json
import re
import shutil
import sqlite3
from dataclasses import replace

import pytest
from rows import each_row
from tests.view.conftest import TOKEN, client_of, state_of

from hengwen import Response, Row, Run, Sample, Scale, Score, open_store, run_plan
from hengwen.results.score_table import ScoreTable
from hengwen.score_id import ScoreId
from hengwen.view.data import tags
from hengwen.view.page import respond

WORSE = {"a": "ckpt-3000", "b": "ckpt-4000", "score": "persona/persona_generic.level"}


def prompts_of(page) -> list[str]:
    return re.findall(r'<th scope="row"[^>]*><a href="[^"]*" title="([^"]*)"', page.text)


def values_of(page, name: str) -> list[float]:
    """Return the values of a class of cells; the minus sign is that of typography."""
    cells = re.findall(rf'class="{name}">(?:<[^>]*>)*.*?<span>([^<]*)</span>', page.text)
    return [float(cell.replace("−", "-")) for cell in cells]


def verdicts_of(page) -> list[str]:
    """Return the decision on each plan with its reasons."""
    return re.findall(r"<h1>.*?</h1>|<ul class=\"verdicts\">.*?</ul>", page.text, re.DOTALL)


def copy_of(demo_store, tmp_path):
    path = tmp_path / "copy.db"
    shutil.copy(demo_store, path)
    client = client_of(path)
    client.get("/", params={"token": TOKEN})
    return path, client


def counts_of(page) -> list[int]:
    return [int(number) for number in re.findall(r">(?:worse|equal|better) (\d+)</a>", page.text)]


@pytest.mark.slow
def test_the_grid_begins_with_the_largest_drop_from_the_checkpoint_before(client) -> None:
    page = client.get("/grid", params={"score": WORSE["score"]})
    changes = values_of(page, "change")
    assert len(changes) == 12
    assert changes == sorted(changes)
    rising = values_of(client.get("/grid", params={"score": WORSE["score"], "sort": "rise"}), "change")
    assert rising == sorted(changes, reverse=True)


def test_the_grid_compares_with_the_checkpoint_that_the_address_names(client) -> None:
    page = client.get("/grid", params={"score": WORSE["score"], "against": "ckpt-1000", "n": 2})
    assert "ckpt-1000 → ckpt-2000" in page.text
    assert "ckpt-2000 against ckpt-1000" in page.text


def test_every_mean_of_the_grid_has_its_interval_its_number_and_the_signature(client) -> None:
    page = client.get("/grid", params={"score": "lyrics/lyric.total"})
    assert len(re.findall(r"\[\d+\.\d, \d+\.\d\] n=24", page.text)) == 4
    assert "lyric|rules:document" in page.text


@pytest.mark.slow
@each_row("sort", ["spread", "disagreement", "plan"])
def test_every_order_of_the_grid_has_all_prompts_once(client, sort) -> None:
    prompts = prompts_of(client.get("/grid", params={"sort": sort}))
    assert len(prompts) == len(set(prompts)) == 12


@pytest.mark.slow
def test_equal_answers_are_one_dot_and_near_repeats_are_marked(demo_store, tmp_path) -> None:
    path, client = copy_of(demo_store, tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE response SET text = '同一段文字，写在每一个回答里' WHERE task = 'persona'")
        connection.execute("UPDATE evaluation SET numbers = replace(numbers, '0.5', '0.25')")
    connection.close()
    page = client.get("/grid", params={"score": WORSE["score"], "repeats": "1"})
    assert "<title>× 2</title>" in page.text
    assert page.text.count("≈") > 40
    assert "≈" not in client.get("/grid", params={"score": WORSE["score"]}).text


@pytest.mark.slow
def test_the_comparison_counts_wins_and_losses_and_shows_both_answers(client) -> None:
    page = client.get("/compare", params=WORSE)
    assert counts_of(page) == [12, 0, 0]
    assert page.text.count('<details class="change"') == 10
    assert "11–12 of 12" in client.get("/compare", params={**WORSE, "from": 10}).text
    assert counts_of(client.get("/compare", params={**WORSE, "a": "ckpt-4000", "b": "ckpt-3000"})) == [
        0,
        0,
        12,
    ]


@pytest.mark.slow
def test_the_filters_of_the_comparison_keep_the_prompts_that_pass_all_of_them(client) -> None:
    def rest(**filters):
        return sum(counts_of(client.get("/compare", params={**WORSE, **filters})))

    assert rest(q="no text has this") == 0
    assert 0 < rest(q="今天") < 12
    assert rest(q="%") == rest(q="100%")  # a character of SQL patterns is a character
    assert rest(status="no such status") == 0
    assert rest(tag="no such tag") == 0
    assert rest(judge=WORSE["score"]) == 12


@pytest.mark.slow
def test_the_verdict_is_the_document_of_compare_once_it_is_computed(client) -> None:
    for _ in range(100):
        page = client.get("/compare", params=WORSE)
        if "Refresh" not in page.headers:
            break
    title = re.sub("</?span[^>]*>", "", page.text)  # names with hyphens stay on one line
    assert "ckpt-4000 is worse than ckpt-3000 in character" in title
    assert 'class="difference worse"' in page.text


@pytest.mark.slow
@each_row("path", ["/compare?a=ckpt-1000&b=ckpt-1000", "/compare?a=no-such-run", "/grid?plan=no-such-plan"])
def test_an_address_that_names_nothing_says_so(client, path) -> None:
    page = client.get(path)
    assert page.status_code == 404
    assert "<h1>There is nothing here.</h1>" in page.text


@pytest.mark.slow
@each_row(
    "path", ["/grid?n=99999&from=abc&sort=x&against=y&score=z", "/compare?from=-1&show=x&judge=y&score=z"]
)
def test_values_that_mean_nothing_are_as_if_they_were_not_there(client, path) -> None:
    assert client.get(path).status_code == 200


HOSTILE = "</td></script><script>alert(1)</script><img src=x onerror=alert(1)>'\"&amp;"


TASK = {"samples": "s", "references": "r", "samples_total": 4, "samples_taken": 4, "repeats": "1"}
FACTS = {
    "prompts": "p",
    "versions": {},
    "tasks": {"t": {**TASK, "reducer": "mean", "anchors": "", "judges": {}, "scorers": []}},
}


def hostile_run(path, *, status="finished", answers=2) -> Run:
    """Write a run whose every text is hostile."""
    run = Run(
        id="20260101-000000-aaaaaa",
        plan=HOSTILE,
        plan_hash="h",
        checkpoint=HOSTILE,
        step=1.0,
        status=status,
        facts=FACTS,
    )
    with open_store(path) as store:
        write(store, run, answers)
    return run


def write(store, run, answers):
    score = ScoreId("t", "length", "")
    ledger = store.ledger()
    ledger.begin(run)
    rows = []
    for number in range(answers):
        sample = Sample(id=f"s{number}{HOSTILE}", input=HOSTILE, task="t", metadata={"tag": HOSTILE})
        text = Response(sample_id=sample.id, text=HOSTILE, task="t", checkpoint=run.checkpoint, repeat=1)
        ledger.record_response(run.id, sample, text)
        outcome = Score(name="length", value=number / 10, signature="length|v:1", scale=Scale(low=0, high=1))
        rows.append(Row(run.id, score, run.checkpoint, sample.id, 1, sample.id, outcome))
    ledger.record_rows(rows)
    ledger.commit()


def test_a_tag_to_filter_by_is_one_that_several_prompts_of_the_run_have() -> None:
    run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
    with open_store("sqlite://") as store:
        ledger = store.ledger()
        ledger.begin(run)
        for name, metadata in {"a": ["x", "y"], "b": "y", "c": "z"}.items():
            sample = Sample(id=name, input=name, task="t", metadata={"kind": metadata})
            ledger.record_response(run.id, sample, Response(sample_id=name, text=name, task="t"))
        ledger.commit()
        assert tags(store, run, "t") == ["y"]


def test_a_page_of_the_grid_has_eight_checkpoints_with_the_one_that_is_compared(tmp_path) -> None:
    path = tmp_path / "many.db"
    with open_store(path) as store:
        for number in range(12):
            name = f"c{number:02}"
            write(store, Run(id=f"r{number:02}", plan="p", plan_hash="", checkpoint=name, step=number), 2)
    client = client_of(path)
    client.get("/", params={"token": TOKEN})
    page = client.get("/grid", params={"against": "c00"})
    heads = re.findall(r'<th scope="col" class="checkpoint[^>]*><a [^>]*>(c\d\d)', page.text)
    assert heads == ["c00", "c05", "c06", "c07", "c08", "c09", "c10", "c11"]


@pytest.fixture
def hostile(tmp_path):
    """A client over a store with two runs of hostile texts."""
    path = tmp_path / "hostile.db"
    run = hostile_run(path)
    with open_store(path) as store:
        write(store, replace(run, id="20260101-000001-bbbbbb", checkpoint=HOSTILE + "2", step=2.0), 2)
    client = client_of(path)
    client.get("/", params={"token": TOKEN})
    return client


@each_row("path", ["/", "/grid?repeats=1", "/compare?show=equal", "/report"])
def test_hostile_texts_are_escaped_on_every_page(hostile, path) -> None:
    page = hostile.get(path)
    assert page.status_code == 200
    assert "&lt;script&gt;" in page.text
    assert "<script>alert" not in page.text
    assert "<img" not in page.text


def test_a_run_that_runs_shows_how_far_it_is_and_every_new_answer(tmp_path) -> None:
    path = tmp_path / "running.db"
    run = hostile_run(path, status="running", answers=1)
    client = client_of(path)
    client.get("/", params={"token": TOKEN})
    assert "1 of 4 answers, 0 calls, cost unknown" in client.get("/").text
    chinese = client_of(path, language="zh").get("/", params={"token": TOKEN})
    assert "1 个回答，共 4 个，0 次调用，费用 未知" in chinese.text
    assert len(prompts_of(client.get("/grid"))) == 1
    with open_store(path) as store:
        write(store, run, 3)
    assert "3 of 4 answers" in client.get("/").text
    assert len(prompts_of(client.get("/grid"))) == 3


@pytest.mark.slow
def test_a_store_that_a_run_has_locked_is_still_readable(demo_store, tmp_path) -> None:
    path, client = copy_of(demo_store, tmp_path)
    with open_store(path):
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE run SET status = 'running'")
        assert [client.get(path).status_code for path in ("/", "/grid", "/compare")] == [200] * 3
        writer.execute("ROLLBACK")
        writer.close()


def test_a_store_that_changes_its_shape_gives_a_page_that_says_so(demo_store, tmp_path) -> None:
    path, client = copy_of(demo_store, tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE evaluation RENAME TO other")
    connection.close()
    page = client.get("/grid")
    assert (page.status_code, "no such table" in page.text) == (503, True)


@pytest.mark.slow
def test_the_scores_of_rules_that_cap_a_judge_stand_last_in_the_grid(tmp_path) -> None:
    plan = {
        "name": "p",
        "tasks": [
            {
                "name": "t",
                "samples": "prompts.jsonl",
                "rules": ["broken"],
                "scorers": ["length"],
                "judges": [{"rubric": "persona_generic"}],
            }
        ],
        "checkpoints": [{"name": "c1", "responses": "c1.jsonl"}],
    }
    (tmp_path / "prompts.jsonl").write_text('{"id": "a", "input": "?"}', "utf-8")
    (tmp_path / "c1.jsonl").write_text('{"id": "a", "output": "yes"}', "utf-8")
    (tmp_path / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    path = tmp_path / "capped.db"
    with open_store(path) as store:
        run_plan(tmp_path / "plan.yaml", store=store)
    client = client_of(path)
    client.get("/", params={"token": TOKEN})
    scores = re.findall(r'<option value="t/([^"]*)"', client.get("/grid").text)
    assert (len(scores), scores[-1]) == (10, "broken.match")
    assert "<h1>broken" not in client.get("/answer").text


@pytest.mark.slow
def test_what_takes_long_in_a_large_store_has_a_process_of_its_own(client, demo_store, monkeypatch) -> None:
    monkeypatch.setattr("hengwen.view.data.LARGE", 10)
    large = client_of(demo_store)
    page = large.get("/", params={"token": TOKEN})
    assert "being computed" in page.text, "the page does not wait"
    data = state_of(large).view.data
    concurrent.futures.wait(data._newest.values())
    assert verdicts_of(large.get("/")) == verdicts_of(client.get("/"))


@pytest.mark.slow
def test_results_are_kept_up_to_a_number_of_scores(client, demo_store, monkeypatch) -> None:
    monkeypatch.setattr("hengwen.view.data.MAX_OUTCOMES", 100)
    for number in (1, 2, 3, 4):
        client.get("/grid", params={"n": number, "score": WORSE["score"]})
    kept = state_of(client).view.data._kept.values()
    sizes = [sum(map(len, table.series.values())) for table in kept if isinstance(table, ScoreTable)]
    assert 0 < sum(sizes) <= 100


@pytest.mark.slow
def test_the_whole_report_is_drawn_once_while_no_run_changes(demo_store, tmp_path, monkeypatch) -> None:
    path, client = copy_of(demo_store, tmp_path)
    drawn = []

    def counting(*arguments, **values):
        drawn.append(values["document"])
        return respond(*arguments, **values)

    monkeypatch.setattr("hengwen.view.pages.home.respond", counting)
    while "Refresh" in (page := client.get("/report")).headers:
        pass
    number = len(drawn)
    assert client.get("/report").text == page.text
    assert len(drawn) == number
    with open_store(path) as store:
        ledger = store.ledger()
        row = next(iter(store.rows([store.latest()[-1]])))
        ledger.record_rows([row._replace(outcome=replace(row.outcome, value=0.0))])
        ledger.commit()
    while "Refresh" in client.get("/report").headers:
        pass
    assert drawn[-1] is not drawn[number - 1]
