"""Compare two systems on one corpus with sacrebleu's paired tests: bootstrap, approximate randomisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from hengwen._internal.checks import whole_number
from hengwen.objective.option_checks import check_choice
from hengwen.objective.overlap.corpus_rows import build_rows, options_by_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hengwen.objective.overlap.corpus_rows import CorpusRows
    from hengwen.objective.overlap.pairs import References

PairedTestName = Literal["ar", "bs"]
"""``ar`` is approximate randomisation, ``bs`` the paired bootstrap; the names are sacrebleu's."""
TRIALS: dict[PairedTestName, int] = {"ar": 10_000, "bs": 1000}
"""Default number of trials, as in sacrebleu."""
SEED = 12345
"""Default seed, as in sacrebleu."""
MAX_BYTES = 4 * 10**9
"""Maximum memory of a test in bytes; sacrebleu draws all resamples at once."""


class PairedTestSettings(NamedTuple):
    """Settings of a paired test: its method, its number of trials, and its seed."""

    test: PairedTestName
    trials: int
    seed: int = SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemComparison:
    """The difference of two systems under one metric."""

    name: str
    """Name of the score, such as ``bleu.corpus``."""
    system: float
    """Value of the tested system, computed from the texts for which both systems have a value."""
    baseline: float
    """Value of the system to compare with, computed from the texts for which both systems have a value."""
    difference: float
    """Value of the tested system minus value of the system to compare with."""
    p: float
    """Two-sided p-value; it is at least 1 / (trials + 1)."""
    n: int
    """Number of texts in the test."""
    test: PairedTestName
    trials: int
    seed: int
    signature: str
    """Every setting of the metric that can change the value."""


def compare_systems(
    hypotheses: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[References],
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "rougeL"),
    test: PairedTestName = "ar",
    trials: int | None = None,
    seed: int = SEED,
    options: Mapping[str, object] | None = None,
) -> list[SystemComparison]:
    """Return the differences between two systems on one corpus, each with the p-value of a paired test.

    Args:
        hypotheses: Texts of the tested system.
        baseline: Texts of the system to compare with, in the order of ``hypotheses``.
        references: For each text, its references or its only reference.
        metrics: Names of metrics that ``corpus_scores`` knows.
        test: ``ar`` for approximate randomisation, ``bs`` for the paired bootstrap.
        trials: Number of trials; default: 10,000 for ``ar``, 1,000 for ``bs``.
        seed: Seed of the trials, at least 1.
        options: Options of the metrics by name, such as ``{"lowercase": True}``.

    Returns:
        One :class:`SystemComparison` for each metric, in the order of ``metrics``. If several metrics are
        tested, some p-values can be small by chance.

    Raises:
        ValueError: The numbers of texts and references differ, no text can be compared, an option is unknown
            or wrong, or the test needs too much memory.

    Notes:
        Riezler and Maxwell, On Some Pitfalls in Automatic Evaluation, 2005; Koehn, Statistical Significance
        Tests for Machine Translation Evaluation, 2004; sacrebleu computes the p-values.

    Examples:
        >>> references = ["今晚月色很美", "你好呀", "我在灯下等你"] * 5
        >>> worse = ["今晚月亮很圆", "你好", "我在窗前"] * 5
        >>> (comparison,) = compare_systems(references, worse, references, metrics=["chrf"], trials=500)
        >>> round(comparison.system), comparison.difference > 50, comparison.p < 0.01
        (100, True, True)
    """
    check_choice("test", test, get_args(PairedTestName))
    count = TRIALS[test] if trials is None else whole_number("trials", trials)
    whole_number("seed", seed)
    by_metric = options_by_metric(metrics, options or {})
    return [
        compare_rows(
            build_rows(hypotheses, references, by_metric[name]),
            build_rows(baseline, references, by_metric[name]),
            PairedTestSettings(test, count, seed),
        )
        for name in metrics
    ]


def compare_rows(system: CorpusRows, baseline: CorpusRows, settings: PairedTestSettings) -> SystemComparison:
    """Return the difference between two systems over the texts for which both systems have a value."""
    statistics = [dict(zip(rows.kept, rows.rows, strict=True)) for rows in (baseline, system)]
    common = [index for index in system.kept if index in statistics[0]]
    if not common:
        raise ValueError(f"no text has {system.name} for both systems")
    pair = [[list(rows[index]) for index in common] for rows in statistics]
    *values, p = _paired_test(pair[0], pair[1], system.value_of, settings)
    baseline_value, value = (min(number, system.scale.high) for number in values)
    return SystemComparison(
        name=system.name,
        system=value,
        baseline=baseline_value,
        difference=value - baseline_value,
        p=p,
        n=len(common),
        test=settings.test,
        trials=settings.trials,
        seed=settings.seed,
        signature=system.signature,
    )


def _paired_test(
    baseline: list[list[float]],
    system: list[list[float]],
    value_of: Callable[[Sequence[float]], float],
    settings: PairedTestSettings,
) -> tuple[float, float, float]:
    """Return the values of baseline and tested system, and the p-value of their difference."""
    needed = settings.trials * len(system) * (4 * len(system[0]) if settings.test == "bs" else 2)
    if needed > MAX_BYTES:
        raise ValueError(
            f"{settings.trials} trials on {len(system)} texts need {needed / 1e9:.0f} GB of memory, the "
            f"limit is {MAX_BYTES // 10**9}; lower the number of trials"
        )
    from sacrebleu.significance import PairedTest

    metric: Any = _StatisticsMetric(value_of)
    systems: Any = [("baseline", baseline), ("system", system)]
    paired_test = PairedTest(systems, {"value": metric}, None, settings.test, settings.trials)
    paired_test._seed = settings.seed  # sacrebleu reads the seed from the environment
    results: Any = paired_test()[1]
    first, second = results["value"]
    return first.score, second.score, second.p_value


class _StatisticsMetric:
    """Metric for sacrebleu's tests; its hypotheses are the counts (statistics) of texts, not texts."""

    def __init__(self, value_of: Callable[[Sequence[float]], float]) -> None:
        self._value_of = value_of

    def _extract_corpus_statistics(self, hypotheses: Any, references: None) -> Any:
        return hypotheses

    def _aggregate_and_compute(self, stats: Any) -> Any:
        from sacrebleu import utils

        add: Any = utils.sum_of_lists  # add up in sacrebleu's order, so that p-values are equal
        return self._compute_score_from_stats(add(stats))

    def _compute_score_from_stats(self, stats: Any) -> Any:
        from sacrebleu.metrics.base import Score

        return Score("value", self._value_of(stats))

    def get_signature(self) -> Any:
        from sacrebleu.metrics.base import Signature

        return Signature({"num_refs": 1})
