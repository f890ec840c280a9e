"""The pages as a whole: what stands on each, and what a store that is gone looks like."""

from __future__ import annotations

import shutil

from tests.view.conftest import TOKEN, client_of


def test_the_first_page_shows_the_runs(client) -> None:
    assert "ckpt-4000" in client.get("/").text


def test_a_store_that_vanishes_gives_a_page_that_says_so_and_one_that_returns_is_read(
    demo_store, tmp_path
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(demo_store, path)
    client = client_of(path)
    assert client.get("/", params={"token": TOKEN}).status_code == 200
    path.unlink()
    gone = client.get("/")
    assert (gone.status_code, "no such store" in gone.text) == (503, True)
    path.write_text("another kind of file, longer than a page header of sqlite " * 20, "utf-8")
    other = client.get("/")
    assert (other.status_code, "not a hengwen store" in other.text) == (503, True)
    shutil.copy(demo_store, path)
    assert client.get("/").status_code == 200


def test_what_is_not_there_is_said(client) -> None:
    assert client.get("/no-such-page").status_code == 404
