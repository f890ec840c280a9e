"""Labelling in a browser: one key a level, blind, and nothing that two raters enter is lost."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from label_plan import ANSWERS, HOSTILE, LIVE, PLAN, TOPIC, jsonl, labels
from starlette.testclient import TestClient
from tests.view.conftest import ADDRESS, TOKEN, client_of, state_of

from hengwen import open_store
from hengwen.labels.desk import LabelDesk, open_desk
from hengwen.plans.plan import load_plan

SENT = {"sec-fetch-site": "same-origin", "origin": ADDRESS}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN + "labels: labels.csv\n", "utf-8")
    for name, rows in {"live": LIVE, "topic": TOPIC, **ANSWERS}.items():
        (tmp_path / f"{name}.jsonl").write_text(jsonl(rows), "utf-8")
    return path


@pytest.fixture
def desk(plan: Path, demo_store: Path) -> LabelDesk:
    return open_desk(load_plan(plan), plan, str(demo_store))


@pytest.fixture
def rater(desk: LabelDesk, demo_store: Path) -> TestClient:
    client = client_of(demo_store, desk=desk)
    client.get("/", params={"token": TOKEN})
    return client


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of the form."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))


def press(client: TestClient, page: str, **values: str):
    return client.post("/label", data={**fields(page), **values}, headers=SENT)


def test_a_label_is_in_the_file_before_the_next_answer_is_shown(rater, plan, desk) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    assert "0 of 7 labelled" in page
    levels = re.findall(r'name="level" value="(\w)" data-key="([^"]*)"', page)
    assert levels == [("A", "1 a"), ("B", "2 b"), ("C", "3 c"), ("D", "4 d"), ("E", "5 e")]
    token = fields(page)["token"]
    page = press(rater, page, level="B").text
    assert "1 of 7 labelled" in page
    assert fields(page)["token"] != token
    (label,) = labels(plan.with_name("labels.csv"))
    assert (label.value, label.rater, label.key) == (0.75, "ann", desk.question(token).key)
    assert label.drawn.startswith("random|")


@pytest.mark.slow
def test_labels_and_skips_are_undone_one_by_one(rater, desk, plan) -> None:
    first = rater.get("/label", params={"rater": "ann"}).text
    second = press(rater, first, level="A").text
    third = press(rater, second, action="skip").text
    fourth = press(rater, third, level="E").text
    assert [label.value for label in labels(plan.with_name("labels.csv"))] == [1, 0]
    back = press(rater, fourth, action="undo").text
    assert fields(back)["token"] == fields(third)["token"]
    back = press(rater, back, action="undo").text
    assert fields(back)["token"] == fields(second)["token"], "the skipped answer is shown again"
    back = press(rater, back, action="undo").text
    assert fields(back)["token"] == fields(first)["token"]
    assert desk.file.labels() == []
    assert "disabled" in back


@pytest.mark.slow
def test_the_page_is_blind_to_checkpoint_and_judge(rater, desk, plan) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    for _ in desk.questions:
        assert "day-1" not in page
        assert "day-2" not in page
        assert "baseline by rules" not in page
        assert "规则基线" not in page
        page = press(rater, page, level="C").text
    assert "All answers are labelled." in page
    assert len(labels(plan.with_name("labels.csv"))) == 7


@pytest.mark.slow
def test_a_second_rater_gets_all_answers_and_the_agreement_is_told(rater, desk) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    for level in "AACCA":
        page = press(rater, page, level=level).text
    page = rater.get("/label", params={"rater": "bob"}).text
    assert "0 of 7 labelled" in page
    assert "no answer has the labels of two people yet" in page
    for level in "AACCA":
        page = press(rater, page, level=level).text
    assert "2 raters, 5 answers labelled by two or more: Krippendorff&#39;s alpha 1.00." in page


@pytest.mark.slow
def test_the_same_answer_in_two_windows_of_one_rater_is_labelled_once(rater, plan) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    press(rater, page, level="A")
    again = press(rater, page, level="A")
    assert (again.status_code, "1 of 7" in again.text) == (200, True), "the same level again is no mistake"
    other = press(rater, page, level="E")
    assert (other.status_code, "ann has labelled this answer already" in other.text) == (409, True)
    assert [label.value for label in labels(plan.with_name("labels.csv"))] == [1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"token": "0" * 16}, "this answer is not among those to label"),
        ({"level": "F"}, "the rubric has no level"),
        ({"level": ""}, "the rubric has no level"),
    ],
)
def test_what_no_page_sends_is_no_label(rater, plan, values, problem) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    done = press(rater, page, **{"level": "A", **values})
    assert (done.status_code, problem in done.text) == (409, True)
    assert not plan.with_name("labels.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "=cmd()", "-x", "<script>", "x" * 81])
def test_a_rater_without_a_plain_name_is_asked_for_one(rater, plan, name) -> None:
    page = rater.get("/label", params={"rater": name}).text
    assert "Your name, which the labels carry" in page
    assert "<script>" not in page.partition("<script>")[0] + page.partition("</main>")[0]
    sent = rater.post("/label", data={"rater": name, "token": "", "level": "A"}, headers=SENT)
    assert "Your name" in sent.text
    assert not plan.with_name("labels.csv").exists()


@pytest.mark.slow
def test_an_answer_cannot_leave_its_box(rater) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    seen = ""
    for _ in range(7):
        seen += page
        page = press(rater, page, action="skip").text
    assert HOSTILE not in seen
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", seen)
    assert "[bold]红[/bold]反看 1" in seen
    assert "(empty)" in seen


@pytest.mark.slow
def test_an_answer_of_ten_megabytes_is_cut_and_says_so(plan, demo_store) -> None:
    rows = [{**row, "output": "<b>长</b>" * 1_250_000} for row in ANSWERS["day-1"]]
    plan.with_name("day-1.jsonl").write_text(jsonl(rows), "utf-8")
    client = client_of(demo_store, desk=open_desk(load_plan(plan), plan, str(demo_store)))
    client.get("/", params={"token": TOKEN})
    page = client.get("/label", params={"rater": "ann"}).text
    while "more characters" not in page:
        page = press(client, page, action="skip").text
    assert len(page) < 1_500_000
    assert "<b>长" not in page


@pytest.mark.slow
def test_a_file_that_cannot_say_how_answers_were_drawn_is_warned_of(plan, demo_store) -> None:
    old = "task,id,checkpoint,repeat,output,score,value,rater\n"
    plan.with_name("labels.csv").write_text(old, "utf-8")
    desk = open_desk(load_plan(plan), plan, str(demo_store))
    client = client_of(demo_store, desk=desk, language="zh")
    client.get("/", params={"token": TOKEN})
    assert "标注文件没有 drawn 列" in client.get("/label", params={"rater": "ann"}).text


@pytest.mark.slow
def test_the_labels_become_preference_pairs(rater) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    for level in "ABCDEAB":
        page = press(rater, page, level=level).text
    sent = rater.get("/label/pairs.jsonl")
    assert sent.headers["content-disposition"] == 'attachment; filename="pairs.jsonl"'
    assert '"chosen": ' in sent.text


@pytest.mark.slow
def test_without_label_there_is_no_page_to_label(client) -> None:
    assert client.get("/label", params={"rater": "ann"}).status_code == 404
    assert client.get("/label/pairs.jsonl").status_code == 404
    assert "/label" not in client.get("/").text


def test_a_form_of_another_site_writes_nothing(rater, plan) -> None:
    page = rater.get("/label", params={"rater": "ann"}).text
    for headers in ({}, {"sec-fetch-site": "cross-site"}, {"origin": "http://elsewhere.example"}):
        sent = rater.post("/label", data={**fields(page), "level": "A"}, headers=headers)
        assert sent.status_code == 403
    assert not plan.with_name("labels.csv").exists()


@pytest.fixture
def stored(plan: Path, hengwen) -> Path:
    """A store with the runs of the plan, from before it named labels."""
    with_labels = plan.read_text("utf-8")
    plan.write_text(PLAN, "utf-8")
    assert hengwen("run", "plan.yaml", "--quiet").code == 0
    plan.write_text(with_labels, "utf-8")
    return plan.with_name("hengwen.db")


def labelling(plan: Path, store: Path | str) -> TestClient:
    client = client_of(store, desk=open_desk(load_plan(plan), plan, str(store)))
    client.get("/", params={"token": TOKEN})
    return client


def label_all(client: TestClient, rater: str, levels: str) -> str:
    page = client.get("/label", params={"rater": rater}).text
    for level in levels:
        page = press(client, page, level=level).text
    return page


def calibrated(hengwen, *command: str) -> int:
    """Return the number of labelled answers that calibrate counts."""
    done = hengwen("calibrate", *command, "--json")
    return sum(item["agreement"]["n"] for item in done.json["calibrations"] if not item["tasks"])


@pytest.mark.slow
@pytest.mark.parametrize("command", [["plan.yaml"], []])
def test_labels_are_in_the_calibration_of_the_next_command(stored, plan, hengwen, command) -> None:
    client = labelling(plan, stored)
    page = label_all(client, "ann", "ABCDEAB")
    assert calibrated(hengwen, *command) == 7
    press(client, page, action="undo")
    assert calibrated(hengwen, *command) == 6


@pytest.mark.slow
def test_the_store_has_the_labels_of_each_rater_under_one_signature(stored, plan) -> None:
    client = labelling(plan, stored)
    label_all(client, "ann", "AB")
    press(client, label_all(client, "bob", "CDE"), action="undo")
    with open_store(stored) as store:
        rows = [row for row in store.rows(store.latest()) if row.outcome.kind == "human"]
    assert [row.outcome.details["raters"] for row in rows] == [["ann", "bob"]] * 2
    values = sorted((row.outcome.details["values"], row.outcome.value) for row in rows)
    assert values == [([0.75, 0.25], 0.5), ([1.0, 0.5], 0.75)]
    assert len({row.outcome.signature for row in rows}) == 1


@pytest.mark.slow
def test_a_label_of_an_answer_that_the_run_does_not_have_is_not_stored(stored, plan) -> None:
    changed = {name: [{**row, "output": "another text"} for row in rows] for name, rows in ANSWERS.items()}
    for name, rows in changed.items():
        plan.with_name(f"{name}.jsonl").write_text(jsonl(rows), "utf-8")
    label_all(labelling(plan, stored), "ann", "AB")
    assert len(labels(plan.with_name("labels.csv"))) == 2
    with open_store(stored) as store:
        assert [row for row in store.rows(store.latest()) if row.outcome.kind == "human"] == []


@pytest.mark.slow
def test_many_labels_at_once_are_all_in_file_and_store(stored, plan) -> None:
    client = labelling(plan, stored)
    page = client.get("/label", params={"rater": "ann"}).text
    tokens = [question.token for question in state_of(client).view.desk.questions]
    forms = [(token, rater) for token in tokens for rater in ("ann", "bob", "eve")]

    def give(form: tuple[str, str]) -> int:
        return press(client, page, token=form[0], rater=form[1], level="B").status_code

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(give, forms)) == {200}
    with open_store(stored) as store:
        rows = [row for row in store.rows(store.latest()) if row.outcome.kind == "human"]
    assert [sorted(row.outcome.details["raters"]) for row in rows] == [["ann", "bob", "eve"]] * 7
    assert len({row.outcome.signature for row in rows}) == 1
    assert len(labels(plan.with_name("labels.csv"))) == 21


def test_a_label_that_the_store_does_not_take_is_in_the_file_and_the_page_says_so(stored, plan) -> None:
    page = label_all(labelling(plan, f"{stored.as_uri()}?mode=ro"), "ann", "A")
    assert "The labels are in the file, but not in the store" in page
    assert "readonly database" in page
    assert len(labels(plan.with_name("labels.csv"))) == 1
