"""``hengwen peer-review-plan``: let the judges of a plan compare stored answers, or estimate the cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from hengwen.cli.ui.messages import print_error, print_info, print_warning

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.cli.ui.calls import Calls
    from hengwen.cli.ui.output import Face
    from hengwen.monitoring.judge_trust import JudgeTrust
    from hengwen.peer_review.judging.review_plan import Pairing
    from hengwen.peer_review.readers.battle_file import BattleFiles


OUT_OF_BUDGET = 5


def judge_plan_battles(
    plan: Path, pairing: Pairing, calls: Calls, face: Face
) -> tuple[BattleFiles, tuple[JudgeTrust, ...], int]:
    """Return the battles that the judges of a plan gave, what is known of these judges, and the exit code.

    The exit code is 5 if the budget is spent.
    """
    from hengwen.cli.ui.existing_store import open_existing_store
    from hengwen.cli.ui.progress import resumable_progress
    from hengwen.documents.dry_run import dry_run_document
    from hengwen.errors import JudgeError
    from hengwen.monitoring.judge_trust import pair_judge_trust
    from hengwen.peer_review.judging.review_plan import estimate_judging, judge_plan
    from hengwen.text.numbers import plural

    run_options = calls.run_options()
    loaded = calls.load(plan)
    common: dict[str, Any] = {
        "pairing": pairing,
        "judge": calls.judge,
        "base_url": calls.base_url,
        "trust": True,
    }
    with open_existing_store(calls.store) as store:
        if calls.dry_run:
            estimates = estimate_judging(loaded, store=store, options=run_options, **common)
            face.show(dry_run_document(estimates), face.language(loaded.language))
            raise typer.Exit
        hint = f"the replies are in {store.name}, the same command resumes"
        try:
            with resumable_progress(lambda: hint, quiet=face.is_silent) as progress:
                judged = judge_plan(
                    loaded, store=store, options=replace(run_options, progress=progress), **common
                )
        except JudgeError as error:
            if error.status != "budget":
                raise
            print_error(str(error))
            raise typer.Exit(OUT_OF_BUDGET) from None
        admissions = store.admissions()
    face.show_bill(judged.bill, face.language(loaded.language))
    if judged.out_of_budget:
        print_warning(
            f"the budget is spent; {plural(judged.skipped, 'verdict')} not asked for. The ranking is based "
            "on the verdicts so far; the same command with a higher --budget asks for the others"
        )
    if judged.failures:
        print_warning(f"the first failure: {judged.first_message}")
    if judged.is_sure is False and not face.quiet:
        print_info("some orders are not sure yet; --matches allows more")
    trust = tuple(pair_judge_trust(admissions, **judge._asdict()) for judge in judged.judges)
    return judged.files, trust, OUT_OF_BUDGET if judged.out_of_budget else 0


def write_battles(target: Path, data: BattleFiles) -> None:
    """Write battles to a file that ``hengwen peer-review`` reads."""
    from hengwen.io.row_writer import row_writer
    from hengwen.peer_review.readers.plain import FIELDS, plain_rows

    with row_writer(target, list(FIELDS)) as write:
        for row in plain_rows(data.battles, data.prompts, data.answers):
            write(row)
    print_info(f"{target}: {len(data.battles)} battles")


def chosen_pairing(opponents: str, matches: int | None, *, own: bool) -> Pairing:
    """Return which answers are compared, as ``--opponents``, ``--matches`` and ``--own`` say."""
    from hengwen.peer_review.judging.review_plan import Pairing

    adaptive = opponents == "adaptive"
    if not adaptive and matches is not None:
        raise typer.BadParameter("--matches limits --opponents adaptive only")
    if adaptive and matches is None:
        raise typer.BadParameter("--opponents adaptive needs --matches, the largest number of matches")
    if opponents != "all" and not adaptive and not (opponents.isdecimal() and int(opponents) > 0):
        raise typer.BadParameter(f"--opponents is all, adaptive or a number from 1, got {opponents!r}")
    number = int(opponents) if opponents.isdecimal() else None
    return Pairing(opponents=number, matches=matches, exclude_self=not own)
