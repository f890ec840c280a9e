"""A store that is damaged, foreign or missing is one line with the way out."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

VERBS = [["runs", "list"], ["runs", "show", "a"], ["report", "--json"], ["run", "plan.yaml", "--json"]]


@pytest.fixture
def store(hengwen, plan: Path) -> Path:
    assert hengwen("run", "plan.yaml", "-q").code == 0
    return plan.parent / "hengwen.db"


def damage(raw: bytes, seed: int) -> bytes:
    """Cut a file, fill one of its pages with noise, or change single bytes."""
    noise, changed = random.Random(seed), bytearray(raw)
    if seed % 3 == 0:
        return bytes(changed[: noise.randrange(200, len(changed))])
    if seed % 3 == 1:
        page = 4096 * noise.randrange(1, len(changed) // 4096)
        changed[page : page + 4096] = noise.randbytes(4096)
        return bytes(changed)
    for _ in range(300):
        changed[noise.randrange(100, len(changed))] = noise.randrange(256)
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_store_is_one_line_or_is_not_noticed(hengwen, store: Path, seed: int) -> None:
    raw = damage(store.read_bytes(), seed)
    for verb in VERBS:
        store.write_bytes(raw)
        done = hengwen(*verb)
        if done.code:
            assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
            assert done.err.startswith("hengwen: hengwen.db: ")


def test_a_truncated_store_says_how_to_save_what_can_be_read(hengwen, store: Path) -> None:
    store.write_bytes(store.read_bytes()[:20_000])
    done = hengwen("runs", "list")
    assert done.code == 1
    assert done.err == (
        "hengwen: hengwen.db: is damaged (database disk image is malformed); restore a copy, "
        "or save what can be read: sqlite3 hengwen.db .recover | sqlite3 recovered.db\n"
    )


@pytest.mark.parametrize("value", ["{", b"\xff\xfe"], ids=["no JSON", "no UTF-8"])
def test_a_row_that_holds_something_else_is_damage(hengwen, store: Path, value: str | bytes) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE run SET facts = CAST(? AS TEXT)", [value])
    connection.close()
    done = hengwen("runs", "list")
    assert (done.code, len(done.err.splitlines())) == (1, 1)
    assert done.err.startswith("hengwen: hengwen.db: is damaged (")


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("plan.yaml", 1, "not a hengwen store, but another kind of file; name another file with --store"),
        ("folder", 1, "is a folder; name a file in it"),
        ("none.db", 2, "no such store; name one with --store, or create it with: hengwen run"),
        ("sqlite:///none.db", 2, "no such store; name one with --store, or create it with: hengwen run"),
        ("none/x.db", 1, "the folder none does not exist"),
    ],
)
def test_what_is_no_store_is_one_line(hengwen, plan: Path, name: str, code: int, message: str) -> None:
    (plan.parent / "folder").mkdir()
    for verb in (["runs", "list"], ["report"], ["calibrate", "plan.yaml"]):
        done = hengwen(*verb, "--store", name)
        assert (done.code, done.err) == (code, f"hengwen: {name}: {message}\n")
    assert not (plan.parent / "none.db").exists()


def test_a_store_behind_a_link_to_nothing_is_not_created_there(hengwen, plan: Path) -> None:
    (plan.parent / "hengwen.db").symlink_to(plan.parent / "elsewhere.db")
    done = hengwen("run", "plan.yaml")
    assert (done.code, done.err) == (
        1,
        "hengwen: hengwen.db: is a link to a file that does not exist; name the file itself\n",
    )
    assert not (plan.parent / "elsewhere.db").exists()


@pytest.mark.slow
def test_a_read_only_store_is_listed_and_reported_and_refuses_every_write(hengwen, store: Path) -> None:
    before, url = store.read_bytes(), "file:hengwen.db?mode=ro"
    for verb in (
        ["runs", "list"],
        ["runs", "show", "a"],
        ["report", "-o", "r.html"],
        ["run", "plan.yaml", "--dry-run"],
    ):
        assert hengwen(*verb, "--store", url).code == 0
    for verb in (["run", "plan.yaml"], ["runs", "pin", "a"], ["runs", "rm", "a", "-y"]):
        done = hengwen(*verb, "--store", url)
        assert (done.code, done.err) == (
            1,
            "hengwen: hengwen.db: is read-only; copy it to another folder, "
            "or name another store with --store\n",
        )
    assert store.read_bytes() == before
