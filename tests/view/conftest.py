"""The pages of `hengwen view` over a demo run, asked for by Starlette's client."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from starlette.testclient import TestClient

from hengwen import open_store, run_plan
from hengwen.view.app import create_app

if TYPE_CHECKING:
    from starlette.applications import Starlette

TOKEN = "a token of thirty-two characters"
ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory) -> Path:
    """A store with the runs of the demo; tests do not change it."""
    path = tmp_path_factory.mktemp("view") / "demo.db"
    with open_store(path) as store:
        run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
    return path


def client_of(store: Path | str, **settings) -> TestClient:
    """Return a client that has not shown the token yet."""
    return TestClient(
        create_app(str(store), token=TOKEN, **{"language": "en", **settings}),
        base_url=ADDRESS,
    )


def state_of(client: TestClient) -> Any:
    """Return what the application of a client keeps."""
    return cast("Starlette", client.app).state


@pytest.fixture
def client(demo_store) -> TestClient:
    """A client that has the cookie."""
    client = client_of(demo_store)
    client.get("/", params={"token": TOKEN})
    return client
