"""``calibrate`` compares a judge with human labels, and decides whether the judge is certified."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hengwen._internal.plugins import whole_number
from hengwen._internal.version import __version__
from hengwen.errors import ConfigError, DataError
from hengwen.io.output_files import atomic_write
from hengwen.io.strict_yaml import read_text
from hengwen.io.untrusted_json import parse_json
from hengwen.judges.calibration.agreement import Agreement, WithinAgreement, measure_agreement, measure_within
from hengwen.judges.calibration.joining import (
    MAJORITY,
    MEAN,
    STEPS,
    JudgedAnswer,
    RatedAnswer,
    count_draws,
    join,
    rounded,
)
from hengwen.judges.calibration.means import MeanReport, corrected_means, sampling_warnings
from hengwen.judges.calibration.statistics import (
    RESAMPLES,
    Estimate,
    Remark,
    RemarkCode,
    bootstrap_estimate,
    cluster_index,
    krippendorff_alpha,
    rating_table,
    resample_clusters,
    weighted_alpha,
)
from hengwen.prompts.rubric import Rubric
from hengwen.records import Label
from hengwen.score_id import address_of
from hengwen.stats.mean_interval import check_confidence

SCHEMA = 1
Decision = Literal["certified", "not certified", "insufficient"]
"""Whether a judge is certified; ``insufficient`` means that the labels do not allow a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well one score of a judge agrees with humans; valid for one rubric and one judge signature only.

    The signature of a judge is a text that contains everything that can change its scores.
    """

    task: str
    """Name of the task. For a pooled calibration (of several tasks), the names of the tasks joined by
    ``+``."""
    score: str
    """Name of the score, such as ``muice_live.level``."""
    rubric: str
    """Name and version of the rubric; empty if unknown."""
    rubric_hash: str
    """First 8 hex digits of the hash of those parts of the rubric that a model reads; empty if unknown."""
    signature: str
    """Signature of the judge."""
    decision: Decision
    """``certified``, ``not certified`` or ``insufficient``; see ``calibrate``."""
    reasons: tuple[Remark, ...]
    """Reasons for the decision."""
    threshold: float
    """Value, from -1 to 1, that the lower bound of ``kappa`` (agreement beyond chance) must reach for a
    certificate."""
    level: float
    """Confidence level of all intervals, in (0, 1)."""
    seed: int
    """Seed of the random numbers for the cross-validation folds and for the bootstrap."""
    agreement: Agreement | None
    """Agreement of judge and humans on the labelled answers; None if no label matches a judged answer."""
    within: WithinAgreement | None
    """Agreement within each checkpoint; None if all labelled answers are of one checkpoint."""
    raters: int
    """Number of raters; the human value of an answer is the mean of its labels."""
    ceiling: Estimate
    """Krippendorff's alpha among the human raters: the best agreement that can be expected from a judge."""
    dropped: dict[str, int]
    """For each reason, the number of labelled answers that were left out."""
    means: tuple[MeanReport, ...]
    """Estimated mean human value of all answers, then of each checkpoint."""
    warnings: tuple[Remark, ...]
    """What limits the calibration."""
    created: str = ""
    """Time of creation, ISO 8601."""
    version: str = ""
    """Version of Hengwen."""
    tasks: tuple[str, ...] = ()
    """Names of the tasks of a pooled calibration; empty for a calibration of one task."""
    drawn: dict[str, int] = field(default_factory=dict)
    """Number of labels for each way in which answers were selected for labelling. Labels that do not state
    the way are counted as ``unknown``."""

    @property
    def address(self) -> str:
        """Task and score of the calibration, as ``TASK/SCORE``."""
        return address_of(self.task, self.score)

    @property
    def kappa(self) -> Estimate | None:
        """Quadratic kappa that decides: within the checkpoints if there are several, else of all answers."""
        if self.within is not None:
            return self.within.quadratic_kappa
        return None if self.agreement is None else self.agreement.quadratic_kappa


def is_stale(calibration: Calibration, signature: str, rubric_hash: str) -> tuple[str, ...]:
    """Return the differences between the judge that was calibrated and the judge in use.

    Args:
        calibration: The stored calibration.
        signature: Signature of the judge in use.
        rubric_hash: Hash of the rubric in use. If the hash is unknown (empty), only signatures are compared.

    Returns:
        One line per difference; empty if the calibration is valid for the judge in use.

    Examples:
        >>> from hengwen.judges import calibrate
        >>> from hengwen.judges.calibration import JudgedAnswer
        >>> from hengwen.records import Label
        >>> signature = "live|rubric:1.aaaaaaaa|openai/x|v:1"
        >>> labels = [Label(task="t", id="a", score="live.level", value=1)]
        >>> answers = [JudgedAnswer(task="t", id="a", value=1, signature=signature)]
        >>> old = calibrate(labels, answers, score="live.level", levels=[0, 1])
        >>> is_stale(old, signature.replace("openai/x", "openai/y"), "")
        ('signature: openai/x is now openai/y',)
        >>> is_stale(old, signature, "")
        ()
    """
    differences = []
    if rubric_hash and rubric_hash != calibration.rubric_hash:
        differences.append(f"rubric: {calibration.rubric_hash or '(unknown)'} is now {rubric_hash}")
    if signature != calibration.signature:
        old, new = calibration.signature.split("|"), signature.split("|")
        removed = [part for part in old if part not in new] or ["(nothing)"]
        added = [part for part in new if part not in old] or ["(nothing)"]
        differences.append(f"signature: {'|'.join(removed)} is now {'|'.join(added)}")
    return tuple(differences)


def rubric_hash_of(signature: str) -> str:
    """Return the rubric hash in a judge's signature; empty if there is none, or if there are different ones.

    Examples:
        >>> rubric_hash_of("live|rubric:2.9f3a01c2|rules:00000000|v:1"), rubric_hash_of("lyric|v:1")
        ('9f3a01c2', '')
    """
    hashes = set(re.findall(r"\|rubric:\d+\.([0-9a-f]{8})(?=[|\];]|$)", signature))
    return hashes.pop() if len(hashes) == 1 else ""


def calibrations_json(calibrations: Sequence[Calibration]) -> str:
    """Return calibrations as JSON text: ``{"schema": 1, "calibrations": [...]}``."""
    from pydantic import TypeAdapter

    rows: Any = TypeAdapter(tuple[Calibration, ...]).dump_python(tuple(calibrations), mode="json")
    return json.dumps({"schema": SCHEMA, "calibrations": rows}, ensure_ascii=False, indent=1) + "\n"


def write_calibrations(path: str | Path, calibrations: Sequence[Calibration]) -> Path:
    """Write calibrations to a JSON file and return its path.

    Raises:
        ConfigError: The file cannot be written.
    """
    path = Path(path)
    with atomic_write(path) as temporary:
        temporary.write_text(calibrations_json(calibrations), encoding="utf-8", newline="\n")
    return path


def read_calibrations(path: str | Path) -> tuple[Calibration, ...]:
    """Return the calibrations in a file written by ``write_calibrations``.

    Args:
        path: A JSON file.

    Raises:
        DataError: The file is missing, is not JSON, has another schema version, or has an invalid field.
    """
    from pydantic import TypeAdapter, ValidationError

    path = Path(path)
    try:
        data = parse_json(read_text(path))
    except ConfigError as error:
        advice = "" if path.exists() else f"; create it with: hengwen calibrate -o {path.name}"
        raise DataError(f"{error}{advice}") from None
    except ValueError as error:
        raise DataError(f"{path}: not a calibration file: {error}") from None
    if not isinstance(data, dict) or "calibrations" not in data:
        raise DataError(f"{path}: not a calibration file: it has no 'calibrations'")
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"{path}: schema {data.get('schema')!r}, but this program reads {SCHEMA}; calibrate again"
        )
    try:
        return TypeAdapter(tuple[Calibration, ...]).validate_python(data["calibrations"])
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{path}: calibrations.{location}: {first['msg'].lower()}") from None


MIN_LABELS = 30
MIN_PROMPTS = 5
THRESHOLD = 0.5
"""For a certificate, the interval of quadratic kappa (agreement beyond chance) must begin at this value or
above. A kappa of .70, at which judge and humans share half of their variance, is commonly required
(Williamson, Xi, Breyer, Educational Measurement 31, 2012). With 50 labels, the interval of a kappa of .70
begins at about .5."""
MAX_LEVEL_SHARE = 0.8
"""If at least this share of the labels have the same level, the decision is ``insufficient``, because such
labels cannot tell a good judge from a judge that always gives the same level."""
MAX_UNDEFINED_SHARE = 0.05
"""If kappa is undefined in more than this share of the bootstrap resamples, a warning is given."""
LOW_HUMAN_ALPHA = 0.4
"""If the agreement of the human raters (Krippendorff's alpha) is below this value, a warning is given."""


def calibrate(  # noqa: PLR0913 - keyword-only options
    labels: Iterable[Label],
    answers: Sequence[JudgedAnswer],
    *,
    score: str,
    rubric: Rubric | None = None,
    levels: Sequence[float] | None = None,
    is_continuous: bool = False,
    threshold: float = THRESHOLD,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
    created: str = "",
    pooled: bool = False,
    raters: str = MEAN,
) -> Calibration:
    """Compare one score of a judge with human labels, and decide whether the judge is certified.

    Args:
        labels: Human labels; labels of other scores and tasks are ignored.
        answers: Answers of one task (of several tasks if ``pooled``) with the judge's value for each. Answers
            without a label are used only to estimate the mean human value.
        score: Name of the score, such as ``muice_live.level``.
        rubric: Rubric that defines the levels. An answer that is equal to one of the rubric's examples is
            left out, because the judge has read the example with its level.
        levels: All levels in ascending order, instead of the levels of the rubric; of a continuous scale, its
            two ends.
        is_continuous: Whether the scale has no levels between its ends.
        threshold: Value, from -1 to 1, that the lower bound of quadratic kappa (agreement beyond chance) must
            reach for a certificate.
        resamples: Number of bootstrap resamples, at least 1.
        confidence: Confidence level of all intervals, in (0, 1).
        seed: Seed of the random numbers for the cross-validation folds and for the bootstrap.
        created: Time of creation that is stored with the calibration, ISO 8601.
        pooled: Whether the answers come from several tasks that are judged by the same rubric. A prompt that
            occurs in two tasks counts as two prompts.
        raters: How the labels of several raters of an answer become one value: their ``mean``, the value of
            the ``majority`` (an answer without one is left out), or the name of the only rater that counts.

    Returns:
        A calibration. The decision is ``insufficient`` if there are fewer than 30 labels or 5 prompts, if at
        least 80 % of the labels are at one level, or if kappa or its interval is undefined. If there are
        enough labels, the decision is ``certified`` if the lower bound of quadratic kappa reaches the
        threshold, and ``not certified`` if not. If the labelled answers are of several checkpoints, quadratic
        kappa is computed within the checkpoints: a judge that only sees which checkpoint is bad is not
        certified.

    Raises:
        ValueError: There are no answers, the answers are of several tasks or judges, two answers have the
            same key, a value is outside the levels, neither a rubric nor levels are given, or an option is
            out of range.

    Examples:
        >>> from hengwen.judges.calibration.joining import JudgedAnswer
        >>> from hengwen.records import Label
        >>> human, judge = [0, 0.5, 1, 1], [0, 0.5, 1, 0.5]
        >>> answers = [JudgedAnswer(task="t", id=str(i), value=judge[i % 4]) for i in range(40)]
        >>> labels = [Label(task="t", id=str(i), score="s", value=human[i % 4]) for i in range(36)]
        >>> result = calibrate(labels, answers, score="s", levels=[0, 0.5, 1])
        >>> result.decision, result.agreement.quadratic_kappa.value, result.means[0].corrected.n
        ('certified', 0.8, 36)
        >>> calibrate(labels[:12], answers, score="s", levels=[0, 0.5, 1]).reasons
        (Remark(code='few_labels', values={'n': 12, 'needed': 30}),)
    """
    _check_options(threshold, resamples, confidence, seed)
    tasks, signature = _tasks_and_signature(answers, pooled=pooled)
    scale = _levels(rubric, levels)
    joined = join(
        [label for label in labels if label.score == score and label.task in tasks], answers, rubric, raters
    )
    pairs = rounded(joined.pairs, scale[0], scale[-1]) if is_continuous else joined.pairs
    human, judge = [pair.human for pair in pairs], [pair.value for pair in pairs]
    drawing: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed}
    settings = {"levels": scale, "clusters": [pair.answer.prompt for pair in pairs], **drawing}
    agreement = measure_agreement(human, judge, is_continuous=is_continuous, **settings) if pairs else None
    within = measure_within(pairs, levels=scale, **drawing)
    decision, reasons = decide(agreement, within, threshold)
    ceiling = _ceiling(pairs, **drawing)
    drawn = count_draws(text for pair in pairs for text in pair.draws)
    rater_code: RemarkCode = "majority" if raters == MAJORITY else "one_rater"
    means = corrected_means(joined, answers, scale, confidence, drawn)
    return Calibration(
        task="+".join(tasks),
        score=score,
        rubric=f"{rubric.name} {rubric.version}" if rubric else "",
        rubric_hash=rubric.hash if rubric else rubric_hash_of(signature),
        signature=signature,
        decision=decision,
        reasons=reasons,
        threshold=threshold,
        level=confidence,
        seed=seed,
        agreement=agreement,
        within=within,
        raters=len({rater for pair in pairs for rater, _ in pair.ratings}),
        ceiling=ceiling,
        dropped=joined.dropped,
        means=means,
        warnings=(
            *([] if raters == MEAN else [Remark(rater_code, {"rater": raters})]),
            *_warnings(agreement, ceiling),
            *([] if pairs is joined.pairs else [Remark("rounded", {"steps": STEPS})]),
            *sampling_warnings(means, drawn),
        ),
        created=created,
        version=__version__,
        tasks=tuple(tasks) if pooled else (),
        drawn=drawn,
    )


def decide(
    agreement: Agreement | None, within: WithinAgreement | None, threshold: float
) -> tuple[Decision, tuple[Remark, ...]]:
    """Return the decision and its reasons; with several checkpoints, the agreement within them decides."""
    if agreement is None:
        return "insufficient", (Remark("no_pairs"),)
    problems = []
    if agreement.n < MIN_LABELS:
        problems.append(Remark("few_labels", {"n": agreement.n, "needed": MIN_LABELS}))
    if agreement.prompts < MIN_PROMPTS:
        problems.append(Remark("few_prompts", {"prompts": agreement.prompts, "needed": MIN_PROMPTS}))
    if max(agreement.human_base, default=0) >= MAX_LEVEL_SHARE:
        problems.append(_one_level("labels_on_one_level", agreement.levels, agreement.human_base))
    kappa = agreement.quadratic_kappa if within is None else within.quadratic_kappa
    if kappa.value is None or kappa.low is None:
        undefined = Remark("undefined_kappa" if within is None else "undefined_within")
        return "insufficient", (*problems, undefined)
    if problems:
        return "insufficient", tuple(problems)
    measured = {"kappa": kappa.value, "low": kappa.low, "threshold": threshold}
    reasons = [Remark("kappa" if within is None else "within_kappa", measured)]
    pooled = agreement.quadratic_kappa
    if within is not None and pooled.value is not None and pooled.low is not None:
        reasons.append(Remark("kappa", {"kappa": pooled.value, "low": pooled.low}))
    return "certified" if kappa.low >= threshold else "not certified", tuple(reasons)


def _one_level(code: RemarkCode, levels: Sequence[float], shares: Sequence[float]) -> Remark:
    return Remark(code, {"share": max(shares), "level": levels[int(np.argmax(shares))]})


def _check_options(threshold: float, resamples: int, confidence: float, seed: int) -> None:
    if not -1 <= threshold <= 1:
        raise ValueError(f"threshold must lie in -1..1, as kappa does, got {threshold}")
    check_confidence(confidence)
    whole_number("resamples", resamples)
    whole_number("seed", seed, 0)


def _tasks_and_signature(answers: Sequence[JudgedAnswer], *, pooled: bool) -> tuple[list[str], str]:
    if not answers:
        raise ValueError("there are no judged answers to calibrate on")
    tasks = list(dict.fromkeys(answer.task for answer in answers))
    if len(tasks) > 1 and not pooled:
        raise ValueError(f"calibrate takes answers of one task, got {', '.join(tasks)}")
    signatures = sorted({answer.signature for answer in answers if answer.value is not None})
    if len(signatures) > 1 and not pooled:
        raise ValueError(f"calibrate takes answers of one judge, got {len(signatures)}: {signatures}")
    return tasks, pooled_signature(signatures or [answers[0].signature])


def pooled_signature(signatures: Iterable[str]) -> str:
    """Return one signature for judges that differ only in their task."""
    distinct = sorted(set(signatures))
    return distinct[0] if len(distinct) == 1 else f"[{'; '.join(distinct)}]"


def _levels(rubric: Rubric | None, levels: Sequence[float] | None) -> tuple[float, ...]:
    if levels is not None:
        return tuple(levels)
    if rubric is None:
        raise ValueError("the levels of the scale are unknown: give a rubric, or levels")
    return tuple(rubric.levels)


def _ceiling(pairs: Sequence[RatedAnswer], resamples: int, confidence: float, seed: int) -> Estimate:
    """Return Krippendorff's alpha among the human raters, with an interval from a bootstrap over prompts."""
    shared = [pair for pair in pairs if len(pair.ratings) > 1]
    if not shared:
        return Estimate(value=None, reason="no answer was labelled by two people")
    ratings = rating_table([pair.ratings for pair in shared])
    index, count = cluster_index([pair.answer.prompt for pair in shared])
    alpha = krippendorff_alpha(ratings)
    return bootstrap_estimate(
        np.nan if alpha is None else alpha,
        weighted_alpha(ratings, resample_clusters(count, resamples, seed)[:, index]),
        kind="coefficient",
        n=len(shared),
        clusters=count,
        reason="undefined: all labels are the same",
        confidence=confidence,
    )


def _warnings(agreement: Agreement | None, ceiling: Estimate) -> tuple[Remark, ...]:
    if agreement is None:
        return ()
    sides: tuple[tuple[RemarkCode, tuple[float, ...]], ...] = (
        ("labels_on_one_level", agreement.human_base),
        ("judge_on_one_level", agreement.judge_base),
    )
    warnings = [
        _one_level(code, agreement.levels, shares)
        for code, shares in sides
        if max(shares, default=0) >= MAX_LEVEL_SHARE
    ]
    kappa = agreement.quadratic_kappa
    if kappa.value is not None and kappa.undefined > MAX_UNDEFINED_SHARE * max(1, agreement.resamples):
        counts = {"undefined": kappa.undefined, "resamples": agreement.resamples}
        warnings.append(Remark("undefined_resamples", counts))
    if ceiling.value is not None and ceiling.value < LOW_HUMAN_ALPHA:
        warnings.append(Remark("raters_disagree", {"alpha": ceiling.value}))
    return tuple(warnings)
