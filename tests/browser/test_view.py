"""`hengwen view` in Chromium: every page, by keyboard, without an error or a foreign request."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Page
from served_pages import served
from tests.browser.conftest import serious

from hengwen import RunOptions, open_store, run_plan
from hengwen.importers.muchin import import_muchin
from hengwen.personas.persona import write_folder
from hengwen.personas.suites import example_suite

pytestmark = pytest.mark.slow
PAGES = ("/", "/grid", "/compare", "/report")


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """A store with the runs of the demo."""
    path = tmp_path_factory.mktemp("view") / "demo.db"
    with open_store(path) as store:
        run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
    return path


@pytest.fixture(scope="module")
def address(path: Path) -> Iterator[str]:
    """The address of a server over the store."""
    with served(path) as address:
        yield address


@pytest.fixture
def visited(visit: Callable[..., Page], address: str) -> Callable[..., Page]:
    return partial(visit, address)


@pytest.mark.parametrize("page_path", PAGES)
def test_a_page_has_no_serious_violation_and_fits_on_a_phone(visited, picture, page_path) -> None:
    name = f"view-{page_path.strip('/') or 'home'}"
    page = visited(page_path)
    page.get_by_text("being computed").wait_for(state="detached")
    picture(page, f"{name}.1280")
    assert serious(page) == []
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


def test_keys_lead_to_the_prompts_beside_an_answer(visited) -> None:
    page = visited("/answer?run=ckpt-4000&task=persona&sample=persona-03")
    for key, sample in (
        ("ArrowRight", "persona-04"),
        ("ArrowLeft", "persona-03"),
        ("ArrowLeft", "persona-02"),
    ):
        with page.expect_navigation():
            page.keyboard.press(key)
        assert f"persona/{sample}" in page.locator("header").inner_text()


def lyrics(shared: Callable[[str], Path], folder: Path) -> Path:
    return import_muchin(shared("data/muchin-checkpoints.jsonl"), folder).plan


def persona(_: Callable[[str], Path], folder: Path) -> Path:
    write_folder(folder, example_suite())
    return folder / "plan.yaml"


@pytest.mark.parametrize(("write_plan", "kind"), [(lyrics, "sqlite"), (persona, "postgresql")])
def test_every_page_of_real_lyrics_and_characters_is_sound(
    visit, serve, shared, tmp_path, picture, request, write_plan, kind
) -> None:
    plan = write_plan(shared, tmp_path / "plan")
    location = request.getfixturevalue("postgres") if kind == "postgresql" else str(tmp_path / "runs.db")
    with open_store(location) as store:
        run_plan(plan, store=store, options=RunOptions(limit=4))
    address = serve(location, language="zh")
    page = visit(address, "/", color_scheme="dark")
    for path in (*PAGES, "/answer", "/judges"):
        page.goto(address.partition("/?")[0] + path)
        page.get_by_text("正在计算").first.wait_for(state="detached")
        assert page.locator("main").inner_text().count("\n") > 10
        assert serious(page) == [], path
        picture(page, f"view-{write_plan.__name__}-{kind}{path.replace('/', '-')}")


@pytest.fixture
def slow_model() -> Iterator[tuple[str, threading.Semaphore]]:
    """The address of a model that replies once for each permit, and its permits."""
    permits = threading.Semaphore(0)
    choice = {"index": 0, "message": {"role": "assistant", "content": "好"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    body = json.dumps({**about, "choices": [choice], "usage": usage}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            permits.acquire()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving.daemon_threads = True
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}/v1", permits
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_the_first_page_follows_a_run_of_another_process(visit, serve, slow_model, tmp_path) -> None:
    url, permits = slow_model
    plan = {
        "name": "p",
        "backends": {"m": {"provider": "openai", "model": "m", "base_url": url}},
        "tasks": [{"name": "t", "samples": "s.jsonl", "scorers": ["length"]}],
        "checkpoints": [{"name": "c", "backend": "m"}],
    }
    samples = [json.dumps({"id": f"s{number}", "input": f"第{number}问"}) for number in range(4)]
    (tmp_path / "s.jsonl").write_text("\n".join(samples), "utf-8")
    (tmp_path / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    path = tmp_path / "runs.db"
    open_store(path).close()
    command = [sys.executable, "-m", "hengwen", "run", "plan.yaml", "--store", str(path), "--quiet"]
    address = serve(path)
    with subprocess.Popen(command, cwd=tmp_path) as process:
        try:
            page = visit(address, "/")
            page.get_by_text("0 of 4 answers, 0 calls, cost unknown").wait_for()
            permits.release(2)
            page.get_by_text("2 of 4 answers, 2 calls").wait_for()
            assert "min left" in page.locator("#live").inner_text()
            page.goto(page.url + "grid")
            assert page.locator("table.grid tbody tr").count() > 0
            page.go_back()
            permits.release(2)
            page.get_by_text("Running now").wait_for(state="detached")
            assert process.wait(120) == 0
        finally:
            process.kill()
