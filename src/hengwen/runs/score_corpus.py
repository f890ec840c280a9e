"""Score a text file (one text per line) against reference files, and compare it with another text file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen._internal.checks import whole_number
from hengwen.errors import ConfigError, DataError
from hengwen.io.row_reader import bounded_lines, open_data_file, text_lines
from hengwen.objective.overlap.corpus import RESAMPLES, CorpusScore, Sampling, score_rows
from hengwen.objective.overlap.corpus_rows import (
    build_rows,
    metrics_without_tokenizer,
    options_by_metric,
)
from hengwen.objective.overlap.paired_tests import (
    SEED,
    TRIALS,
    PairedTestSettings,
    SystemComparison,
    compare_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.objective.overlap.corpus_rows import CorpusRows, MetricOptions
    from hengwen.objective.overlap.paired_tests import PairedTestName
    from hengwen.objective.overlap.pairs import References

ROW_FILES = (".jsonl", ".ndjson", ".csv")
"""Endings of file names (JSONL, CSV) that are refused, because these files do not have one text per line."""
_INTERVAL_OPTIONS = ("confidence", "resamples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The texts of a system to compare with, and the significance test of the difference."""

    file: Path
    """Texts of the other system."""
    test: PairedTestName = "ar"
    trials: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFileResult:
    """Metrics of a text file, and the comparison with a baseline if there is one."""

    scores: list[CorpusScore]
    baseline: list[CorpusScore]
    comparisons: list[SystemComparison]
    warnings: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """Whether some texts could not be scored, so that a value was computed without them."""
        return any(score.failures for score in (*self.scores, *self.baseline))


def score_corpus_files(
    hypotheses: Path,
    references: Sequence[Path],
    *,
    metrics: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    baseline: Baseline | None = None,
    seed: int | None = None,
) -> CorpusFileResult:
    """Return the metrics of a whole text file."""
    options = dict(settings or {})
    interval: dict[str, Any] = {name: options.pop(name) for name in _INTERVAL_OPTIONS if name in options}
    by_metric = _check_options(metrics, options, interval)
    texts = _lines(hypotheses)
    reference_sets = list(zip(*(_lines(path, hypotheses, texts) for path in references), strict=True))
    sampling = Sampling(clusters=tuple(map(str, range(len(texts)))), seed=seed or 0, **interval)
    baseline_texts = _lines(baseline.file, hypotheses, texts) if baseline else []
    rows = [_rows(hypotheses, texts, reference_sets, by_metric[name]) for name in metrics]
    baseline_rows: list[CorpusRows] = []
    comparisons: list[SystemComparison] = []
    if baseline is not None:
        baseline_rows = [
            _rows(baseline.file, baseline_texts, reference_sets, by_metric[name]) for name in metrics
        ]
        test = PairedTestSettings(baseline.test, baseline.trials or TRIALS[baseline.test], seed or SEED)
        try:
            comparisons = [compare_rows(*pair, test) for pair in zip(rows, baseline_rows, strict=True)]
        except ValueError as error:
            raise DataError(f"{baseline.file}: {error}") from None
    return CorpusFileResult(
        scores=[score_rows(metric_rows, sampling) for metric_rows in rows],
        baseline=[score_rows(metric_rows, sampling) for metric_rows in baseline_rows],
        comparisons=comparisons,
        warnings=_warnings(metrics, options, [*rows, *baseline_rows]),
    )


def _rows(
    path: Path, texts: Sequence[str], references: Sequence[References], options: MetricOptions
) -> CorpusRows:
    try:
        return build_rows(texts, references, options)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None


def _check_options(
    metrics: Sequence[str], options: Mapping[str, Any], interval: Mapping[str, Any]
) -> dict[str, MetricOptions]:
    """Return the options of each metric; raise ConfigError for a wrong option of a metric or interval."""
    confidence = interval.get("confidence", 0.95)
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise ConfigError(f"confidence must lie in (0, 1), got {confidence!r}")
    try:
        whole_number("resamples", interval.get("resamples", RESAMPLES))
        return options_by_metric(metrics, options)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _lines(path: Path, other: Path | None = None, other_lines: Sequence[str] = ()) -> list[str]:
    """Return the lines of a text file; raise an error if their number differs from that of another file."""
    if path.suffix.lower() in ROW_FILES:
        raise DataError(
            f"{path}: hengwen corpus compares text files with one text per line, not {path.suffix} files"
        )
    with open_data_file(path) as file:
        lines = [line.removesuffix("\n").removesuffix("\r") for line in text_lines(bounded_lines(file), path)]
    if not lines:
        raise DataError(f"{path}: no lines")
    if other is not None and len(lines) != len(other_lines):
        raise DataError(f"{path}: {len(lines)} lines, but {other} has {len(other_lines)}")
    return lines


def _warnings(
    metrics: Sequence[str], options: Mapping[str, Any], rows: Sequence[CorpusRows]
) -> tuple[str, ...]:
    tokenizer = options.get("tokenize", "auto")
    lacking = metrics_without_tokenizer(metrics, tokenizer)
    warnings = [f"tokenize {tokenizer} does not exist for {name}, which uses auto" for name in lacking]
    names_by_reason: dict[str, list[str]] = {}
    for metric_rows in rows:
        if metric_rows.failures:
            total = len(metric_rows.rows) + metric_rows.failures
            reason = f"left out {metric_rows.failures} of {total} texts, first: {metric_rows.first_failure}"
            names_by_reason.setdefault(reason, []).append(metric_rows.name)
    left_out = [f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in names_by_reason.items()]
    return (*warnings, *left_out)
