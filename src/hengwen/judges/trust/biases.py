"""Measure biases of a judge: towards long answers, or its own model family.

A number that the data do not determine is None with a reason, never 0.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import average_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray


FAMILIES: dict[str, tuple[str, ...]] = {
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4", "codex", "davinci"),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma", "palm"),
    "meta": ("llama", "codellama"),
    "qwen": ("qwen", "qwq", "qvq", "tongyi"),
    "deepseek": ("deepseek",),
    "zhipu": ("glm", "chatglm", "codegeex"),
    "mistral": ("mistral", "mixtral", "ministral", "magistral"),
    "yi": ("yi",),
    "baichuan": ("baichuan",),
    "internlm": ("internlm",),
    "baidu": ("ernie",),
    "bytedance": ("doubao",),
    "moonshot": ("kimi", "moonshot"),
    "tencent": ("hunyuan",),
    "minimax": ("minimax", "abab"),
    "microsoft": ("phi", "wizardlm"),
    "xai": ("grok",),
    "cohere": ("cohere", "aya"),
    "rwkv": ("rwkv",),
    "stepfun": ("stepfun",),
}
"""Words that identify a family in a model name; digits may follow a word (``qwen2``).

Words that are also common in checkpoint names, such as ``step`` and ``seed``, are not in the list.
"""


def families_of(model: str) -> frozenset[str]:
    """Return the vendor families that a model name shows: none, one or several."""
    name = model.rstrip("/").rpartition("/")[2].casefold()
    words = set(re.findall(r"[a-z]+[0-9]?|[0-9]+", name))
    words |= {word.rstrip("0123456789") for word in words}
    return frozenset(family for family, known_words in FAMILIES.items() if words & set(known_words))


def same_family(judge: str, target: str) -> frozenset[str]:
    """Return the vendor families to which both models belong."""
    return families_of(judge) & families_of(target)


def same_family_warning(judge: str, target: str) -> str:
    """Return a warning if a judge and the judged model share a vendor family, else an empty string."""
    shared = ", ".join(sorted(same_family(judge, target)))
    if not shared:
        return ""
    return (
        f"{judge} and {target} are both of the {shared} family: judges tend to favour their own family; "
        "compare with human labels or use a judge of another family"
    )


BiasInterval = tuple[float, float]

_NO_SPREAD = "no interval: the difference is the same for every prompt"

MIN_CLUSTERS = 10
"""Fewest prompts for which ``length_bias`` computes a confidence interval of its correlation (of scores with
lengths of answers)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias:
    """Correlation of a judge's scores with the lengths of the answers.

    A correlation does not prove a bias, because longer answers may be better. To find out whether the
    correlation is a bias, compare it with the correlation between human labels and lengths.
    """

    n: int
    clusters: int
    """Number of prompts."""
    rho: float | None
    """Spearman's correlation, from -1 to 1; None if undefined, see ``reason``."""
    interval: BiasInterval | None
    """95 % confidence interval of ``rho``."""
    slope: float | None
    """Least-squares change of the score per unit of ln(1 + length)."""
    adjusted: tuple[float, ...] | None
    """Scores with the linear effect of ln(1 + length) removed; their mean equals the mean of the original
    scores."""
    reason: str = ""
    """Why ``rho`` or ``interval`` is None."""


def length_of(text: str) -> int:
    """Return the number of characters of a text, whitespace not counted."""
    return len("".join(text.split()))


def length_bias(
    lengths: Sequence[float], scores: Sequence[float], *, clusters: Sequence[str] | None = None
) -> LengthBias:
    """Measure how strongly scores correlate with the lengths of answers.

    The interval is computed on Fisher's z scale with the standard error of Bonett and Wright, sqrt((1 + rho²
    / 2) / (G - 3)), which scipy does not offer. G is the number of prompts, not of answers, because several
    answers to one prompt are not independent.

    Args:
        lengths: Length of each answer, >= 0.
        scores: Score of each answer, in any unit.
        clusters: Prompt of each answer; by default, every answer counts as a separate prompt.

    Returns:
        The correlation, from -1 to 1, with its interval; if it is undefined, ``reason`` says why.

    Raises:
        ValueError: The lists differ in length, a number is not finite, or a length is negative.

    Source:
        Bonett, D. G. and Wright, T. A. (2000), Psychometrika 65, 23-28.

    Examples:
        >>> bias = length_bias([10, 20, 30, 40], [0.0, 0.5, 0.5, 1.0])
        >>> round(bias.rho, 4), bias.interval, bias.reason
        (0.9487, None, '4 prompts: an interval needs 10')
        >>> length_bias([10, 20], [1.0, 1.0]).reason
        'all scores are the same'
    """
    x, y = np.asarray(lengths, dtype=float), np.asarray(scores, dtype=float)
    prompts = list(range(len(x))) if clusters is None else list(clusters)
    if not len(x) == len(y) == len(prompts):
        raise ValueError(f"{len(x)} lengths, {len(y)} scores and {len(prompts)} clusters do not fit")
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (x >= 0).all()):
        raise ValueError("lengths and scores must be finite, and lengths not negative")
    count = len(set(prompts))
    if reason := _why_undefined(x, y):
        return LengthBias(
            n=len(x), clusters=count, rho=None, interval=None, slope=None, adjusted=None, reason=reason
        )
    rho = float(np.clip(np.corrcoef(average_ranks(x), average_ranks(y))[0, 1], -1, 1))
    interval, reason = _rho_interval(rho, count)
    logs = np.log1p(x)
    centred = logs - logs.mean()
    slope = float(centred @ y / (centred @ centred))
    return LengthBias(
        n=len(x),
        clusters=count,
        rho=rho,
        interval=interval,
        slope=slope,
        adjusted=tuple((y - slope * centred).tolist()),
        reason=reason,
    )


def _why_undefined(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    if len(x) < 2:
        return f"{len(x)} answers: a correlation needs two"
    if np.ptp(y) == 0:
        return "all scores are the same"
    return "all answers are equally long" if np.ptp(x) == 0 else ""


def _rho_interval(rho: float, count: int) -> tuple[BiasInterval | None, str]:
    if count < MIN_CLUSTERS:
        return None, f"{count} prompts: an interval needs {MIN_CLUSTERS}"
    if abs(rho) > 1 - 1e-12:
        return None, "no interval: lengths and scores have exactly the same or the opposite order"
    half = 1.959963984540054 * sqrt((1 + rho**2 / 2) / (count - 3))
    return (tanh(atanh(rho) - half), tanh(atanh(rho) + half)), ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswer:
    """An answer with a value from the judge and a value from humans, on the same scale."""

    target: str
    judge: float
    human: float
    """Value that a human gave, or the mean of several humans."""
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetBias:
    """Difference between the judge's and the human values for the answers of one model."""

    same_family: bool
    """Whether the model and the judge come from the same vendor family."""
    n: int
    clusters: int
    """Number of prompts."""
    mean: float
    """Mean of (judge's value - human value); each prompt has the same weight."""
    interval: BiasInterval | None
    """95 % t interval of the mean over prompts; None for fewer than two prompts, or if all prompts have equal
    means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyBias:
    """How much a judge favours models of its own vendor family, compared with human labels.

    If the judge's family really writes better answers, this is not counted as bias, because humans rate these
    answers higher too.
    """

    targets: Mapping[str, TargetBias]
    """Bias for each model, sorted by name."""
    preference: float | None
    """Mean of (judge's value - human value) for models of the judge's family, minus this mean for other
    models. If both groups of models answered at least two common prompts, only the common prompts are used.
    If the preference is above 0, the judge favours its own family."""
    interval: BiasInterval | None
    """95 % interval of ``preference``: a paired t interval over the prompts that were answered both by models
    of the judge's family and by other models. With fewer than two such prompts, it is Welch's interval."""
    reason: str = ""
    """Why ``preference`` or ``interval`` is None."""


def family_bias(judge: str, answers: Iterable[LabelledAnswer]) -> FamilyBias:
    """Compare (judge's value - human value) between models of the judge's vendor family and other models.

    Args:
        judge: Name of the judge model; ``families_of`` maps it to families.
        answers: Answers with values from the judge and from humans, on one scale; any number.

    Returns:
        Biases in units of the scale. If the judge's family is unknown, if no answer is by a model of this
        family, or if all answers are, ``preference`` is None and ``reason`` says why.

    Examples:
        >>> rows = [("gpt-4o", 1.0, 0.5, "a"), ("gpt-4o", 1.0, 0.75, "b"), ("glm-4", 0.5, 0.5, "a"),
        ...         ("glm-4", 0.75, 0.75, "b")]
        >>> bias = family_bias("gpt-4o-mini", [
        ...     LabelledAnswer(target=t, judge=j, human=h, cluster=c) for t, j, h, c in rows])
        >>> bias.targets["gpt-4o"].mean, bias.preference, bias.targets["glm-4"].same_family
        (0.375, 0.375, False)
    """
    gaps: dict[str, dict[str, list[float]]] = {}
    for answer in answers:
        prompts = gaps.setdefault(answer.target, {})
        prompts.setdefault(answer.cluster, []).append(answer.judge - answer.human)
    targets = {name: _target_bias(bool(same_family(judge, name)), gaps[name]) for name in sorted(gaps)}
    family = _prompt_means([gaps[name] for name, bias in targets.items() if bias.same_family])
    others = _prompt_means([gaps[name] for name, bias in targets.items() if not bias.same_family])
    if not family or not others:
        missing = "its own family" if not family else "another family"
        return FamilyBias(
            targets=targets,
            preference=None,
            interval=None,
            reason=f"no labelled answer of a model of {missing}, judging by model names",
        )
    preference, interval, reason = _difference(family, others)
    return FamilyBias(targets=targets, preference=preference, interval=interval, reason=reason)


def _target_bias(same_family: bool, prompts: Mapping[str, Sequence[float]]) -> TargetBias:
    means = np.array([np.mean(gaps) for gaps in prompts.values()])
    return TargetBias(
        same_family=same_family,
        n=sum(map(len, prompts.values())),
        clusters=len(means),
        mean=float(means.mean()),
        interval=_t_interval(means),
    )


def _prompt_means(targets: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, float]:
    pooled: dict[str, list[float]] = {}
    for prompts in targets:
        for prompt, gaps in prompts.items():
            pooled.setdefault(prompt, []).extend(gaps)
    return {prompt: float(np.mean(gaps)) for prompt, gaps in pooled.items()}


def _difference(
    family: Mapping[str, float], others: Mapping[str, float]
) -> tuple[float, BiasInterval | None, str]:
    shared = [prompt for prompt in family if prompt in others]
    if len(shared) > 1:
        differences = np.array([family[prompt] - others[prompt] for prompt in shared])
        interval = _t_interval(differences)
        return float(differences.mean()), interval, "" if interval else _NO_SPREAD
    a, b = np.array(list(family.values())), np.array(list(others.values()))
    difference = float(a.mean() - b.mean())
    if min(len(a), len(b)) < 2:
        return difference, None, "an interval needs two prompts on each side"
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return difference, None, _NO_SPREAD
    from scipy.stats import ttest_ind

    with warnings.catch_warnings():
        # scipy warns of precision loss if all values of a group are equal, although a variance of about 0 is
        # correct then
        warnings.simplefilter("ignore", RuntimeWarning)
        welch = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    return difference, (float(welch.low), float(welch.high)), ""


def _t_interval(values: NDArray[np.float64]) -> BiasInterval | None:
    from scipy.stats import sem, t

    if len(values) < 2 or np.ptp(values) == 0:
        return None
    low, high = t.interval(0.95, len(values) - 1, loc=values.mean(), scale=sem(values))
    return float(low), float(high)
