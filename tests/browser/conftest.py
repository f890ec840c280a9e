"""Pages in a real browser: Chromium from Debian, or the one that the variable CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from served_pages import served

GUARD_MILLISECONDS = 120_000
"""Guard against waiting for ever."""
SHOTS = Path(__file__).resolve().parents[2] / "browser-pictures"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; each start takes a second, so one serves a module."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        if os.environ.get("HENGWEN_REQUIRE_CHROMIUM"):
            pytest.fail("HENGWEN_REQUIRE_CHROMIUM is set, and there is no Chromium")
        pytest.skip("needs Chromium: apt install chromium fonts-noto-cjk, or name it in CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a file; at the end, no page has written an error or asked for anything but its file."""
    pages: list[Page] = []
    errors: list[str] = []

    def opened(path: Path, width: int = 1280, height: int = 800, **settings: object) -> Page:
        page = browser.new_page(viewport={"width": width, "height": height}, **settings)
        page.set_default_timeout(GUARD_MILLISECONDS)
        pages.append(page)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(f"dialog {dialog.message}"))
        page.on(
            "request",
            lambda request: None if request.url == path.as_uri() else errors.append(f"request {request.url}"),
        )
        page.goto(path.as_uri())
        return page

    yield opened
    for page in pages:
        page.close()
    assert errors == []


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Serve the pages of a store until the end of the test; return the address that buys the cookie."""
    with ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(served(*arguments, **options))


@pytest.fixture
def visit(browser: Browser, serve: Callable[..., str]) -> Iterator[Callable[..., Page]]:
    """Open a page of `hengwen view` in a browser of its own; at the end no page has written an error or left
    its host."""
    errors: list[str] = []
    pages: list[Page] = []

    def visit(address: str, path: str, width: int = 1280, height: int = 800, **settings: object) -> Page:
        page = browser.new_context(viewport={"width": width, "height": height}, **settings).new_page()
        page.set_default_timeout(GUARD_MILLISECONDS)
        pages.append(page)
        host = urlsplit(address).netloc
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda r: None if urlsplit(r.url).netloc == host else errors.append(r.url))
        page.goto(address)
        page.goto(address.partition("/?")[0] + path)
        return page

    yield visit
    for page in pages:
        page.context.close()
    assert [error for error in errors if "409 (Conflict)" not in error] == []


def serious(page: Page) -> list[str]:
    """Return the serious violations that axe finds."""
    return [
        f"{item['id']} {item['nodes'][0]['html'][:120]}"
        for item in Axe().run(page).response["violations"]
        if item["impact"] in ("serious", "critical")
    ]


@pytest.fixture
def picture() -> Callable[[Page, str], None]:
    """Keep a picture of the whole page in a folder that git ignores, to be looked at."""

    def picture(page: Page, name: str) -> None:
        SHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SHOTS / f"{name}.png", full_page=True)

    return picture
