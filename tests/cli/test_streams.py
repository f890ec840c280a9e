"""Standard output that nobody can read costs no report, and is one line at most."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hengwen.cli.ui.inputs import LenientFile, lenient_streams

SEQUENCE = ("sequence", "values.txt")
FULL = "hengwen: standard output cannot be written: No space left on device"
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a device of Linux")


def run(folder: Path, *arguments: str, stdout: object, **environment: str) -> tuple[int, list[str]]:
    """Run the program with this standard output; return its exit code and stderr."""
    (folder / "values.txt").write_text("\n".join(map(str, range(12))))
    process = subprocess.run(
        [sys.executable, "-m", "hengwen", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return process.returncode, process.stderr.splitlines()


@pytest.mark.slow
@pytest.mark.untraced
@needs_full
def test_a_full_standard_output_is_one_line_after_the_report(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        code, lines = run(tmp_path, *SEQUENCE, "-o", "r.html", stdout=full)
    assert (code, lines) == (1, ["report: r.html", FULL])
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.untraced
@needs_full
def test_help_on_a_full_standard_output_is_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        assert run(tmp_path, "--help", stdout=full) == (1, [FULL])


@pytest.mark.slow
@pytest.mark.untraced
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_left_is_no_error(tmp_path: Path, unbuffered: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        code, lines = run(
            tmp_path, *SEQUENCE, "--json", "-o", "r.md", stdout=writer, PYTHONUNBUFFERED=unbuffered
        )
    finally:
        os.close(writer)
    assert (code, lines) == (0, ["report: r.md"])
    assert (tmp_path / "r.md").exists()


@pytest.mark.slow
@pytest.mark.untraced
def test_an_ascii_standard_output_costs_no_report(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("wb") as out:
        code, lines = run(
            tmp_path, *SEQUENCE, "--lang", "zh", "-o", "r.html", stdout=out, PYTHONIOENCODING="ascii"
        )
    assert (code, lines) == (0, ["report: r.html"])
    assert (tmp_path / "out.txt").read_bytes().isascii()


def test_the_streams_are_those_of_before_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    closed = io.TextIOWrapper(io.BufferedWriter(io.FileIO(writer, "wb")), "ascii")
    monkeypatch.setattr(sys, "stdout", closed)
    before = sys.stdout, sys.stderr
    with lenient_streams():
        assert sys.stdout is not closed
        assert (sys.stdout.encoding, sys.stdout.errors) == ("ascii", "backslashreplace")
        sys.stdout.write("x" * 100_000)
    assert (sys.stdout, sys.stderr) == before
    closed.close()  # nothing was written to it, so this raises nothing


@needs_full
@pytest.mark.parametrize(
    ("ending", "code"), [(None, 1), (SystemExit(0), 1), (SystemExit(3), 3), (ValueError("bug"), None)]
)
def test_a_full_disk_changes_the_code_of_success_only(
    monkeypatch: pytest.MonkeyPatch, ending: BaseException | None, code: int | None
) -> None:
    def command() -> None:
        with lenient_streams():
            sys.stdout.write("text")
            if ending is not None:
                raise ending

    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises((SystemExit, ValueError)) as leaving:
            command()
    assert getattr(leaving.value, "code", None) == code


def test_a_stream_that_is_no_file_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    console, text = io.TextIOWrapper(io.BytesIO(), "ascii"), io.StringIO()
    monkeypatch.setattr(sys, "stdout", console)
    monkeypatch.setattr(sys, "stderr", text)
    with lenient_streams():
        assert (sys.stdout, sys.stderr) == (console, text)
        print("天")
    assert console.errors == "backslashreplace"
    monkeypatch.setattr(sys, "stdout", None)
    with lenient_streams():
        assert sys.stdout is None


@needs_full
def test_a_failed_write_is_remembered_and_later_data_is_dropped(tmp_path: Path) -> None:
    with LenientFile("/dev/full", "wb") as file:
        assert (file.write(b"abc"), file.write(b"de")) == (3, 2)
        assert file.error is not None
        assert file.error.errno == 28
    with LenientFile(tmp_path / "x", "wb") as file:
        assert (file.write(b"abc"), file.error) == (3, None)
