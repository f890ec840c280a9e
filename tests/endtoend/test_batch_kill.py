"""A run in batches is killed at each step; nothing is submitted twice, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from batch_server import BatchServer, answered, completion, good, serving_batches  # noqa: F401 - a fixture

from hengwen import Score, open_store

pytestmark = pytest.mark.slow

COUNT = 120
"""Number of answers to judge."""


@pytest.fixture
def plan(suite: Callable[..., Path], batch_server: BatchServer) -> Path:
    return suite(
        COUNT,
        tasks=[
            {
                "name": "t",
                "samples": "prompts.jsonl",
                "judges": [{"rubric": "persona_generic", "backend": "judge"}],
            }
        ],
        backends={"judge": {"provider": "openai", "model": "tiny", "base_url": batch_server.url}},
    )


@pytest.fixture
def begin(
    plan: Path, tmp_path: Path, launch: Callable[[Sequence[str]], subprocess.Popen[str]]
) -> Callable[..., subprocess.Popen[str]]:
    """Start a run in batches in a process of its own; it is killed at the end."""

    def start(action: str = "submit", *more: str) -> subprocess.Popen[str]:
        poll = ["--poll", "0"] if action == "submit" else []
        words = [sys.executable, "-m", "hengwen", "batch", action, str(plan), *more, *poll, "-q"]
        return launch([*words, "--store", str(tmp_path / "x.db")])

    return start


@pytest.fixture
def resume(plan: Path, tmp_path: Path, program: Callable[..., tuple[int, str, str]]) -> Callable[[], None]:
    """Finish the batches in this process; a start of another costs two seconds."""

    def submit() -> None:
        words = ("batch", "submit", plan, "--poll", "0", "-q", "--store", tmp_path / "x.db")
        assert program(*words) == (0, "", "")

    return submit


def nth(number: int, step: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Return a function that is true for a step from its ``number``-th time on."""
    times = 0

    def is_due(method: str, path: str) -> bool:
        nonlocal times
        times += step(method, path)
        return times >= number

    return is_due


def killer(processes: list[subprocess.Popen[str]], step: Callable[[str, str], bool], sent: signal.Signals):
    """Return a function that sends a signal to the first process at the first request that is this step.

    A request at which a process is killed is not served.
    """
    hits: list[str] = []

    def strike(method: str, path: str) -> bytes | None:
        if not hits and step(method, path):
            hits.append(path)
            while not processes:  # the process has made a request before its Popen was stored
                time.sleep(0.001)
            processes[0].send_signal(sent)
            if sent is signal.SIGKILL:
                processes[0].wait()
                return b""
        return None

    return strike, hits


def finish(resume, batch_server, tmp_path: Path) -> None:
    """Run the plan to its end, and check that every call was submitted and scored once."""
    resume()
    assert Counter(batch_server.sent).most_common(1)[0][1] == 1
    with open_store(tmp_path / "x.db") as store:
        (run,) = store.runs()
        rows = list(store.rows([run]))
        attempts = list(store.attempts(run))
        assert store.batches("p").files() == []
    assert run.status == "finished"
    assert len(rows) == len({(row.sample_id, row.score.name) for row in rows}) == COUNT * 6
    assert all(isinstance(row.outcome, Score) for row in rows)
    assert Counter(attempt.status for attempt in attempts)["ok"] == len(attempts) == len(batch_server.sent)
    assert not list(tmp_path.glob("*.batches"))


STEPS: dict[str, tuple[str, Callable[[str, str], bool]]] = {
    "before the upload": ("before", lambda method, path: (method, path) == ("POST", "/files")),
    "after the upload, before its id is stored": (
        "after",
        lambda method, path: (method, path) == ("POST", "/files"),
    ),
    "before the batch is created": ("before", lambda method, path: (method, path) == ("POST", "/batches")),
    "after the batch is created, before its id is stored": (
        "after",
        lambda method, path: (method, path) == ("POST", "/batches"),
    ),
    "before the download": ("before", lambda method, path: path.endswith("/content")),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_run_killed_at_a_step_submits_nothing_twice_and_loses_nothing(
    begin,
    resume,
    batch_server,
    tmp_path: Path,
    name: str,
) -> None:
    when, step = STEPS[name]
    processes: list[subprocess.Popen[str]] = []
    strike, hits = killer(processes, step, signal.SIGKILL)
    if when == "before":
        batch_server.on_request = strike
    else:
        batch_server.after_request = strike
    processes.append(begin())
    processes[0].wait(timeout=900)
    assert hits
    assert processes[0].returncode == -signal.SIGKILL
    finish(resume, batch_server, tmp_path)
    assert len(batch_server.sent) == COUNT
    uploads = [path for method, path in batch_server.requests if (method, path) == ("POST", "/files")]
    assert len(uploads) == (2 if name == "before the upload" else 1)


def test_a_run_killed_in_the_middle_of_a_download_reads_the_file_again(
    begin,
    resume,
    batch_server,
    tmp_path: Path,
) -> None:
    processes: list[subprocess.Popen[str]] = []
    strike, hits = killer(processes, lambda method, path: path.endswith("/content"), signal.SIGKILL)

    def cut(method: str, path: str) -> bytes | None:
        if hits or not path.endswith("/content"):
            return None
        strike(method, path)
        return batch_server.files[path.split("/")[2]]["content"][:20_000]

    batch_server.on_request = cut
    processes.append(begin())
    processes[0].wait(timeout=900)
    finish(resume, batch_server, tmp_path)
    assert len(batch_server.sent) == COUNT


def test_a_run_killed_when_half_of_the_replies_are_stored_stores_the_rest(
    begin,
    resume,
    batch_server,
    tmp_path: Path,
) -> None:
    """The output file is in the store, and the error file is not, when the process is killed."""
    failed: set[str] = set()

    def line(request, number):
        if number % 2 or request["custom_id"] in failed:
            return good(request, number)
        failed.add(request["custom_id"])
        return answered(request, {"error": {"message": "busy"}}, 500)

    batch_server.line_of = line
    processes: list[subprocess.Popen[str]] = []
    second_download = nth(2, lambda method, path: path.endswith("/content"))
    batch_server.on_request, hits = killer(processes, second_download, signal.SIGKILL)
    processes.append(begin())
    processes[0].wait(timeout=900)
    assert hits
    with open_store(tmp_path / "x.db") as store:
        assert store.batches("p").count("replied") == COUNT // 2
        assert store.batches("p").count("open") == COUNT // 2
    resume()
    assert [len(batch) for batch in batch_server.inputs] == [COUNT, COUNT // 2]
    with open_store(tmp_path / "x.db") as store:
        (run,) = store.runs()
        assert all(isinstance(row.outcome, Score) for row in store.rows([run]))
        assert store.usage([run])["judge"].calls == COUNT


def test_a_run_killed_when_replies_are_parsed_sends_no_repair_twice(
    begin,
    resume,
    batch_server,
    tmp_path: Path,
) -> None:
    """The pass over the replies has recorded verdicts and parse errors when the repairs are uploaded."""

    def line(request, number):
        is_repair = "earlier_reply" in request["body"]["messages"][-1]["content"]
        return good(request, number) if number % 10 or is_repair else answered(request, completion("?"))

    batch_server.line_of = line
    processes: list[subprocess.Popen[str]] = []
    second_upload = nth(2, lambda method, path: (method, path) == ("POST", "/files"))
    batch_server.on_request, hits = killer(processes, second_upload, signal.SIGKILL)
    processes.append(begin())
    processes[0].wait(timeout=900)
    assert hits
    resume()
    assert [len(batch) for batch in batch_server.inputs] == [COUNT, COUNT // 10]
    assert Counter(batch_server.sent).most_common(1)[0][1] == 1
    with open_store(tmp_path / "x.db") as store:
        (run,) = store.runs()
        statuses = Counter(attempt.status for attempt in store.attempts(run))
        assert statuses == {"ok": COUNT, "parse_error": COUNT // 10}
        assert all(isinstance(row.outcome, Score) for row in store.rows([run]))


@pytest.mark.parametrize("action", ["resume", "cancel"])
def test_after_ctrl_c_the_batch_goes_on_and_the_message_says_how(
    begin,
    resume,
    batch_server,
    tmp_path: Path,
    plan: Path,
    action: str,
) -> None:
    batch_server.polls = 10**9
    processes: list[subprocess.Popen[str]] = []
    batch_server.on_request, _ = killer(
        processes, lambda method, path: method == "GET" and path.startswith("/batches/"), signal.SIGINT
    )
    processes.append(begin())
    _, err = processes[0].communicate(timeout=900)
    assert processes[0].returncode == 130
    options = f"{plan} --store {tmp_path / 'x.db'}"
    assert err.splitlines()[-1] == (
        f"hengwen: interrupted; the results are in {tmp_path / 'x.db'}, batches go on at the provider: "
        f"hengwen batch submit {options} resumes, hengwen batch cancel {options} cancels them"
    )
    (batch,) = batch_server.batches.values()
    assert batch["status"] == "in_progress"
    if action == "resume":
        batch["polls"] = 0
        finish(resume, batch_server, tmp_path)
        return
    batch_server.line_of = lambda request, number: good(request, number) if number < 20 else None
    cancelling = begin("cancel")
    _, err = cancelling.communicate(timeout=900)
    assert cancelling.returncode == 0
    store_name = tmp_path / "x.db"
    assert f"no batch of plan 'p' is open any more in {store_name}; replies that were ready are kept" in err
    assert batch["status"] == "cancelled"
    batch_server.line_of, batch_server.polls = good, 1
    resume()
    assert [len(requests) for requests in batch_server.inputs] == [COUNT, COUNT - 20]
    with open_store(tmp_path / "x.db") as store:
        (run,) = store.runs()
        assert run.status == "finished"
        assert len(list(store.rows([run]))) == COUNT * 6
