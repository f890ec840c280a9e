"""Print what an export, an import or a cancellation of batches did, and which command comes next."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_info, print_warning

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.runs.options import BatchOptions
    from hengwen.runs.run_plan import RunResult
    from hengwen.store.store import Store

REPEATED = ("store", "judge", "base_url", "limit", "trust")
"""Options that another command on the same plan must repeat."""


class FollowUp:
    """What is printed at the end of a command, and which command comes next."""

    def __init__(self, context: typer.Context, plan: Path, batch: BatchOptions) -> None:
        self._context, self._plan, self.batch = context, plan, batch

    def open(self, store: Store, plan: str) -> None:
        """Note which batches are open before the run."""
        self._store, self._batches = store, store.batches(plan)
        self._was_open = bool(self._batches.files())

    def resume_hint(self) -> str:
        """Return which command resumes the run after an interruption."""
        if not self._batches.files("uploaded", "created"):
            return "the same command resumes the run"
        return (
            f"batches go on at the provider: {self._command('submit')} resumes, "
            f"{self._command('cancel')} cancels them"
        )

    def show(self, result: RunResult, *, strict: bool, as_json: bool) -> None:
        """Print what an export, an import or a cancellation did."""
        if self.batch.action == "cancel":
            self._show_cancellation(result, as_json=as_json)
            raise typer.Exit
        if self.batch.action == "export":
            from hengwen.cli.ui.output import exit_code

            self._show_export(result, as_json=as_json)
            raise typer.Exit(exit_code(replace(result, unscored=()), strict=strict))
        if result.pending_calls:
            print_warning(
                f"{result.pending_calls:,} calls have no reply yet; export them with: "
                f"{self._command('export')} FOLDER"
            )

    def _show_cancellation(self, result: RunResult, *, as_json: bool) -> None:
        for warning in result.warnings:
            print_warning(warning)
        batches = f"no batch of plan {result.plan!r}"
        if as_json:
            typer.echo(json.dumps({"schema": 1, "cancelled": self._was_open}))
        elif self._was_open:
            print_info(f"{batches} is open any more in {result.store}; replies that were ready are kept")
        else:
            print_info(f"{batches} was open in {result.store}")

    def _show_export(self, result: RunResult, *, as_json: bool) -> None:
        paths = [str(path) for path in result.exported]
        if as_json:
            typer.echo(json.dumps({"schema": 1, "exported": paths, "calls": result.pending_calls}))
        elif not paths:
            print_info("no calls exported" if result.failures else "no calls needed")
        else:
            for path in paths:
                print_info(f"exported: {path}")
            print_info(
                f"{result.pending_calls:,} calls; answer each file, for example: vllm run-batch -i FILE "
                f"-o REPLIES --model MODEL; then: {self._command('import')} REPLIES"
            )

    def _command(self, action: str) -> str:
        """Return another command on the same plan, with the options that it must repeat."""
        words = ["hengwen", "batch", action, str(self._plan)]
        for name in REPEATED:
            source = self._context.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                value = str(self._context.params[name])
                if name == "store" and "://" in value:
                    value = self._store.name  # without a password
                words += [f"--{name.replace('_', '-')}", *([] if name == "trust" else [value])]
        return shlex.join(words)
