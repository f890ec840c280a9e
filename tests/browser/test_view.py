"""`hengwen view` in Chromium: every page, by keyboard, without an error or a foreign request."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from hengwen import open_store, run_plan
from hengwen.view.app import create_app

pytestmark = pytest.mark.slow
TOKEN = "a token of thirty-two characters"
PAGES = ("/", "/grid", "/compare", "/report")


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """A store with the runs of the demo."""
    path = tmp_path_factory.mktemp("view") / "demo.db"
    with open_store(path) as store:
        run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
    return path


@pytest.fixture
def running(path: Path) -> Callable[[str], None]:
    """Change the status of the newest run, as a run does that begins and ends."""

    def running(status: str) -> None:
        with open_store(path) as store:
            ledger = store.ledger()
            ledger.begin(replace(store.find("ckpt-4000"), status=status))
            ledger.commit()

    return running


@pytest.fixture(scope="module")
def address(path: Path) -> Iterator[str]:
    """The address of a server over the store."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(str(path), token=TOKEN, is_reusable=True, language="en")
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture
def visited(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Open a page with the cookie; at the end there was no error, and no request to another address."""
    contexts, errors = [], []

    def visited(path: str, width: int = 1280, height: int = 800, **settings) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(address) else errors.append(request.url),
        )
        page.goto(f"{address}/?token={TOKEN}")
        page.goto(address + path)
        return page

    yield visited
    for context in contexts:
        context.close()
    assert errors == []


@pytest.mark.parametrize("page_path", PAGES)
def test_a_page_has_no_serious_violation_and_fits_on_a_phone(visited, picture, page_path) -> None:
    name = f"view-{page_path.strip('/') or 'home'}"
    page = visited(page_path)
    page.get_by_text("being computed").wait_for(state="detached")
    picture(page, f"{name}.1280")
    violations = Axe().run(page).response["violations"]
    assert [item["id"] for item in violations if item["impact"] in ("serious", "critical")] == []
    phone = visited(page_path, 420, 800)
    phone.get_by_text("being computed").wait_for(state="detached")
    picture(phone, f"{name}.420")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 420


def test_from_the_decision_to_the_worst_answer_with_its_reason_is_two_clicks_at_most(visited) -> None:
    page = visited("/")
    page.get_by_role("link", name="the answers that got worse").click()
    worst = page.locator("#prompts details.change").first
    worst.wait_for()
    assert worst.evaluate("details => details.open")
    assert worst.locator(".said, .line").count() > 0
    aligned = worst.locator(".text, .line").first.evaluate("text => getComputedStyle(text).textAlign")
    assert aligned == "start"


def test_keys_move_over_checkpoints_and_prompts_and_the_address_has_the_state(visited) -> None:
    page = visited("/grid")
    chosen = page.locator(".checkpoint.chosen")
    assert chosen.inner_text() == "ckpt-4000"
    page.keyboard.press("ArrowLeft")
    page.locator(".checkpoint.chosen", has_text="ckpt-3000").wait_for()
    assert "n=3" in page.url
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 3
    page.reload()
    assert chosen.inner_text() == "ckpt-3000"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/answer?**")
    assert "ckpt-3000" in page.locator("header").inner_text()


def test_without_script_forms_and_links_do_the_same(visited) -> None:
    page = visited("/grid", java_script_enabled=False)
    page.get_by_label("sort").select_option("plan")
    page.get_by_role("button", name="show").click()
    assert "sort=plan" in page.url
    page.get_by_role("link", name="ckpt-2000", exact=True).click()
    assert page.locator(".checkpoint.chosen").inner_text() == "ckpt-2000"


def test_the_first_page_tells_of_a_run_while_it_runs(visited, running) -> None:
    page = visited("/")
    page.get_by_text("Running now").wait_for(state="detached")
    running("running")
    page.get_by_text("Running now").wait_for()
    running("finished")
    page.get_by_text("Running now").wait_for(state="detached")
