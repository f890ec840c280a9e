"""What a command reads: the ``.env`` file, a store that must exist, a plan that the user must trust."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_info, print_warning
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.plans.plan import Plan
    from hengwen.store import Store


_ALLOWED = re.compile(r"[A-Za-z0-9_]*_(?:API_KEY|BASE_URL)|HENGWEN_[A-Za-z0-9_]*")
_CONNECTION = re.compile(r"\w*_proxy|ssl_cert_\w+|requests_ca_bundle|curl_ca_bundle", re.IGNORECASE)
"""Names of variables that would change how endpoints are reached; they are ignored with a message."""


def read_env_file() -> None:
    """Set API keys, addresses and options of Hengwen from ``.env`` in this folder or the nearest above."""
    from dotenv import dotenv_values, find_dotenv

    path = find_dotenv(usecwd=True)
    if not path:
        return
    try:
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    ignored = sorted(name for name in values if _CONNECTION.fullmatch(name))
    if ignored:
        print_warning(
            f"{path}: ignored {', '.join(ignored)}; set proxies and certificates in the environment itself"
        )
    new = {
        name: value
        for name, value in values.items()
        if value is not None and _ALLOWED.fullmatch(name) and name not in os.environ
    }
    os.environ.update(new)
    if new:
        print_info(f"hengwen: {path}: read {', '.join(sorted(new))}")


def open_existing_store(location: str) -> Store:
    """Open a store that must exist."""
    from hengwen.store import store_files

    files = store_files(location)
    if files and not files[0].exists():
        raise ConfigError(f"{location}: no such store; name one with --store, or create it with: hengwen run")
    return open_or_create_store(location)


def name_plan(store: Store, taken: str, checkpoint: str = "") -> None:
    """Print which plan a command took from a store with several; of those with ``checkpoint``, if given."""
    others = {run.plan for run in store.runs() if checkpoint in ("", run.checkpoint)} - {taken}
    if others:
        print_info(
            f"plan {taken}, which ran last; also in {store.name}: {', '.join(sorted(others))} (--plan)"
        )


def open_or_create_store(location: str) -> Store:
    """Open a store, or create it if it does not exist."""
    from hengwen.store import open_store

    return open_store(location)


FILE_NAME = "trusted-plans"
"""File in the user's state folder; each line has the digest (sha256) of a trusted plan."""


def load_trusted(path: Path, *, trust: bool, judge: str | None = None, base_url: str | None = None) -> Plan:
    """Load a plan that the user trusts; code that it names may run afterwards."""
    from hengwen.plans.overrides import resolve_plan
    from hengwen.plans.plan import load_plan
    from hengwen.plans.trust import check_trust, trust_digest, trust_needs

    plan = load_plan(path)
    resolved = resolve_plan(plan, judge=judge, base_url=base_url)
    needs = [] if trust else trust_needs(resolved)
    if needs:
        check_trust(resolved, trust=_is_remembered(digest := trust_digest(plan)) or _ask(path, needs, digest))
    return plan


def _ask(path: Path, needs: list[str], digest: str) -> bool:
    if not _is_terminal():
        return False
    print_info(f"{path} is more than data:")
    for need in needs:
        print_info(f"  {need}")
    trusted = typer.confirm("trust this plan until it changes?", err=True)
    if trusted:
        _remember(digest)
    return trusted


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _is_remembered(digest: str) -> bool:
    try:
        return digest in _state_file().read_text("utf-8", errors="replace").split()
    except OSError:
        return False


def _remember(digest: str) -> None:
    file = _state_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{digest}\n")
    except OSError as error:
        print_warning(f"{file}: cannot be written, so the next command asks again: {error.strerror}")


def _state_file() -> Path:
    from platformdirs import user_state_path

    return user_state_path("hengwen", appauthor=False) / FILE_NAME
