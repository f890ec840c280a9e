"""Worker processes return the results of their parent, and a process that dies loses only one item."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import CancelledError
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hengwen._internal.plugins import import_file
from hengwen._internal.workers import BATCH_SIZE, MIN_ITEMS, WorkerPool, map_stream
from hengwen.errors import WorkerError

FUNCTIONS = """
import os, signal, sys, time

def square(number):
    return number * number

def crash(number):
    if number == 3:
        os._exit(7)
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 7:
        sys.exit(4)
    return number * number

def refuse(number):
    if number == 3:
        raise KeyError("three")
    return number

def process(number):
    return os.getpid()

def lock(number):
    return (i for i in range(number))

class Unloadable:
    def __reduce__(self):
        return load, (os.getpid(),)
    def __call__(self, number):
        return number

def load(parent):
    if os.getpid() != parent:
        raise ImportError("no such module")
    return Unloadable()

def crash_or_refuse(number):
    if number == 5:
        raise KeyError("five")
    return crash(number)

def forget(number):
    print("a text that is no frame", flush=True)
    os.write(1, b"another text")
    return sys.stdin.read()
"""


@pytest.fixture
def functions(tmp_path: Path) -> Any:
    """Module of a file that worker processes import, too."""
    (tmp_path / "functions.py").write_text(FUNCTIONS, "utf-8")
    return import_file(tmp_path / "functions.py")


def message(item: int, reason: str) -> str:
    return f"{item}: {reason}"


def test_results_have_the_order_of_the_items(functions: Any) -> None:
    count = 5 * BATCH_SIZE + 1
    assert list(map_stream(functions.square, iter(range(count)), workers=2)) == [n * n for n in range(count)]


@pytest.mark.slow
def test_a_process_that_dies_loses_only_the_item_at_which_it_dies(functions: Any) -> None:
    died = "the worker process that scored it died: "
    results = list(map_stream(functions.crash, range(9), workers=2, crashed=message))
    assert results == [
        *(0, 1, 4, f"3: {died}exit code 7", 16),
        *(f"5: {died}SIGKILL, out of memory?", 36, f"7: {died}exit code 4", 64),
    ]


def test_without_a_function_for_lost_items_a_process_that_dies_is_an_error(functions: Any) -> None:
    with pytest.raises(WorkerError, match="a worker process died twice at one item: exit code 7"):
        list(map_stream(functions.crash, range(9), workers=2))


@pytest.mark.slow
def test_an_exception_after_a_death_is_not_taken_for_a_death(functions: Any) -> None:
    pool = WorkerPool(functions.crash_or_refuse, 1, crashed=message)
    with closing(pool), pytest.raises(KeyError, match="five"):
        pool.results([3, 5], pool.submit([3, 5]))


def test_an_error_of_the_function_for_lost_items_is_raised(functions: Any) -> None:
    def refuse(item: int, reason: str) -> str:
        raise KeyError(item)

    with closing(WorkerPool(functions.crash, 1, crashed=refuse)) as pool, pytest.raises(KeyError, match="3"):
        pool.results([3], pool.submit([3]))


def test_an_exception_of_the_function_is_raised_and_ends_the_processes(functions: Any) -> None:
    with pytest.raises(KeyError, match="three"):
        list(map_stream(functions.refuse, range(1000), workers=2))


def test_a_result_that_cannot_be_pickled_is_an_error(functions: Any) -> None:
    with pytest.raises(TypeError, match="generator"):
        list(map_stream(functions.lock, range(2), workers=2))


def test_a_function_that_processes_cannot_load_is_an_error(functions: Any) -> None:
    with pytest.raises(WorkerError, match="a worker process cannot start: no such module; try one worker"):
        list(map_stream(functions.Unloadable(), range(2), workers=2))


def test_files_that_the_function_does_not_need_are_not_imported_again(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("", "utf-8")
    import_file(other)
    other.write_text("raise SystemExit('changed since')", "utf-8")
    with closing(WorkerPool(str.upper, 1)) as pool:
        assert pool.submit(["a"]).result() == ["A"]


def test_a_file_that_ends_the_process_is_an_error_with_its_message(tmp_path: Path) -> None:
    file = tmp_path / "later.py"
    file.write_text("def same(item):\n    return item\n", "utf-8")
    function = import_file(file).same
    file.write_text("raise SystemExit('changed since')", "utf-8")
    with closing(WorkerPool(function, 1)) as pool, pytest.raises(WorkerError, match="changed since"):
        pool.submit(["a"]).result()


def test_output_of_the_function_does_not_mix_with_results(functions: Any) -> None:
    assert list(map_stream(functions.forget, range(2), workers=2)) == ["", ""]


def test_a_few_items_start_no_process_by_default(functions: Any) -> None:
    assert set(map_stream(functions.process, range(MIN_ITEMS - 1), workers=None)) == {os.getpid()}


def test_many_items_start_a_process_for_each_core(functions: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hengwen._internal.workers.usable_cores", lambda: 2)
    processes = set(map_stream(functions.process, range(2 * MIN_ITEMS), workers=None))
    assert 1 <= len(processes) <= 2
    assert os.getpid() not in processes


def test_a_process_starts_only_if_a_batch_waits(functions: Any) -> None:
    pool: WorkerPool[int, int] = WorkerPool(functions.process, 8)
    try:
        assert len({pool.submit([number]).result()[0] for number in range(20)}) == 1
    finally:
        pool.close()


def test_closing_a_pool_cancels_batches_and_kills_processes(functions: Any) -> None:
    pool: WorkerPool[int, int] = WorkerPool(functions.process, 1)
    (process,) = pool.submit([1]).result()
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    with pytest.raises(CancelledError):
        pool.submit([1])


ORPHANS = """
import os, sys, time
from hengwen._internal.plugins import import_file
from hengwen._internal.workers import WorkerPool
from pathlib import Path

pool = WorkerPool(import_file(Path(sys.argv[1])).process, 1)
print(pool.submit([1]).result()[0], flush=True)
pool.submit([1])
time.sleep(600)
"""


def test_processes_end_with_their_parent_even_if_it_is_killed(functions: Any) -> None:
    command = [sys.executable, "-c", ORPHANS, functions.__file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        assert int(parent.stdout.readline()) != parent.pid
        parent.kill()
        # the worker has this pipe too, so reading ends when both have ended
        assert "Traceback" not in parent.stderr.read()


def test_a_script_without_a_main_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "print('started')\n"
        "from hengwen._internal.workers import map_stream\n"
        "print(sum(map_stream(abs, range(500), workers=2)))\n",
        "utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "started\n124750\n"


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_parent_leaves_no_process_and_no_traceback_of_a_worker(
    functions: Any, sent: signal.Signals, tmp_path: Path
) -> None:
    script = (
        "import os, signal, sys, threading\n"
        "from pathlib import Path\n"
        "from hengwen._internal.plugins import import_file\n"
        "from hengwen._internal.workers import map_stream\n"
        "module = import_file(Path(sys.argv[1]))\n"
        "signal.signal(signal.SIGTERM, signal.default_int_handler)\n"
        "try:\n"
        "    for index, process in enumerate(map_stream(module.process, range(10**6), workers=2)):\n"
        "        if index == 500:\n"
        "            print(process, flush=True)\n"
        "            os.kill(os.getpid(), int(sys.argv[2]))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    command = [sys.executable, "-c", script, functions.__file__, str(int(sent))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    worker, end = done.stdout.split()
    assert (end, done.stderr) == ("interrupted", "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(worker), 0)


@pytest.mark.parametrize("module", ["pickle", "struct"])
def test_a_module_beside_the_data_does_not_run_in_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    (tmp_path / f"{module}.py").write_text("open('pwned', 'w').close()\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    with closing(WorkerPool(len, workers=1)) as pool:
        assert pool.submit(["abc"]).result() == [3]
    assert not (tmp_path / "pwned").exists()
