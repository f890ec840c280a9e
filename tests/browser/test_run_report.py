"""The report of runs in a browser: the first screen, links, theme, paper, accessibility, hostile texts."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from fixed_report import long_data, make_data

from hengwen import compare_runs, drift_report, open_store, run_plan, write_document
from hengwen.documents.compare.document import compare_document
from hengwen.documents.drift.document import drift_document
from hengwen.documents.run.document import demo_document, run_document

pytestmark = pytest.mark.slow
HOSTILE = (
    "</pre></td></script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"
    "'\"&amp;]]>--></textarea><a href=javascript:alert(1)>x</a>"
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The demo's results in both languages, by kind and language."""
    folder = tmp_path_factory.mktemp("demo")
    with open_store("sqlite://") as store:
        result = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
        documents = {
            "run": demo_document(store, result),
            "compare": compare_document(compare_runs(store, *result.runs[-2:])),
            "drift": drift_document(drift_report(store)),
        }
    return {
        f"{kind}.{name}": write_document(document, folder / f"{kind}.{name}.html", name)
        for kind, document in documents.items()
        for name in ("en", "zh")
    }


@pytest.fixture(scope="module")
def demo(pages: dict[str, Path]) -> dict[str, Path]:
    """The report of the demo in both languages."""
    return {name: pages[f"run.{name}"] for name in ("en", "zh")}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_screen_has_the_decision_all_scores_and_the_judges(demo, opened, picture, language) -> None:
    page = opened(demo[language])
    bottom = "e => e.getBoundingClientRect().bottom"
    assert page.locator("h1").count() == 1
    assert page.locator(".scores tbody tr").count() == 4
    assert page.locator(".scores").first.evaluate(bottom) < 760
    assert page.locator(".judges li").last.evaluate(bottom) < 800
    picture(page, f"demo.{language}.1280")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["run", "compare", "drift"])
def test_a_phone_never_scrolls_sideways_and_shows_every_verdict(
    pages, opened, picture, kind, language
) -> None:
    page = opened(pages[f"{kind}.{language}"], 420, 800)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    for word in page.locator(".scores .word b").all():
        box = word.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 420
    picture(page, f"{'demo' if kind == 'run' else kind}.{language}.420")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["run", "compare", "drift"])
def test_in_half_a_screen_values_and_names_stay_on_one_line(pages, opened, kind, language) -> None:
    page = opened(pages[f"{kind}.{language}"])
    texts = page.locator(".scores .compared b, h1 .nowrap, .verdicts .nowrap")
    assert texts.count() > 5
    for width in (660, 800, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        lines = "all => all.map(e => e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight))"
        assert max(texts.evaluate_all(lines)) < 1.5
        beyond = "all => all.map(e => e.scrollWidth - e.clientWidth)"
        assert max(page.locator(".scores td, .scores tbody th").evaluate_all(beyond)) <= 1


def test_a_value_of_the_first_screen_and_a_number_of_failures_lead_to_their_answers(
    demo, opened, tmp_path: Path
) -> None:
    page = opened(demo["en"])
    page.locator(".scores tr", has_text="persona_generic").locator(".compared a").last.click()
    assert page.locator(".filters output").inner_text() == "24 of 24 shown"
    page = opened(write_document(run_document(make_data()), tmp_path / "failures.html", "en"))
    failed = page.locator("#failures a.answers-of").first
    page.evaluate("location.hash = 'failures'")
    failed.click()
    assert {row.locator("td").nth(2).inner_text() for row in page.locator(".answers tbody tr").all()} == {
        "parse_error"
    }


def test_a_link_of_the_contents_leads_to_its_section_and_opens_what_is_folded(demo, opened) -> None:
    page = opened(demo["en"])
    targets = [link.get_attribute("href") for link in page.locator("header nav a").all()]
    assert targets[0] == "#decision"
    assert {"#course", "#judges", "#method"} <= set(targets)
    for target in (target for target in targets if target):
        page.locator(f'header nav a[href="{target}"]').click()
        assert page.locator(target).evaluate("e => e.getBoundingClientRect().top") < 800
    folded = page.locator("details table[id]").first
    key = folded.get_attribute("id")
    assert not folded.is_visible()
    page.evaluate("key => { location.hash = key }", key)
    folded.wait_for(state="visible")


def test_the_theme_is_that_of_the_system_until_a_reader_switches_it(demo, opened, picture) -> None:
    page = opened(demo["en"], color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(21, 23, 26)"
    picture(page, "demo.en.dark")
    page.locator("[data-theme-switch]").click()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_paper_has_no_empty_page_and_loses_no_column(demo, opened) -> None:
    page = opened(demo["zh"])
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1000})  # the width of A4 within its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 703 + 10  # full-width commas may hang
    for cell in page.locator(".scores .word b").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 703
    for change in page.locator("details.change > summary, div.change:not(.heads)").all():
        parts = [change.locator(part).bounding_box() for part in (".asked", ".moved", ".by", ".lost")]
        for first, second in combinations([box for box in parts if box and box["width"]], 2):
            is_apart = any(
                box[at] + box[size] <= other[at] + 1
                for box, other in ((first, second), (second, first))
                for at, size in (("x", "width"), ("y", "height"))
            )
            assert is_apart
    drawn = [*texts_of_pages(page.pdf(prefer_css_page_size=True))]
    assert len(drawn) >= 2
    assert min(drawn) > 20


def texts_of_pages(pdf: bytes) -> Iterator[int]:
    """Yield the number of pieces of text that each page of a PDF draws."""
    for contents in re.findall(rb"/Type /Page\b[^s].*?/Contents (\d+) 0 R", pdf, re.DOTALL):
        start = re.search(rb"\n" + contents + rb" 0 obj.*?stream\r?\n", pdf, re.DOTALL)
        assert start is not None
        data = zlib.decompressobj().decompress(pdf[start.end() :])
        yield len(re.findall(rb"T[jJ]\b", data))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(demo, opened, scheme) -> None:
    page = opened(demo["en"], color_scheme=scheme)
    violations = Axe().run(page).response["violations"]
    assert [
        (item["id"], item["nodes"][0]["html"][:200])
        for item in violations
        if item["impact"] in ("serious", "critical")
    ] == []


def test_forty_long_names_leave_every_cell_and_label_readable(opened, picture, tmp_path: Path) -> None:
    document = run_document(long_data([f"llama-7b-sft-lr2e5-checkpoint-{500 * i}" for i in range(1, 41)]))
    page = opened(write_document(document, tmp_path / "forty.html", "en"))
    picture(page, "forty.en.1280")
    for cell in page.locator(".scores td").all():
        assert cell.evaluate("e => e.scrollWidth <= e.clientWidth")
    for chart in page.locator("#course svg").all():
        boxes = [text.bounding_box() for text in chart.locator("text").all()]
        for first, second in combinations([box for box in boxes if box], 2):
            apart = abs(first["x"] - second["x"]) >= min(first["width"], second["width"]) / 2
            assert apart or abs(first["y"] - second["y"]) >= 8


def test_an_answer_of_ten_megabytes_is_inert_and_opens_in_a_moment(opened, tmp_path: Path) -> None:
    document = run_document(make_data(text=HOSTILE * (10_000_000 // len(HOSTILE))))
    path = write_document(document, tmp_path / "large.html", "en")
    assert path.stat().st_size < 1_000_000
    page = opened(path)
    assert page.locator("img, script:not(body > script), a[href^=javascript]").count() == 0
    assert "more characters)" in page.content()


def test_hostile_texts_are_shown_and_do_nothing(opened, tmp_path: Path) -> None:
    document = run_document(make_data(HOSTILE, text=HOSTILE))
    page = opened(write_document(document, tmp_path / "hostile.html", "en"))
    assert page.locator("img, script:not(body > script), a[href^=javascript]").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator("body").inner_text()
