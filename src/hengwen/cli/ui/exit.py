"""The end of commands that evaluate: print warnings and failures, choose the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.cli.ui.messages import print_error, print_warning

if TYPE_CHECKING:
    from hengwen.runs.run_plan import RunResult


def exit_code(result: RunResult, *, strict: bool, store_is_kept: bool = True) -> int:
    """Print warnings and failures, and return the exit code."""
    from hengwen.text.numbers import failure_text

    for warning in result.warnings:
        print_warning(warning)
    failed = sum(result.failures.values())
    if failed:
        reasons = failure_text(result.failures, result.first_messages)
        print_warning(f"{failed} outcomes failed: {reasons}; means do not include them")
    if result.out_of_budget:
        print_error(
            f"budget reached; the results so far are in {result.store}, a higher budget resumes the run"
        )
        return 5
    if result.unreachable:
        print_error(
            f"gave up {', '.join(result.unreachable)}; the results so far are in {result.store}, "
            "the same command resumes the run"
        )
        return 1
    if result.unscored:
        rest = f"; all other scores are in {result.store}" if store_is_kept else ""
        print_error(f"no scores for {', '.join(result.unscored)}{rest}")
        return 1
    if strict and failed:
        return 1
    return 4 if result.pending_calls and not result.exported else 0
