"""``import_scores`` records scores that another tool gave as runs, one for each checkpoint."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path

from hengwen.errors import ConfigError, DataError
from hengwen.importers.logs import recognize
from hengwen.importers.verdicts import VerdictFile, Wins, common_model
from hengwen.io.row_reader import open_data_file
from hengwen.records import Response, Row, Run, Sample, Score, digest
from hengwen.results.comparability import names_text
from hengwen.runs.imported.reading import (
    ImportedScore,
    Levels,
    Naming,
    RunKey,
    ScoreFile,
    ScoreSource,
    Table,
)
from hengwen.runs.imported.survey import Survey
from hengwen.score_id import ScoreId
from hengwen.store.store import Store, opened_store

COMMIT_ROWS = 5000
"""Number of rows after which a transaction is committed, so that memory stays bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRuns:
    """Runs that an import recorded, and what it took for granted."""

    runs: tuple[Run, ...]
    """The runs in training order of their plans."""
    columns: tuple[str, ...]
    """For each field its column, such as ``score=judge_score``."""
    unused: tuple[str, ...]
    """Columns that were not read."""
    scores: int
    failures: Mapping[str, int]
    """Number of failures by status; a failure is never a score."""
    labels: int = 0
    """Number of values that raters gave."""
    failed: tuple[str, ...] = ()
    """File, line and reason of the failures, of at most 20."""
    unlisted: int = 0
    """Number of failures that ``failed`` leaves out."""
    notes: tuple[str, ...] = ()
    is_known: bool = False
    """Whether the store had these runs before, so that nothing was recorded."""


def import_scores(  # noqa: PLR0913 - options of the command
    files: str | Path | Sequence[str | Path],
    store: Store | str | Path = "hengwen.db",
    *,
    columns: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    plan: str = "",
    task: str = "scores",
    judge: str = "",
    scorer: str = "",
    version: str = "",
    checkpoint: str = "",
    checkpoints: Sequence[str] = (),
    scale: str = "",
    lower_is_better: bool = False,
) -> ImportedRuns:
    """Record scores that another tool gave as runs, so that every report and test can read them.

    Tables have a row for each score. Logs are recognized: of inspect (``.eval``), lm-eval
    (``samples_*.jsonl``), promptfoo (``.json``), and EvalScope (``reviews/``); the notes say what of them is
    left out. Other tools' results are written as a table first.

    A cell that is empty, no number or off the scale is a failure, never a score; so is a row whose column of
    failures names one. If there is no column of prompts, each row is the mean of a checkpoint.

    Args:
        files: One or several .csv, .jsonl, .parquet or .json files of the same columns, or logs.
        store: An open store, or the path or URL of a store.
        columns: Column of each field, such as ``{"score": "judge_score"}``; others are chosen by their names.
        plan: Name under which the runs are stored; default: the name of the first file.
        task: Task of rows without one.
        judge: Judge of rows without one; without a judge, scores are those of a scorer.
        scorer: Name of the scorer; default: the scores have the names of their columns.
        version: Version of the judge or scorer. Scores of one version can be compared across imports; without
            a version, only those of one import.
        checkpoint: Checkpoint of rows without one; default: the name of the file.
        checkpoints: Names in the order of training; default: by step, otherwise as they appear.
        scale: ``1-10`` (a range), ``1,2,3`` (levels) or ``A=3,B=2,C=1`` (levels with names).
        lower_is_better: Whether lower scores are better; needs ``scale``.

    Raises:
        ConfigError: A column is unknown, or an option is wrong.
        DataError: A row cannot be read; nothing is recorded then.
        StoreError: The store failed.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "judged.csv")
        ...     _ = file.write_text("model,question_id,judge_score\\na,1,7\\na,2,error\\nb,1,8\\nb,2,9\\n")
        ...     result = import_scores(file, "sqlite://", judge="gpt", scale="1-10")
        >>> [run.checkpoint for run in result.runs], result.scores, dict(result.failures)
        (['a', 'b'], 3, {'parse_error': 1})
    """
    if judge and scorer:
        raise ConfigError("the scores are those of a judge or of a scorer, not of both")
    naming = Naming(
        task=task,
        judge=judge,
        scorer=scorer,
        version=version,
        checkpoint=checkpoint,
        levels=Levels.parse(scale, lower_is_better=lower_is_better),
        columns=_pairs(columns),
    )
    sources = [(None if columns else recognize(path)) or Table(path) for path in _paths(files)]
    return _import(sources, store, naming, plan, checkpoints)


def import_verdicts(  # noqa: PLR0913 - options of the command
    files: str | Path | Sequence[str | Path],
    store: Store | str | Path = "hengwen.db",
    *,
    columns: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    winners: Mapping[str, str] | None = None,
    baseline: str | None = None,
    plan: str = "",
    task: str = "scores",
    judge: str = "",
    version: str = "",
    checkpoints: Sequence[str] = (),
) -> ImportedRuns:
    """Record verdicts on pairs of answers as runs: the score ``wins`` is 1 for a win, 0.5 for a tie, else 0.

    Verdicts may be weights between 0 and 1. The mean of a checkpoint is its win rate, over its opponents or
    against a baseline, which gets no run. What names no winner is a failure, never a verdict.

    Args:
        files: One or several .csv, .jsonl, .parquet or .json files of the same columns, judgments of FastChat
            or annotations of AlpacaEval.
        store: An open store, or the path or URL of a store.
        columns: Column of each field, such as ``{"winner": "human_winner"}``; others are chosen by their
            names.
        winners: What the values of the column of winners mean: ``a``, ``b`` or ``tie``.
        baseline: The model with which the others are compared; "" for none; default: the model that is in
            every verdict, if there is only one.
        plan: Name under which the runs are stored; default: the name of the first file.
        task: Task of the verdicts.
        judge: Judge of rows without one.
        version: Version of the judge. Verdicts of one version can be compared across imports.
        checkpoints: Names in the order of training; default: as they appear.

    Raises:
        ConfigError: A column is unknown, or an option is wrong.
        DataError: A row cannot be read; nothing is recorded then.
        StoreError: The store failed.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "pairs.csv")
        ...     rows = "model_a,model_b,question,winner", "base,v1,1,b", "base,v2,1,tie", "base,v2,2,?"
        ...     _ = file.write_text("\\n".join(rows))
        ...     result = import_verdicts(file, "sqlite://", judge="gpt")
        >>> [run.checkpoint for run in result.runs], result.scores, dict(result.failures)
        (['v1', 'v2'], 2, {'parse_error': 1})
    """
    verdicts = [VerdictFile(path, _pairs(columns), winners) for path in _paths(files)]
    against = common_model(verdicts) if baseline is None else baseline
    naming = Naming(task=task, version=version, baseline=against, levels=Levels.parse("0-1"))
    return _import(
        [Wins(file, against, judge or "judge") for file in verdicts], store, naming, plan, checkpoints
    )


def _paths(files: str | Path | Sequence[str | Path]) -> list[Path]:
    paths = [Path(files)] if isinstance(files, (str, Path)) else [Path(file) for file in files]
    for path in paths:
        if path.is_fifo() or path.is_dir():
            raise DataError(f"{path}: not a regular file; files are read several times")
    return paths


def _pairs(columns: Mapping[str, str] | Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(columns.items() if isinstance(columns, Mapping) else columns)


def _import(
    sources: Sequence[ScoreSource],
    store: Store | str | Path,
    naming: Naming,
    plan: str,
    checkpoints: Sequence[str],
) -> ImportedRuns:
    source = digest([_file_hash(item.path) for item in sources])
    survey = Survey(files=[ScoreFile(item, naming, source) for item in sources])
    survey.read()
    settings = digest(source, repr(naming), plan, list(checkpoints))
    runs = survey.runs(plan or sources[0].path.stem, checkpoints, settings, source)
    with opened_store(store) as opened:
        known = [_stored(opened, run) for run in runs.values()]
        if all(earlier is not None and earlier.status == "finished" for earlier in known):
            return _result(survey, [run for run in known if run is not None], is_known=True)
        for key, earlier in zip(list(runs), known, strict=True):
            if earlier is not None:  # an import that was interrupted
                runs[key] = replace(runs[key], id=earlier.id)
        return _result(survey, _record(opened, survey, runs, source))


def _file_hash(path: Path) -> str:
    with open_data_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stored(store: Store, run: Run) -> Run | None:
    """Return the run that an earlier import of the same files in the same way recorded."""
    earlier = (other for other in store.runs(run.plan) if other.plan_hash == run.plan_hash)
    return next(earlier, None)


def _record(store: Store, survey: Survey, runs: Mapping[RunKey, Run], source: str) -> list[Run]:
    """Record the runs with their scores; texts are stored with the answers if the files have them."""
    ledger = store.ledger()
    for run in runs.values():
        ledger.begin(run)
    human: dict[tuple[RunKey, ScoreId, str, int], list[tuple[ImportedScore, float]]] = {}
    rows: list[Row] = []
    for number, (_, item) in enumerate(survey.scores(), start=1):
        run = runs[item.run]
        if item.rater:
            if isinstance(item.outcome, Score):
                key = item.run, item.score, item.sample_id or "", item.repeat or 0
                human.setdefault(key, []).append((item, item.outcome.value))
            continue
        item_hash = ""
        if item.sample_id is not None and (item.answer or item.prompt):
            sample = Sample(id=item.sample_id, input=item.prompt, cluster=item.cluster)
            response = Response(
                sample_id=item.sample_id,
                text=item.answer,
                task=item.score.task,
                checkpoint=run.checkpoint,
                repeat=item.repeat or 1,
            )
            item_hash = digest(sample.hash, item.answer)
            if item.answer:
                ledger.record_response(run.id, sample, response)
        rows.append(_row(run, item, item_hash))
        if number % COMMIT_ROWS == 0:
            ledger.record_rows(rows)
            ledger.commit()
            rows.clear()
    ledger.record_rows(rows)
    signature = f"human|raters:{len(survey.raters)}|labels:{source[:8]}|v:1"
    for rated in human.values():
        ledger.record_rows(list(_human_rows(runs, survey, rated, signature)))
    finished = [
        replace(run, status="finished" if survey.statuses[key]["ok"] or survey.labels[key] else "failed")
        for key, run in runs.items()
    ]
    for run in finished:
        ledger.begin(run)
    ledger.commit()
    return finished


def _row(run: Run, item: ImportedScore, item_hash: str) -> Row:
    answer = item.sample_id, item.repeat, item.cluster
    return Row(run.id, item.score, run.checkpoint, *answer, item.outcome, item_hash)


def _human_rows(
    runs: Mapping[RunKey, Run],
    survey: Survey,
    rated: Sequence[tuple[ImportedScore, float]],
    signature: str,
) -> Iterator[Row]:
    """Yield the mean of the raters' values of one answer, for each judge's score that it belongs to."""
    item = rated[0][0]
    assert isinstance(item.outcome, Score)  # a person's failure is no value
    outcome = replace(
        item.outcome,
        value=fsum(value for _, value in rated) / len(rated),
        signature=signature,
        scale=item.outcome.scale and replace(item.outcome.scale, levels=None, discrete=True),
        details={
            "raters": [other.rater for other, _ in rated],
            "values": [value for _, value in rated],
            "drawn": [""] * len(rated),
        },
    )
    for score in survey.human_scores(item.score):
        named = item._replace(score=score, outcome=replace(outcome, name=score.base))
        yield _row(runs[item.run], named, "")


def _result(survey: Survey, runs: Sequence[Run], *, is_known: bool = False) -> ImportedRuns:
    counts = sum(survey.statuses.values(), Counter[str]())
    scores = counts.pop("ok", 0)
    numbered = sum(file.numbered for file in survey.files)
    doubles = sum(file.doubles for file in survey.files)
    notes = list(dict.fromkeys(note for file in survey.files for note in file.source.notes))
    if doubles:
        notes.append(f"{doubles} means are given twice with the same value and read once")
    if numbered and not any(isinstance(file.source, Wins) for file in survey.files):
        notes.append(
            f"{numbered} scores repeat a prompt; without a column of repeats they are repeats 2, 3, ..."
        )
    if survey.unlabelled:
        notes.append(f"labels of raters that are no value, and count nowhere: {survey.unlabelled}")
    labels = survey.labels.total()
    if labels and not survey.order:
        notes.append(
            f"{labels} labels of raters, and no score beside them that a report or a ranking could show; "
            "to count people as judges: --columns judge=COLUMN"
        )
    elif labels:
        notes.append(f"{labels} labels of raters, beside the scores of the same answers")
    ordered = sorted(runs, key=lambda run: (run.plan, run.order))
    if any(run.step is None for run in runs) and len(runs) > 1:
        names = names_text([run.checkpoint for run in ordered])
        notes.append(f"training order taken from the file: {names}; if it is wrong: --checkpoints")
    columns = [file.source.columns or file.columns for file in survey.files]
    return ImportedRuns(
        runs=tuple(ordered),
        columns=tuple(dict.fromkeys(pair for item in columns for pair in item.described)),
        unused=tuple(dict.fromkeys(name for item in columns for name in item.unused)),
        scores=scores,
        failures=dict(sorted(counts.items())),
        labels=labels,
        failed=tuple(survey.failed),
        unlisted=survey.unlisted,
        notes=tuple(notes),
        is_known=is_known,
    )
