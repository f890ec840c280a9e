"""``hengwen peer-review-plan``: let the judges of a plan compare stored answers, or estimate the cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from hengwen.cli.ui.language import choose_language
from hengwen.cli.ui.messages import print_error, print_info, print_waiting, print_warning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.monitoring.judge_trust import JudgeTrust
    from hengwen.peer_review.readers.battle_file import BattleFiles


OUT_OF_BUDGET = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """Options of a peer review of a plan."""

    plan: Path
    opponents: str
    matches: int | None
    own: bool
    store: str
    judge: str | None
    base_url: str | None
    concurrency: int
    limit: int | None
    budget: float | None
    price: tuple[float, float] | None
    time_limit: float | None
    dry_run: bool
    fresh: bool
    wait: bool
    trust: bool


def judge_plan_battles(
    options: PlanOptions, outputs: Sequence[Path], *, lang: str | None, as_json: bool, quiet: bool
) -> tuple[BattleFiles, tuple[JudgeTrust, ...], int]:
    """Return the battles that the judges of a plan gave, what is known of these judges, and the exit code.

    The exit code is 5 if the budget is spent.
    """
    from hengwen.cli.ui.existing_store import open_existing_store
    from hengwen.cli.ui.output import show, show_bill
    from hengwen.cli.ui.progress import resumable_progress
    from hengwen.cli.ui.trust import load_trusted
    from hengwen.documents.dry_run import dry_run_document
    from hengwen.errors import JudgeError
    from hengwen.monitoring.judge_trust import pair_judge_trust
    from hengwen.peer_review.judging.review_plan import Pairing, estimate_judging, judge_plan
    from hengwen.runs.options import RunOptions
    from hengwen.text.numbers import plural

    opponents = _opponents(options)
    loaded = load_trusted(options.plan, trust=options.trust, judge=options.judge, base_url=options.base_url)
    common: dict[str, Any] = {
        "pairing": Pairing(opponents=opponents, matches=options.matches, exclude_self=not options.own),
        "judge": options.judge,
        "base_url": options.base_url,
        "trust": True,
    }
    run_options = RunOptions(
        concurrency=options.concurrency,
        limit=options.limit,
        fresh=options.fresh,
        budget=options.budget,
        price=options.price,
        time_limit=options.time_limit,
        wait=print_waiting if options.wait else False,
    )
    with open_existing_store(options.store) as store:
        if options.dry_run:
            estimates = estimate_judging(loaded, store=store, options=run_options, **common)
            show(
                dry_run_document(estimates),
                outputs,
                language=choose_language(lang, loaded.language),
                as_json=as_json,
                quiet=quiet,
            )
            raise typer.Exit
        hint = f"the replies are in {store.name}, the same command resumes"
        try:
            with resumable_progress(lambda: hint, quiet=quiet or as_json) as progress:
                judged = judge_plan(
                    loaded, store=store, options=replace(run_options, progress=progress), **common
                )
        except JudgeError as error:
            if error.status != "budget":
                raise
            print_error(str(error))
            raise typer.Exit(OUT_OF_BUDGET) from None
        admissions = store.admissions()
    show_bill(judged.bill, choose_language(lang, loaded.language), quiet=quiet or as_json)
    if judged.out_of_budget:
        print_warning(
            f"the budget is spent; {plural(judged.skipped, 'verdict')} not asked for. The ranking is based "
            "on the verdicts so far; the same command with a higher --budget asks for the others"
        )
    if judged.failures:
        print_warning(f"the first failure: {judged.first_message}")
    if judged.is_sure is False and not quiet:
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


def _opponents(options: PlanOptions) -> int | None:
    """Return the value of ``--opponents`` as a number; None if it is ``all`` or ``adaptive``."""
    text = options.opponents
    adaptive = text == "adaptive"
    if not adaptive and options.matches is not None:
        raise typer.BadParameter("--matches limits --opponents adaptive only")
    if adaptive and options.matches is None:
        raise typer.BadParameter("--opponents adaptive needs --matches, the largest number of matches")
    if text != "all" and not adaptive and not (text.isdecimal() and int(text) > 0):
        raise typer.BadParameter(f"--opponents is all, adaptive or a number from 1, got {text!r}")
    return int(text) if text.isdecimal() else None
