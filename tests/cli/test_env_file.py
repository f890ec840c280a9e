"""Settings from a .env file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def env_file(tmp_path: Path, hengwen: Callable, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The path of a .env file in the folder of the test; variables that it sets are removed afterwards."""
    before = dict(os.environ)
    monkeypatch.chdir(tmp_path)
    yield tmp_path / ".env"
    for name in set(os.environ) - set(before):
        del os.environ[name]


def test_keys_addresses_and_own_settings_are_read_and_the_file_is_named(hengwen, env_file) -> None:
    env_file.write_text("OPENAI_API_KEY=k1\nOPENAI_BASE_URL=http://x/v1\nHENGWEN_STORE=here.db\nPLAIN=1\n")
    done = hengwen("doctor")
    assert "OPENAI_API_KEY: set" in done.out
    assert "here.db" in done.out
    assert done.err == f"hengwen: {env_file}: read HENGWEN_STORE, OPENAI_API_KEY, OPENAI_BASE_URL\n"
    assert os.environ["OPENAI_BASE_URL"] == "http://x/v1"
    assert "PLAIN" not in os.environ


@pytest.mark.parametrize(
    "name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"]
)
def test_the_route_to_an_endpoint_is_not_read(hengwen, env_file, monkeypatch, name) -> None:
    monkeypatch.delenv(name, raising=False)
    env_file.write_text(f"{name}=http://evil:1\n")
    done = hengwen("doctor")
    assert name not in os.environ
    assert done.err == (
        f"hengwen: warning: {env_file}: ignored {name}; "
        "set proxies and certificates in the environment itself\n"
    )


def test_a_value_does_not_hold_other_variables(hengwen, env_file, monkeypatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    env_file.write_text('MY_BASE_URL="http://evil/${AWS_SECRET_ACCESS_KEY}"\nPATH=/evil\nexport B_API_KEY\n')
    hengwen("doctor")
    assert os.environ["MY_BASE_URL"] == "http://evil/${AWS_SECRET_ACCESS_KEY}"
    assert "evil" not in os.environ["PATH"]
    assert "B_API_KEY" not in os.environ


def test_the_environment_goes_before_the_file(hengwen, env_file, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    env_file.write_text("OPENAI_API_KEY=theirs\n")
    assert hengwen("doctor").err == ""
    assert os.environ["OPENAI_API_KEY"] == "mine"


def test_a_file_that_cannot_be_read_is_one_line(hengwen, env_file) -> None:
    env_file.write_bytes(b"OPENAI_API_KEY=\xff\xfe\n")
    done = hengwen("doctor")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"hengwen: {env_file}: cannot be read: " in done.err
