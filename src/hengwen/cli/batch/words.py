"""Parse the words after ``--batch``, and print what an export, an import or a cancellation did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_info, print_warning

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hengwen.runs.batch.options import BatchAction, BatchOptions
    from hengwen.runs.run_plan import RunResult

TAKES = {"export": "one folder", "import": "one or more files", "cancel": "no further word"}


def batch_options(
    words: Sequence[str],
    *,
    batch: bool,
    refused: Mapping[str, bool],
    poll: float,
    online_below: int,
    report: Callable[[str], None] | None,
) -> BatchOptions | None:
    """Return the options of a run in batches; None without ``--batch``.

    Args:
        words: Words after the plan: none, ``export FOLDER``, ``import FILE...`` or ``cancel``.
        batch: Whether ``--batch`` is set.
        refused: Options that cannot be combined with ``--batch``, and whether they are set.
        poll: Seconds between two questions for the state of the batches.
        online_below: Number of calls from which a round is sent as a batch.
        report: Function that is called when the state of the batches changes.

    Raises:
        ConfigError: The words or options do not fit together, or a file does not exist.
    """
    from hengwen.errors import ConfigError
    from hengwen.runs.batch.options import BatchOptions

    if not batch:
        if words:
            raise ConfigError(f"{words[0]!r} needs --batch, as in: hengwen run PLAN --batch export FOLDER")
        return None
    for option, is_set in refused.items():
        if is_set:
            raise ConfigError(
                f"{option} cannot be combined with --batch, which resumes until no call is missing"
            )
    action, paths = _parse(words)
    missing = [path for path in paths if action == "import" and not path.is_file()]
    if missing:
        raise ConfigError(f"{missing[0]}: no such file")
    if action == "export" and paths[0].exists() and not paths[0].is_dir():
        raise ConfigError(f"{paths[0]}: is no folder; --batch export writes files into a folder")
    return BatchOptions(
        action=action,
        folder=paths[0] if action == "export" else None,
        files=tuple(paths) if action == "import" else (),
        poll_seconds=poll,
        online_below=online_below,
        report=report,
    )


def _parse(words: Sequence[str]) -> tuple[BatchAction, list[Path]]:
    """Return the action and its paths.

    Raises:
        ConfigError: The action is unknown, or has the wrong number of paths.
    """
    from hengwen.errors import ConfigError, did_you_mean

    if not words:
        return "run", []
    word, *names = words
    actions: dict[str, BatchAction] = {"export": "export", "import": "import", "cancel": "cancel"}
    if word not in actions:
        raise ConfigError(f"unknown word {word!r} after --batch{did_you_mean(word, TAKES)}")
    if not {"export": len(names) == 1, "import": bool(names), "cancel": not names}[word]:
        raise ConfigError(f"--batch {word} takes {TAKES[word]}, got {len(names)}")
    return actions[word], [Path(name) for name in names]


def show_action(options: BatchOptions, result: RunResult, plan: Path, *, as_json: bool) -> bool:
    """Print what an export, an import or a cancellation did.

    Returns:
        Whether this is all that the command prints; after a run and an import, the report follows.
    """
    if options.action == "cancel":
        _show_cancellation(result, as_json=as_json)
    elif options.action == "export":
        _show_export(result, plan, as_json=as_json)
    elif result.pending_calls:
        print_warning(
            f"{result.pending_calls:,} calls have no reply yet; export them with: "
            f"hengwen run {plan} --batch export FOLDER"
        )
    return options.action in ("cancel", "export")


def _show_cancellation(result: RunResult, *, as_json: bool) -> None:
    for warning in result.warnings:
        print_warning(warning)
    if as_json:
        typer.echo(json.dumps({"schema": 1, "cancelled": True}))
    else:
        print_info(f"no batch of plan {result.plan!r} is open any more; replies that were ready are kept")


def _show_export(result: RunResult, plan: Path, *, as_json: bool) -> None:
    paths = [str(path) for path in result.exported]
    if as_json:
        typer.echo(json.dumps({"schema": 1, "exported": paths, "calls": result.pending_calls}))
    elif not paths:
        print_info("no calls needed")
    else:
        for path in paths:
            print_info(f"exported: {path}")
        number = f"{result.pending_calls:,}"
        print_info(
            f"{number} calls; answer each file, for example: vllm run-batch -i FILE -o REPLIES "
            f"--model MODEL; then: hengwen run {plan} --batch import REPLIES"
        )


def resume_hint(options: BatchOptions | None, plan: Path) -> str:
    """Return how to go on after an interruption."""
    if options is None or options.action not in ("run", "cancel"):
        return "the same command resumes the run"
    return (
        f"batches go on at the provider: hengwen run {plan} --batch resumes, "
        f"hengwen run {plan} --batch cancel cancels them"
    )
