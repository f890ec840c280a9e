"""The interval of a condition beside its limit: in a few characters, and as a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.blocks import Bar
from hengwen.documents.gates.gate_text import baseline_name, reason_text, term_decimals
from hengwen.text.language import Bilingual
from hengwen.text.numbers import count, decimals_for, interval, minus, number, p_text, percent, plural, signed

if TYPE_CHECKING:
    from hengwen.documents.blocks import Bounds
    from hengwen.monitoring.compare.run_comparison import ScoreComparison
    from hengwen.monitoring.gates.results import TermResult

MARGIN = 0.08
"""Share of the axis that is free beside its outermost value."""


def short_figures(term: TermResult) -> Bilingual:
    """Return the value of a condition with its interval, or that there is none."""
    figures = _figures(term)
    if figures is None:
        return reason_text(term)
    if term.prompts:
        n = count(term.prompts)
        figures = Bilingual(f"{figures.zh}，{n} 题", f"{figures.en}, {n} prompts")
    if term.needed_prompts is None or term.outcome != "inconclusive":
        return figures
    n = count(term.needed_prompts)
    return Bilingual(f"{figures.zh}，约需 {n} 题", f"{figures.en}, needs about {n}")


def _figures(term: TermResult) -> Bilingual | None:
    if term.kind == "no_drop":
        return _fall(term)
    if term.kind == "no_drift" and term.outcome in ("passed", "failed"):
        scores = len(term.drifts)
        p = "" if term.p is None else p_text(term.p)
        zh, en = (f"，{p}", f", {p}") if p else ("", "")
        return Bilingual(f"{scores} 项分数{zh}", f"{plural(scores, 'score')}{en}")
    if term.value is None:
        return None
    if term.kind == "coverage":
        return Bilingual(percent(term.value), percent(term.value))
    decimals = term_decimals(term)
    if term.kind == "noninferior":
        decimals = max(2, decimals)
        text = _with_bounds(signed(term.value, decimals), term.interval, decimals)
        return Bilingual(f"{text}，比 {baseline_name(term)}", f"{text} from {baseline_name(term)}")
    text = _with_bounds(number(term.value, decimals), term.interval, decimals)
    return Bilingual(text, text)


def term_bar(term: TermResult) -> Bar | None:
    """Return the interval of a condition and its limit; None if it has no value or no limit."""
    if term.kind == "no_drop":
        score = _worst(term)
        if score is None or score.test is None:
            return None
        bounds = score.interval.bounds if score.interval else None
        is_turned = score.scale is not None and not score.scale.higher_is_better
        return _bar(score.test.difference, bounds, 0.0, lower_is_better=is_turned)
    if term.value is None or term.limit is None:
        return None
    is_turned = term.kind == "noninferior" and term.limit > 0  # a difference may rise up to the margin
    return _bar(term.value, term.interval, term.limit, lower_is_better=is_turned)


def _bar(value: float, bounds: Bounds | None, limit: float, *, lower_is_better: bool) -> Bar:
    ends = [value, limit, *(bounds or ())]
    margin = MARGIN * ((max(ends) - min(ends)) or 1.0)
    limits = (min(ends) - margin, max(ends) + margin)
    return Bar(value=value, interval=bounds, limits=limits, reference=limit, lower_is_better=lower_is_better)


def _worst(term: TermResult) -> ScoreComparison | None:
    """Return the comparison with the smallest p-value, those that are worse first."""
    tested = [score for score in term.scores if score.test is not None]
    return min(tested, key=lambda score: (score.outcome != "worse", score.p_adjusted or 1.0), default=None)


def _fall(term: TermResult) -> Bilingual | None:
    score = _worst(term)
    if score is None or score.test is None:
        return None
    decimals = max(2, decimals_for(score.scale, [score.test.difference]))
    change = minus(signed(score.test.difference, decimals))
    p = "" if score.p_adjusted is None else p_text(score.p_adjusted)
    zh, en = (f"，{p}", f", {p}") if p else ("", "")
    if len(term.scores) > 1:
        change = f"{score.address} {change}"
    return Bilingual(f"{change}，比 {baseline_name(term)}{zh}", f"{change} from {baseline_name(term)}{en}")


def _with_bounds(text: str, bounds: Bounds | None, decimals: int) -> str:
    return minus(f"{text} {interval(bounds, decimals)}" if bounds else text)
