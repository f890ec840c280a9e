"""From the decision to the worst answer, and the table of all answers, in a browser."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from hengwen import open_store, report_document, run_plan, write_document

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with open_store("sqlite://") as store:
        result = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
        document = report_document(store, result.runs)
    return write_document(document, tmp_path_factory.mktemp("demo") / "demo.html", "en")


def test_two_clicks_lead_from_the_decision_to_the_worst_answer_among_all(demo, opened) -> None:
    page = opened(demo)
    page.locator('#decision a[href$="persona_generic.level/changes"]').click()
    worst = page.locator("details.change[open]").first
    assert worst.evaluate("e => e.getBoundingClientRect().top") < 800
    assert worst.locator("mark.reference").count() > 0
    worst.locator('.both a[href^="#a-"]').last.click()
    row = page.locator(page.evaluate("location.hash"))
    row.locator("details[open] pre").wait_for(state="visible")
    assert row.locator("td").first.inner_text() == "ckpt-4000"


def test_all_answers_are_sorted_and_filtered(demo, opened) -> None:
    page = opened(demo)
    rows, shown = page.locator(".answers tbody tr"), page.locator(".filters output")
    assert shown.inner_text() == "50 of 192 shown"
    page.locator(".filters [name=checkpoint]").select_option("ckpt-1000")
    assert (shown.inner_text(), rows.count()) == ("48 of 48 shown", 48)
    heads = page.locator(".answers th")
    column = [head.inner_text() for head in heads.all()].index("lyric.total")
    for order, is_reverse in (("ascending", False), ("descending", True)):
        heads.nth(column).locator("button").click()
        assert heads.nth(column).get_attribute("aria-sort") == order
        texts = [row.locator("td").nth(column).inner_text() for row in rows.all()]
        values = [float(text) for text in texts if text]
        assert values == sorted(values, reverse=is_reverse)
        assert "" not in texts[: len(values)]
    page.locator(".filters [name=text]").fill("no such text")
    assert shown.inner_text() == "0 of 0 shown"


def test_a_number_of_a_table_leads_to_the_answers_behind_it(demo, opened) -> None:
    page = opened(demo)
    table = page.locator("#tables table", has=page.locator("th", has_text="persona_generic.level")).first
    table.locator("tr", has_text="ckpt-4000").locator("td a").last.click()
    assert page.locator(".filters output").inner_text() == "24 of 24 shown"
    rows = page.locator(".answers tbody tr")
    assert {row.locator("td").first.inner_text() for row in rows.all()} == {"ckpt-4000"}
    heads = page.locator(".answers th")
    column = [head.inner_text() for head in heads.all()].index("persona_generic.level")
    values = [float(row.locator("td").nth(column).inner_text()) for row in rows.all()]
    assert values == sorted(values)


def test_the_number_of_empty_answers_leads_to_them(demo, opened) -> None:
    page = opened(demo)
    page.locator("#decision a", has_text="1 of 24 answers").click()
    (row,) = page.locator(".answers tbody tr").all()
    assert row.locator("td").nth(2).inner_text() == "empty"
    assert row.locator("td").nth(-2).inner_text() == "0"


def test_the_menu_of_scores_has_those_of_the_chosen_task(demo, opened) -> None:
    page = opened(demo)
    task, score = page.locator(".filters [name=task]"), page.locator(".filters [name=score]")
    assert score.locator("option:checked").inner_text() == "lyric.total"
    task.select_option("persona")
    assert score.locator("option:checked").inner_text() == "persona_generic.level"
    page.locator(".filters [name=most]").fill("0.25")
    assert page.locator(".answers tbody tr").count() > 0
    assert score.locator("option:not([disabled])").all_inner_texts() == ["persona_generic.level"]
    task.select_option("lyrics")
    assert score.locator("option:checked").inner_text() == "lyric.total"


def test_each_repeat_of_a_worst_prompt_is_one_click_away(demo, opened) -> None:
    page = opened(demo)
    other = page.locator("details.change[open] .repeats").last.locator("a")
    value = other.inner_text()
    other.click()
    row = page.locator(page.evaluate("location.hash"))
    assert value in [cell.inner_text() for cell in row.locator("td").all()]


def test_without_a_script_all_answers_are_in_the_page(demo, opened) -> None:
    page = opened(demo, java_script_enabled=False)
    assert page.locator(".answers tbody tr").count() == 192
    assert page.locator(".answers tbody tr").last.is_visible()
    assert not page.locator(".filters").is_visible()
