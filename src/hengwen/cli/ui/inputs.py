"""What a command reads: a store that must exist, a plan that the user must trust with its ``.env``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_info, print_warning
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.plans.plan import Plan
    from hengwen.store import Store


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
    """Load a plan that the user trusts, with the ``.env`` beside it; its code may run afterwards."""
    from hengwen.plans.overrides import resolve_plan
    from hengwen.plans.plan import load_plan
    from hengwen.plans.trust import check_trust, env_needs, env_settings, trust_digest, trust_needs

    plan = load_plan(path)
    resolved = resolve_plan(plan, judge=judge, base_url=base_url)
    settings = env_settings(resolved)
    needs = [] if trust else [*trust_needs(resolved), *env_needs(settings)]
    if needs:
        digest = trust_digest(plan)
        trusted = _is_remembered(digest) or _ask(path, needs, digest)
        check_trust(resolved, trust=trusted, further=env_needs(settings))
    os.environ.update(settings)
    if settings:
        print_info(f"hengwen: {path.parent / '.env'}: read {', '.join(settings)}")
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
