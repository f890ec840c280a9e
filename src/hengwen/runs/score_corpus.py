"""Score a text file against reference files, one text per line, alone or beside that of another system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError, DataError
from hengwen.io.row_writer import check_target, row_writer
from hengwen.io.yaml_config import read_text
from hengwen.objective.overlap.corpus import CorpusScore, corpus_scores
from hengwen.objective.overlap.metric_options import metrics_without_tokenizer, options_by_metric
from hengwen.objective.overlap.paired_tests import SEED, SystemComparison, compare_systems
from hengwen.objective.overlap.resample import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.io.row_writer import JsonRow
    from hengwen.objective.overlap.paired_tests import PairedTestName

ROW_FILES = (".jsonl", ".ndjson", ".csv")
"""Endings of files with rows, which are no texts of one line each."""
_INTERVAL_OPTIONS = ("confidence", "resamples")
_SCORE_FIELDS = ("name", "value", "low", "high", "confidence", "n", "failures", "first_failure", "tokenizer")
_BASELINE_FIELDS = ("baseline", "baseline_low", "baseline_high", "difference", "p", "test", "trials", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTestSettings:
    """The other system and the test of the difference."""

    file: Path
    """Texts of the baseline."""
    test: PairedTestName = "ar"
    trials: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFileResult:
    """Values of a file, and of its baseline if there is one."""

    scores: list[CorpusScore]
    baseline: list[CorpusScore]
    comparisons: list[SystemComparison]
    warnings: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """Whether a text was left out of a value."""
        return any(score.failures for score in (*self.scores, *self.baseline))

    def as_rows(self) -> list[JsonRow]:
        """Return one row for each metric."""
        rows = [_score_row(score) for score in self.scores]
        for row, score, comparison in zip(rows, self.baseline, self.comparisons, strict=False):
            low, high = score.interval or (None, None)
            values = (score.value, low, high, comparison.difference, comparison.p)
            settings = (comparison.test, comparison.trials, comparison.seed)
            row |= dict(zip(_BASELINE_FIELDS, (*values, *settings), strict=True))
        return [{**row, "signature": score.signature} for row, score in zip(rows, self.scores, strict=True)]


def score_corpus_files(
    hypotheses: Path,
    references: Sequence[Path],
    *,
    metrics: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    paired: PairedTestSettings | None = None,
    seed: int | None = None,
    target: Path | None = None,
) -> CorpusFileResult:
    """Return the corpus values of a text file, and write them to a file if one is named.

    Args:
        hypotheses: A text file, one text per line.
        references: Text files with as many lines; a blank line is a missing reference.
        metrics: Names of metrics, as in ``corpus_scores``.
        settings: Options of the metrics and of their intervals (``confidence``, ``resamples``).
        paired: The baseline and the test; None for one system.
        seed: Seed of the intervals (default 0) and of the test (default 12345).
        target: ``.jsonl`` or ``.csv`` with a row for each metric.

    Raises:
        ConfigError: A metric, an option or a value is unknown, or the target cannot be written.
        DataError: A file cannot be read, the numbers of lines differ, or a value is not defined.
        PluginError: A package of a tokenizer is not installed.
    """
    options = dict(settings or {})
    interval: dict[str, Any] = {name: options.pop(name) for name in _INTERVAL_OPTIONS if name in options}
    _check_options(metrics, options, interval)
    if target is not None:
        check_target(target)
    texts = _lines(hypotheses)
    rows = [list(row) for row in zip(*(_lines(path, hypotheses, texts) for path in references), strict=True)]
    baseline_texts = _lines(paired.file, hypotheses, texts) if paired else None

    def scores_of(path: Path, path_texts: Sequence[str]) -> list[CorpusScore]:
        try:
            return corpus_scores(
                path_texts, rows, metrics=metrics, options=options, seed=seed or 0, **interval
            )
        except ValueError as error:
            raise DataError(f"{path}: {error}") from None

    scores = scores_of(hypotheses, texts)
    baseline: list[CorpusScore] = []
    comparisons: list[SystemComparison] = []
    if paired is not None and baseline_texts is not None:
        baseline = scores_of(paired.file, baseline_texts)
        try:
            comparisons = compare_systems(
                texts,
                baseline_texts,
                rows,
                metrics=metrics,
                test=paired.test,
                trials=paired.trials,
                seed=SEED if seed is None else seed,
                options=options,
            )
        except ValueError as error:
            raise DataError(f"{paired.file}: {error}") from None
    warnings = _warnings(metrics, options, scores, baseline)
    result = CorpusFileResult(scores=scores, baseline=baseline, comparisons=comparisons, warnings=warnings)
    if target is not None:
        _write(result, target)
    return result


def _check_options(metrics: Sequence[str], options: Mapping[str, Any], interval: Mapping[str, Any]) -> None:
    from hengwen._internal.checks import whole_number

    try:
        options_by_metric(metrics, options)
        whole_number("resamples", interval.get("resamples", RESAMPLES))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    confidence = interval.get("confidence", 0.95)
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise ConfigError(f"confidence must lie in (0, 1), got {confidence!r}")


def _lines(path: Path, other: Path | None = None, other_lines: Sequence[str] = ()) -> list[str]:
    """Return the lines of a text file, as many as those of the other file."""
    if path.suffix.lower() in ROW_FILES:
        raise DataError(f"{path}: --refs compares text files with one text per line, not {path.suffix} files")
    lines = read_text(path).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise DataError(f"{path}: no lines")
    if other is not None and len(lines) != len(other_lines):
        raise DataError(f"{path}: {len(lines)} lines, but {other} has {len(other_lines)}")
    return [line.removesuffix("\r") for line in lines]


def _warnings(
    metrics: Sequence[str],
    options: Mapping[str, Any],
    scores: Sequence[CorpusScore],
    baseline: Sequence[CorpusScore],
) -> tuple[str, ...]:
    tokenizer = options.get("tokenize", "auto")
    lacking = metrics_without_tokenizer(metrics, tokenizer)
    warnings = [f"tokenize {tokenizer} does not exist for {name}, which uses auto" for name in lacking]
    names_by_reason: dict[str, list[str]] = {}
    for score in (*scores, *baseline):
        if score.failures:
            total = score.n + score.failures
            reason = f"left out {score.failures} of {total} texts, first: {score.details['first_failure']}"
            names_by_reason.setdefault(reason, []).append(score.name)
    left_out = [f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in names_by_reason.items()]
    return (*warnings, *left_out)


def _score_row(score: CorpusScore) -> JsonRow:
    low, high = score.interval or (None, None)
    reason = score.details.get("first_failure", "")
    values = (score.name, score.value, low, high, score.confidence, score.n, score.failures, reason)
    return dict(zip(_SCORE_FIELDS, (*values, score.tokenizer), strict=True))


def _write(result: CorpusFileResult, target: Path) -> None:
    rows = result.as_rows()
    with row_writer(target, list(rows[0])) as write:
        for row in rows:
            write(row)
