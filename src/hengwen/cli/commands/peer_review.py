"""``hengwen peer-review BATTLES...``, ``peer-review STORE`` and ``hengwen peer-review-plan PLAN``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_existing_store
from hengwen.cli.ui.messages import print_error, print_info, print_warning
from hengwen.cli.ui.options import Calls
from hengwen.cli.ui.output import Face
from hengwen.errors import ConfigError, DataError, JudgeError

if TYPE_CHECKING:
    from hengwen.monitoring.judge_trust import JudgeTrust
    from hengwen.peer_review.battle_files import BattleFiles
    from hengwen.peer_review.human import HumanComparison
    from hengwen.peer_review.judging.review_plan import Pairing
    from hengwen.peer_review.result import PeerReview

    Reviewed = tuple[BattleFiles, tuple[JudgeTrust, ...]]
    """Battles, and what is known of their judges."""

BattlesFile = Annotated[
    Path | None, typer.Option("--battles", help="Write the battles to this .jsonl or .csv.")
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="judge-bt, bradley-terry, davidson, uniform, majority, rating, consistency or elo; default: "
        "judge-bt for 3 judges or more, else bradley-terry.",
    ),
]
Own = Annotated[
    bool | None,
    typer.Option(
        "--own/--no-own",
        help="Count verdicts of judges on their own answers; default: only for judge-bt and consistency.",
    ),
]
PLAN_SUFFIXES = (".yaml", ".yml")
STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")


def peer_review(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="BATTLES",
            help="Battles, .jsonl or .csv: *_pair.jsonl of FastChat or PiCO, or one row per verdict; or a "
            "store (.db): of two answers, the one to which a judge gave the better score wins.",
        ),
    ],
    method: Method = None,
    conflict: Annotated[
        str,
        typer.Option(
            "--conflict",
            help="How a match counts in which the two orders have different winners: tie or abstain.",
        ),
    ] = "tie",
    own: Own = None,
    human: Annotated[
        Path | None,
        typer.Option(
            "--human", help="Human ranking: a .csv or .jsonl with model and score, or model and rank."
        ),
    ] = None,
    pairs: options.Pairs = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="FastChat's question.jsonl, for --pairs.")
    ] = None,
    answers: Annotated[
        list[Path] | None,
        typer.Option("--answers", help="FastChat's model_answer file, for --pairs; repeatable."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", help="FIELD=COLUMN,... such as winner=human_winner; default: by the names."
        ),
    ] = None,
    battles: BattlesFile = None,
    resamples: Annotated[
        int, typer.Option("--resamples", min=20, help="Number of resamples of the questions.")
    ] = 200,
    seed: options.Seed = 0,
    *,
    face: Face,
) -> None:
    """Rank models from verdicts of judges on pairs of answers; the judges may be the models themselves."""
    from hengwen.io.output_files import check_target
    from hengwen.peer_review.human import read_human_ranking

    plan = next((file for file in files if file.suffix.lower() in PLAN_SUFFIXES), None)
    if plan is not None:
        raise ConfigError(f"{plan}: peer-review of a plan is now: hengwen peer-review-plan {plan}")
    _check_choices(method, conflict)
    if pairs is None:
        options.refuse(context, dict.fromkeys(("questions", "answers"), "needs --pairs"))
    inputs = [*files, *(answers or ()), *(path for path in (questions, human) if path)]
    for target in (pairs, battles):
        if target is not None:
            check_target(target, inputs)
    face.check(inputs)
    ranking = read_human_ranking(human) if human else None
    data, judges = _stored(files[0]) if _is_store(files) else _read(files, options.parse_columns(columns))
    if battles is not None:
        write_battles(battles, data)
    review, comparison = _review(
        data,
        ranking,
        (files[0], human),
        conflict=conflict,
        method=method,
        exclude_self=None if own is None else not own,
        n_boot=resamples,
        seed=seed,
    )
    if pairs is not None:
        _write_pairs(pairs, data, review, questions, answers or [])
    _show(review, comparison, (data, judges), face)


def _is_store(files: list[Path]) -> bool:
    return len(files) == 1 and files[0].suffix.lower() in STORE_SUFFIXES


def _stored(store: Path) -> Reviewed:
    from hengwen.monitoring.judge_trust import judge_trust
    from hengwen.peer_review.battle_files import stored_battles

    with open_existing_store(str(store)) as opened:
        return stored_battles(opened), judge_trust(opened, opened.latest())


def _read(files: list[Path], columns: list[tuple[str, str]]) -> Reviewed:
    from hengwen.monitoring.judge_trust import pair_judge_trust
    from hengwen.peer_review.battle_files import read_battles

    data = read_battles(files, columns)
    return data, tuple(pair_judge_trust({}, judge) for judge in data.battles.judges)


def peer_review_plan(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a YAML file.")],
    method: Method = None,
    own: Own = None,
    opponents: Annotated[
        str,
        typer.Option(
            "--opponents",
            help="Opponents of each model on each prompt: all, a number, or adaptive (where the "
            "ranking is not sure).",
        ),
    ] = "all",
    matches: Annotated[
        int | None,
        typer.Option("--matches", min=1, help="Maximum number of matches of an adaptive review."),
    ] = None,
    battles: BattlesFile = None,
    *,
    calls: Calls,
    face: Face,
) -> None:
    """Let the judges of a plan compare the stored answers of its checkpoints, and rank the checkpoints.

    Other rankings of the same verdicts need no further call: hengwen peer-review reads the file of --battles.
    """
    from hengwen.io.output_files import check_target

    _check_choices(method)
    if battles is not None:
        check_target(battles, [plan])
    face.check([plan])
    pairing = chosen_pairing(opponents, matches, own=bool(own))
    data, judges, code = judge_plan_battles(plan, pairing, calls, face)
    if battles is not None:
        write_battles(battles, data)
    exclude_self = None if own is None else not own
    review, _ = _review(data, None, (plan, None), method=method, exclude_self=exclude_self)
    _show(review, None, (data, judges), face)
    raise typer.Exit(code)


def _show(
    review: PeerReview,
    comparison: HumanComparison | None,
    reviewed: Reviewed,
    face: Face,
) -> None:
    from hengwen.documents.judges.peer_review import peer_review_document

    data, judges = reviewed
    if data.failures and face.is_silent:
        verdicts = "1 verdict is" if data.failures == 1 else f"{data.failures} verdicts are"
        print_warning(f"{verdicts} missing because the judge failed; a failure does not count")
    face.show(
        peer_review_document(review, comparison, failures=data.failures, rewards=data.rewards, judges=judges),
        face.language(),
    )


def _review(
    data: BattleFiles,
    ranking: dict[str, float] | None,
    paths: tuple[Path, Path | None],
    **choices: Any,
) -> tuple[PeerReview, HumanComparison | None]:
    """Return the review and its comparison with people; errors name the file."""
    from hengwen.peer_review.human import compare_with_human
    from hengwen.peer_review.review import peer_review as review_battles

    try:
        review = review_battles(data.battles, **choices)
    except ValueError as error:
        raise DataError(f"{paths[0]}: {error}") from None
    try:
        return review, None if ranking is None else compare_with_human(review, ranking)
    except ValueError as error:
        raise DataError(f"{paths[1]}: {error}") from None


def _check_choices(method: str | None, conflict: str = "tie") -> None:
    from typing import get_args

    from hengwen.peer_review.estimates.method import RankingMethod
    from hengwen.peer_review.verdicts import Conflict

    if method is not None and method not in get_args(RankingMethod):
        raise typer.BadParameter(f"--method is one of {', '.join(get_args(RankingMethod))}, got {method!r}")
    if conflict not in get_args(Conflict):
        raise typer.BadParameter(f"--conflict is tie or abstain, got {conflict!r}")


def _write_pairs(
    target: Path, data: BattleFiles, review: PeerReview, questions: Path | None, answers: list[Path]
) -> None:
    from hengwen.io.output_files import row_writer
    from hengwen.peer_review.battle_files import read_answers, read_prompts
    from hengwen.peer_review.exports import PAIR_FIELDS, preference_pairs

    prompts = {**data.prompts, **(read_prompts(questions) if questions else {})}
    texts = {**data.answers, **read_answers(answers)}
    if not prompts or not texts:
        raise DataError(
            f"{target}: preference pairs need texts: columns prompt, answer_a and answer_b in the battles, "
            "or --questions and --answers"
        )
    weighted = all(judge.weight is not None for judge in review.judges)
    weights = {judge.name: judge.weight or 0.0 for judge in review.judges} if weighted else None
    written = 0
    with row_writer(target, list(PAIR_FIELDS)) as write:
        for pair in preference_pairs(data.battles, prompts, texts, weights):
            write(pair)
            written += 1
    print_info(f"{target}: {written} preference pairs")
    print_warning("a model trained on these pairs has seen the questions: do not test it with them")


OUT_OF_BUDGET = 5


def judge_plan_battles(
    plan: Path, pairing: Pairing, calls: Calls, face: Face
) -> tuple[BattleFiles, tuple[JudgeTrust, ...], int]:
    """Return the battles of a plan's judges, what is known of them, and the exit code (5: budget spent)."""
    from hengwen.cli.ui.progress import resumable_progress
    from hengwen.documents.dry_run import dry_run_document
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
    from hengwen.io.output_files import row_writer
    from hengwen.peer_review.exports import FIELDS, plain_rows

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
