"""``import_scores`` records scores that another tool gave as runs, one for each checkpoint."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError
from hengwen.io.row_reader import open_data_file
from hengwen.records import Response, Row, Run, Sample, Score, digest
from hengwen.results.comparability import names_text
from hengwen.runs.imported.reading import Naming, ScoreFile
from hengwen.runs.imported.survey import Survey
from hengwen.runs.imported.values import Levels
from hengwen.runs.run_plan import opened_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.runs.imported.reading import ImportedScore, RunKey
    from hengwen.score_id import ScoreId
    from hengwen.store import Store

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

    A cell that is empty, no number or off the scale is a failure, never a score; so is a row whose column of
    failures names one. If there is no column of prompts, each row is the mean of a checkpoint.

    Args:
        files: One or several .csv, .jsonl or .parquet files of the same columns.
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
    paths = [Path(files)] if isinstance(files, (str, Path)) else [Path(file) for file in files]
    if judge and scorer:
        raise ConfigError("the scores are those of a judge or of a scorer, not of both")
    naming = Naming(
        task=task,
        judge=judge,
        scorer=scorer,
        version=version,
        checkpoint=checkpoint,
        levels=Levels.parse(scale, lower_is_better=lower_is_better),
        columns=tuple(columns.items() if hasattr(columns, "items") else columns),
    )
    hashes = [_file_hash(path) for path in paths]
    source = digest(hashes)
    survey = Survey(files=[ScoreFile(path, naming, source) for path in paths])
    survey.read()
    settings = digest(source, repr(naming), plan, list(checkpoints))
    runs = survey.runs(plan or paths[0].stem, checkpoints, settings, source)
    with opened_store(store) as opened:
        known = [_stored(opened, run) for run in runs.values()]
        if all(earlier is not None and earlier.status == "finished" for earlier in known):
            return _result(survey, [run for run in known if run is not None], is_known=True)
        for key, earlier in zip(list(runs), known, strict=True):
            if earlier is not None:  # an import that was interrupted
                runs[key] = replace(runs[key], id=earlier.id)
        return _result(survey, _record(opened, survey, runs, source))


def _file_hash(path: Path) -> str:
    sha = hashlib.sha256()
    with open_data_file(path) as file:
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


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
        replace(run, status="finished" if survey.statuses[key]["ok"] else "failed")
        for key, run in runs.items()
    ]
    for run in finished:
        ledger.begin(run)
    ledger.commit()
    return finished


def _row(run: Run, item: ImportedScore, item_hash: str) -> Row:
    return Row(
        run_id=run.id,
        score=item.score,
        checkpoint=run.checkpoint,
        sample_id=item.sample_id,
        repeat=item.repeat,
        cluster=item.cluster,
        outcome=item.outcome,
        item_hash=item_hash,
    )


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
        details={"raters": [other.rater for other, _ in rated], "drawn": [""] * len(rated)},
    )
    for score in survey.human_scores(item.score):
        named = item._replace(score=score, outcome=replace(outcome, name=score.base))
        yield _row(runs[item.run], named, "")


def _result(survey: Survey, runs: Sequence[Run], *, is_known: bool = False) -> ImportedRuns:
    """Return what was imported."""
    counts = sum(survey.statuses.values(), Counter[str]())
    scores = counts.pop("ok", 0)
    numbered = sum(file.numbered for file in survey.files)
    doubles = sum(file.doubles for file in survey.files)
    notes = []
    if doubles:
        notes.append(f"{doubles} means are given twice with the same value and read once")
    if numbered:
        notes.append(
            f"{numbered} scores repeat a prompt; without a column of repeats they are repeats 2, 3, ..."
        )
    ordered = sorted(runs, key=lambda run: (run.plan, run.order))
    if any(run.step is None for run in runs) and len(runs) > 1:
        names = names_text([run.checkpoint for run in ordered])
        notes.append(f"training order taken from the file: {names}; if it is wrong: --checkpoints")
    return ImportedRuns(
        runs=tuple(ordered),
        columns=tuple(dict.fromkeys(pair for file in survey.files for pair in file.columns.described)),
        unused=tuple(dict.fromkeys(name for file in survey.files for name in file.columns.unused)),
        scores=scores,
        failures=dict(sorted(counts.items())),
        notes=tuple(notes),
        is_known=is_known,
    )
