"""Labelling by the keyboard alone, and by two browsers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import Page
from served_pages import served
from tests.browser.conftest import serious

from hengwen import open_store, run_plan
from hengwen.labels.desk import LabelDesk, open_desk
from hengwen.plans.plan import load_plan

pytestmark = pytest.mark.slow


@pytest.fixture
def desk(tmp_path: Path) -> LabelDesk:
    """The demo, run once, without its labels."""
    folder, store = tmp_path / "demo", tmp_path / "demo.db"
    copytree(str(files("hengwen.demo") / "data"), folder)
    with open_store(store) as opened:
        run_plan(folder / "plan.yaml", store=opened)
    (folder / "labels.csv").unlink()
    return open_desk(load_plan(folder / "plan.yaml"), folder / "plan.yaml", str(store))


@pytest.fixture
def address(desk: LabelDesk, tmp_path: Path) -> Iterator[str]:
    with served(tmp_path / "demo.db", desk) as address:
        yield address


@pytest.fixture
def browse(visit: Callable[..., Page], address: str) -> Callable[..., Page]:
    return partial(visit, address)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        with page.expect_navigation():
            page.keyboard.press(key)


def test_a_rater_needs_no_mouse(browse, desk) -> None:
    page = browse("/label")
    page.keyboard.type("ann")
    press(page, "Enter")
    assert page.locator("h1").inner_text() == "0 of 192 labelled · rater ann"
    asked = page.locator(".asked").inner_text()
    press(page, "1", "e", "s", "3")
    assert [label.value for label in desk.file.labels()] == [1, 0, 0.5]
    press(page, "u", "u", "u", "u")
    assert (desk.file.labels(), page.locator(".asked").inner_text()) == ([], asked)
    page.keyboard.press("x")
    page.keyboard.press("Control+1")
    assert desk.file.labels() == []
    while not page.locator("summary[data-key=r]").count():
        press(page, "s")
    page.keyboard.press("r")
    assert page.locator("summary[data-key=r] + .text").is_visible()


def test_two_browsers_lose_nothing(browse, desk) -> None:
    ann, bob, other = browse("/label?rater=ann"), browse("/label?rater=bob"), browse("/label?rater=ann")
    for _ in range(5):
        with ann.expect_navigation(), bob.expect_navigation():
            ann.keyboard.press("2")
            bob.keyboard.press("4")
    press(other, "5")
    kept = [(label.rater, label.value) for label in desk.file.labels()]
    assert kept.count(("ann", 0.75)) == kept.count(("bob", 0.25)) == 5
    assert len(kept) == 10
    assert "ann has labelled this answer already" in other.get_by_role("alert").inner_text()


@pytest.mark.parametrize("width", [1280, 420])
def test_the_pages_of_answers_judges_and_labels_are_sound(browse, picture, width) -> None:
    pages = {
        "answer-lyric": "/answer?run=ckpt-4000&task=lyrics&sample=lyric-01",
        "answer": "/answer?run=ckpt-4000&task=persona&sample=persona-03",
        "judges": "/judges?show=calibration",
        "label": "/label?rater=ann",
    }
    for name, path in pages.items():
        page = browse(path, width)
        page.get_by_text("being computed").wait_for(state="detached")
        picture(page, f"{name}-{width}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert serious(page) == []
    heights = page.locator(".levels button, .acts button").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44
