"""``hengwen peer-review BATTLES...`` and ``hengwen peer-review STORE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_existing_store, print_info, print_warning
from hengwen.cli.ui.output import Face
from hengwen.errors import DataError

if TYPE_CHECKING:
    from hengwen.monitoring.judge_trust import JudgeTrust
    from hengwen.peer_review.battle_files import BattleFiles
    from hengwen.peer_review.human import HumanComparison
    from hengwen.peer_review.result import PeerReview

    Reviewed = tuple[BattleFiles, tuple[JudgeTrust, ...]]
    """Battles, and what is known of their judges."""

STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")


def peer_review(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="BATTLES",
            help="Battles, .jsonl or .csv: *_pair.jsonl of FastChat or PiCO, or one row per verdict; or a "
            "store (.db): of two answers, the one to which a judge gave the better score wins.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="judge-bt, bradley-terry, consistency or uniform; default: judge-bt for 3 judges or more, "
            "else bradley-terry.",
        ),
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(
            "--human", help="Human ranking: a .csv or .jsonl with model and score, or model and rank."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", help="FIELD=COLUMN,... such as winner=human_winner; default: by the names."
        ),
    ] = None,
    battles: Annotated[
        Path | None, typer.Option("--battles", help="Write the battles to this .jsonl or .csv.")
    ] = None,
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

    _check_method(method)
    inputs = [*files, *([human] if human else ())]
    if battles is not None:
        check_target(battles, inputs)
    face.check(inputs)
    ranking = read_human_ranking(human) if human else None
    data, judges = _stored(files[0]) if _is_store(files) else _read(files, options.parse_columns(columns))
    if battles is not None:
        write_battles(battles, data)
    review, comparison = _review(
        data,
        ranking,
        (files[0], human),
        method=method,
        n_boot=resamples,
        seed=seed,
    )
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


def _check_method(method: str | None) -> None:
    from typing import get_args

    from hengwen.peer_review.estimates.votes import RankingMethod

    if method is not None and method not in get_args(RankingMethod):
        raise typer.BadParameter(f"--method is one of {', '.join(get_args(RankingMethod))}, got {method!r}")


def write_battles(target: Path, data: BattleFiles) -> None:
    """Write battles to a file that ``hengwen peer-review`` reads."""
    from hengwen.io.output_files import row_writer
    from hengwen.peer_review.battle_files import FIELDS, plain_rows

    with row_writer(target, list(FIELDS)) as write:
        for row in plain_rows(data.battles):
            write(row)
    print_info(f"{target}: {len(data.battles)} battles")
