"""Compute metrics of a whole corpus with confidence intervals; ``hengwen corpus`` prints them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.objective.overlap.corpus_rows import build_rows, options_by_metric
from hengwen.stats.mean_interval import check_confidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from hengwen.objective.overlap.corpus_rows import CorpusRows
    from hengwen.objective.overlap.pairs import References
    from hengwen.records import Scale

RESAMPLES = 1000
MIN_BOOTSTRAP_CLUSTERS = 30
"""Minimum number of clusters (groups of dependent texts) for the bootstrap. With fewer clusters, bootstrap
intervals are too narrow, so Student's t intervals are used instead."""
_MAX_BATCH_COUNTS = 4_000_000
"""Maximum size (bootstrap samples x clusters) of the table of draws that is in memory at a time."""


def corpus_interval(
    statistics: Sequence[Sequence[float]],
    value: Callable[[Sequence[float]], float],
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the interval of a value that is computed from statistics summed over texts."""
    import numpy as np

    if len(statistics) != len(clusters):
        raise ValueError(f"{len(statistics)} statistics but {len(clusters)} clusters")
    check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    index = {name: position for position, name in enumerate(dict.fromkeys(clusters))}
    if len(index) < 2:
        return None
    rows = np.asarray(statistics, dtype=np.float64)
    sums = np.zeros((len(index), rows.shape[1]))
    np.add.at(sums, [index[name] for name in clusters], rows)
    if len(index) < MIN_BOOTSTRAP_CLUSTERS:
        return _jackknife(sums, value, confidence)
    return _bootstrap(sums, value, confidence, resamples, seed)


def _jackknife(
    sums: NDArray[np.float64], value: Callable[[Sequence[float]], float], confidence: float
) -> tuple[float, float]:
    import numpy as np
    from scipy.special import stdtrit

    total, groups = sums.sum(axis=0), len(sums)
    without = np.array([value((total - cluster_sums).tolist()) for cluster_sums in sums])
    error = float(np.sqrt((groups - 1) / groups * np.square(without - without.mean()).sum()))
    middle, half = value(total.tolist()), float(stdtrit(groups - 1, 0.5 + confidence / 2)) * error
    return middle - half, middle + half


def _bootstrap(
    sums: NDArray[np.float64],
    value: Callable[[Sequence[float]], float],
    confidence: float,
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    import numpy as np

    rng, groups = np.random.default_rng(seed), len(sums)
    values: list[float] = []
    while len(values) < resamples:
        size = min(resamples - len(values), max(1, _MAX_BATCH_COUNTS // groups))
        drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=size)
        values += [value(total) for total in (drawn @ sums).tolist()]
    low, high = np.quantile(values, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusScore:
    """The value of one metric for a corpus."""

    name: str
    """Name of the score, such as ``bleu.corpus``."""
    value: float
    interval: tuple[float, float] | None
    """Confidence interval; None if there are fewer than two clusters (groups of dependent texts)."""
    confidence: float
    n: int
    """Number of texts from which the value is computed."""
    failures: int = 0
    """Number of texts that are left out: those without a reference and, for ROUGE, those without a token. For
    all other metrics, a blank text is not left out: it adds no matches, but the length of its reference
    counts."""
    tokenizer: str
    signature: str
    scale: Scale
    details: Mapping[str, object] = field(default_factory=dict)
    """Parts of the value (such as the precisions of BLEU), as values for JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Settings for the confidence interval of a corpus value."""

    clusters: tuple[str, ...]
    """Cluster (group of dependent texts) of each text."""
    confidence: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0


def corpus_scores(  # noqa: PLR0913 - keyword-only options
    hypotheses: Sequence[str],
    references: Sequence[References],
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "rougeL"),
    tokenize: str = "auto",
    width: str = "keep",
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    options: Mapping[str, object] | None = None,
) -> list[CorpusScore]:
    """Return the value of each metric for a corpus, with its interval and signature.

    Args:
        hypotheses: The texts, such as the lines of a file.
        references: For each text, its references or its only reference. A reference that is None or blank is
            ignored. A text whose references are all None or blank is left out and counted in ``failures``.
        metrics: Names from ``METRICS``. BLEU, chrF and TER are computed from counts summed over the texts;
            ROUGE is the mean F of the texts.
        tokenize: Tokenizer of BLEU, TER or ROUGE. A metric that has no tokenizer of this name uses ``auto``,
            which chooses a tokenizer by the references.
        width: ``fold`` compares the texts after Unicode normalisation (NFKC), so that ``，`` equals ``,``.
        clusters: Cluster (group of dependent texts) of each text. By default, all texts are independent.
        confidence: Confidence level of the intervals, in (0, 1).
        resamples: Number of bootstrap samples for BLEU, chrF and TER. With fewer than 30 clusters, the
            intervals are Student's t intervals instead of bootstrap intervals.
        seed: Seed of the bootstrap.
        options: Further options by name, either for every metric that has them (``{"lowercase": True}``) or
            for one metric (``{"ter.tokenize": "whitespace"}``).

    Returns:
        One :class:`CorpusScore` for each metric, in the order of ``metrics``.

    Raises:
        ValueError: The numbers of texts and references differ, no text has a reference, a metric or an option
            is unknown, or a value is not defined (there is no token, or no text is long enough for 4-grams).

    Examples:
        >>> (score,) = corpus_scores(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"], metrics=["bleu"])
        >>> score.name, round(score.value, 2), score.n, score.tokenizer
        ('bleu.corpus', 49.28, 2, 'zh')
        >>> score.signature.partition("|version")[0]
        'bleu|width:keep|nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp'
    """
    has_tokenizer = any(name != "chrf" for name in metrics)
    shared = {"tokenize": tokenize} if has_tokenizer else {}
    settings = {"width": width, **shared, **(options or {})}
    by_metric = options_by_metric(metrics, settings)
    names = tuple(clusters) if clusters is not None else tuple(map(str, range(len(hypotheses))))
    sampling = Sampling(clusters=names, confidence=confidence, resamples=resamples, seed=seed)
    return [score_rows(build_rows(hypotheses, references, by_metric[name]), sampling) for name in metrics]


def score_rows(rows: CorpusRows, sampling: Sampling) -> CorpusScore:
    """Return the value of a corpus with its interval, which is cut off at the ends of the scale."""
    reason = {"first_failure": rows.first_failure} if rows.failures else {}
    return CorpusScore(
        name=rows.name,
        value=rows.value,
        interval=_interval(rows, sampling),
        confidence=sampling.confidence,
        n=len(rows.rows),
        failures=rows.failures,
        tokenizer=rows.tokenizer,
        signature=rows.signature,
        scale=rows.scale,
        details={**rows.details, **reason},
    )


def _interval(rows: CorpusRows, sampling: Sampling) -> tuple[float, float] | None:
    from hengwen.stats.mean_interval import mean_interval

    clusters = [sampling.clusters[index] for index in rows.kept]
    if rows.is_mean:
        values = [row[0] for row in rows.rows]
        scale = (rows.scale.low, rows.scale.high)
        interval = mean_interval(
            values,
            clusters,
            scale=scale,
            continuous=not rows.scale.discrete,
            confidence=sampling.confidence,
        ).bounds
    else:
        interval = corpus_interval(
            rows.rows,
            rows.value_of,
            clusters,
            confidence=sampling.confidence,
            resamples=sampling.resamples,
            seed=sampling.seed,
        )
    return interval and (max(interval[0], rows.scale.low), min(interval[1], rows.scale.high))
