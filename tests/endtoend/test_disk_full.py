"""A disk that takes no more ends a run with one line, and the same command goes on when there is space."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from hengwen import open_store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits files as Linux does"),
]

COUNT, IN_FLIGHT = 200, 8
SPACE = 600_000
"""Bytes of a file: more than an empty store takes, less than the calls of this run."""


def test_a_store_that_cannot_grow_keeps_its_replies(judge_server, suite, start, here, tmp_path: Path) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE, hard))  # the program inherits it
    try:
        first = start(plan, path, in_flight=IN_FLIGHT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    _, err = first.communicate(timeout=900)
    assert first.returncode == 1
    assert f"{path}: disk I/O error; committed data is kept; free space on the disk, then run the" in err
    assert "Traceback" not in err
    assert 0 < len(judge_server.prompts) < COUNT

    assert here(plan, path, in_flight=IN_FLIGHT) == (0, "", "")
    with open_store(path) as store:
        (run,) = store.runs()
        levels = [row for row in store.rows([run]) if row.score.name.endswith(".level")]
    assert len(levels) == COUNT
    # what was in flight, and what came since the last commit
    assert len(judge_server.prompts) <= COUNT + 2 * IN_FLIGHT
