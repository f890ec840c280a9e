"""The document of gates: the outcome of each gate, and each condition with its interval beside its limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hengwen.documents.blocks import (
    Bar,
    Bounds,
    Cell,
    Column,
    Decision,
    Details,
    Document,
    Sentence,
    Table,
    Tone,
    Value,
    Verdict,
)
from hengwen.documents.cells import fields, left, run_record, verdicts_on_rewards
from hengwen.documents.gates.gate_text import (
    baseline_name,
    gate_details,
    is_warning,
    reason_text,
    term_decimals,
)
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.documents.missing import empty_verdicts
from hengwen.monitoring.gates.results import GateOutcome, GateReport, GateResult, TermResult
from hengwen.monitoring.run_comparison import ScoreComparison
from hengwen.text.language import COLON, COMMA, NO_TEXT, SEMICOLON, Bilingual, both
from hengwen.text.numbers import count, decimals_for, interval, minus, number, p_text, percent, plural, signed

MARGIN = 0.08
"""Share of the axis of a condition that is free beside its outermost value."""
_FROM = Bilingual("{}（比 {}）", "{} from {}")
_WARNS = Bilingual("仅警告", "warns only")
_WIDER = Bilingual(
    "门槛的区间按量表两端计，所以比报告的宽：没见过的低分也须不越过界限",
    "a gate counts both ends of the scale, so its interval is wider than a report's: a collapse that was not "
    "seen must not let it pass",
)
_RESULTS: Mapping[GateOutcome, tuple[Tone, Bilingual]] = {
    "failed": ("worse", Bilingual("不成立", "fails")),
    "error": ("worse", Bilingual("没有得分", "not scored")),
    "inconclusive": ("open", Bilingual("未定", "undecided")),
    "passed": ("better", Bilingual("成立", "holds")),
}
_ORDER = [*(_RESULTS[outcome][1] for outcome in ("failed", "error", "inconclusive")), _WARNS]
_ORDER.append(_RESULTS["passed"][1])


def gate_document(report: GateReport) -> Document:
    """Return the document of the gates of a plan for one run: the worst gate first."""
    terms = [(gate, term) for gate in report.gates for term in gate.terms]
    return Document(
        kind="gate",
        title=Bilingual(f"门槛 {report.run.checkpoint}", f"gate {report.run.checkpoint}"),
        notes=_notes(report),
        blocks=(
            Decision(title=_title(report), bullets=tuple(_bullets(report))),
            _checklist(terms),
            *trust_verdicts(report.judges),
            *verdicts_on_rewards(report.rewards),
            *empty_verdicts(report.empty),
            *(
                Sentence(text=Bilingual(f"警告：{text}", f"warning: {text}"), is_note=True)
                for text in report.warnings
            ),
            *_statistics(terms),
        ),
        record={
            "schema": 1,
            "plan": report.plan,
            "run": run_record(report.run),
            "exit_code": report.exit_code,
            "gates": [_gate_record(gate) for gate in report.gates],
            "judges": trust_record(report.judges),
            "empty_answers": [item._asdict() for item in report.empty],
            "warnings": list(report.warnings),
            **({"rewards": list(report.rewards)} if report.rewards else {}),
        },
    )


def _notes(report: GateReport) -> tuple[Bilingual, ...]:
    names = dict.fromkeys(
        term.baseline.checkpoint for gate in report.gates for term in gate.terms if term.baseline
    )
    listed = ", ".join(names)
    return (
        Bilingual(f"计划 {report.plan}，运行 {report.run.id}", f"plan {report.plan}, run {report.run.id}"),
        *([Bilingual(f"基线 {listed}", f"baseline {listed}")] if names else []),
        Bilingual(f"退出码 {report.exit_code}", f"exit code {report.exit_code}"),
    )


def _title(report: GateReport) -> Bilingual:
    """Return whether the run passes, and how many gates keep it from passing."""
    name, n = report.run.checkpoint, len(report.gates)
    enforced = [gate.enforced for gate in report.gates]
    failed = sum(
        gate.enforced == "failed" or "error" in (gate.outcome, gate.enforced) for gate in report.gates
    )
    undecided = enforced.count("inconclusive")
    of_zh, of_en = f"{n} 条门槛中", f"of {plural(n, 'gate')}"
    if failed:
        rest = Bilingual(f"，{undecided} 条未定", f", {undecided} undecided") if undecided else NO_TEXT
        return Bilingual(
            f"{name} 未通过：{of_zh} {failed} 条不成立{rest.zh}。",
            f"{name} does not pass: {failed} {of_en} {'fails' if failed == 1 else 'fail'}{rest.en}.",
        )
    if undecided:
        return Bilingual(
            f"{name} 未定：{of_zh} {undecided} 条无法判断。",
            f"Undecided whether {name} passes: {undecided} {of_en} cannot be told.",
        )
    warns = enforced.count(None)
    warn = "warns" if warns == 1 else "warn"
    if not report.decides:
        return Bilingual(
            f"{name} 未作判定：{n} 条门槛都只作警告。",
            f"Nothing decides whether {name} passes: {plural(n, 'gate')} only {warn}.",
        )
    if warns:
        return Bilingual(
            f"{name} 通过：{n - warns} 条门槛中没有不成立的，另有 {warns} 条只作警告。",
            f"{name} passes: none of {plural(n - warns, 'gate')} fails; {warns} only {warn}.",
        )
    return Bilingual(f"{name} 通过：{of_zh}没有不成立的。", f"{name} passes: none {of_en} fails.")


def _bullets(report: GateReport) -> Iterator[Verdict]:
    """Yield the results of gates of several conditions; a gate of one condition is a row of the checklist."""
    for gate in sorted(report.gates, key=_order):
        if gate.outcome != "passed" and len(gate.terms) > 1:
            tone, word = _result(gate)
            yield Verdict(tone=tone, subject=word.capitalized, sentence=gate.expression)


def _order(gate: GateResult) -> int:
    return _ORDER.index(_result(gate)[1])


def _result(gate: GateResult) -> tuple[Tone, Bilingual]:
    """Return the result of a gate as it counts: a gate that only warns does not fail."""
    return ("none", _WARNS) if is_warning(gate) else _RESULTS[gate.outcome]


def _checklist(terms: list[tuple[GateResult, TermResult]]) -> Table:
    """Return a row for each condition, the worst first, with its interval beside its limit."""
    ordered = sorted(terms, key=lambda item: (_order(item[0]), _ORDER.index(_RESULTS[item[1].outcome][1])))
    return Table(
        key="gates",
        columns=(
            left("result", "结果", "result"),
            Column(key="condition", head=Bilingual("条件", "condition"), is_whole=True),
            left("figures", "区间与界限", "interval and limit"),
        ),
        rows=tuple(_check_row(gate, term) for gate, term in ordered),
        records=tuple(_values(gate, term) for gate, term in ordered),
        notes=(_WIDER,) if any(_is_wider(term) for _, term in ordered) else (),
    )


def _statistics(terms: list[tuple[GateResult, TermResult]]) -> Iterator[Details]:
    """Yield the sentences with all figures of each condition, folded."""
    sentences = [COLON.join([term.text, gate_details(replace(gate, terms=(term,)))]) for gate, term in terms]
    if sentences:
        yield Details(
            title=Bilingual("每个条件的统计", "The statistics of each condition"),
            blocks=tuple(Sentence(text=text) for text in dict.fromkeys(sentences)),
            is_open=False,
        )


def _is_wider(term: TermResult) -> bool:
    is_continuous = term.scale is not None and not term.scale.discrete
    return term.kind == "score" and term.interval is not None and is_continuous


def _check_row(gate: GateResult, term: TermResult) -> tuple[Cell, ...]:
    tone, word = _result(gate) if len(gate.terms) == 1 or is_warning(gate) else _RESULTS[term.outcome]
    figures, bar = short_figures(term), term_bar(term)
    if gate.uncertified and gate.tier == "fail":
        figures = SEMICOLON.join([figures, Bilingual("评审未通过校准", "judge not certified")])
    return (
        Cell(text=word, values={"": term.outcome}, tone=tone),
        Cell(text=term.text, values={"": term.text, "gate": gate.expression}),
        Cell(text=figures, bar=None if bar is None else replace(bar, tone=tone)),
    )


def _values(gate: GateResult, term: TermResult) -> dict[str, Value]:
    """Return the figures of a condition, unrounded, for CSV and Parquet."""
    low, high = term.interval or (None, None)
    return {
        "condition": term.text,
        "condition_gate": gate.expression,
        "outcome": term.outcome,
        "outcome_reason": term.reason or None,
        "value": term.value,
        "value_low": low,
        "value_high": high,
        "prompts": term.prompts,
        "p": term.p,
        "level": term.level,
        "baseline": None if term.baseline is None else term.baseline.id,
    }


def _gate_record(gate: GateResult) -> dict[str, object]:
    return {
        "gate": gate.expression,
        **fields(gate, "tier", "outcome", "enforced"),
        "uncertified": {score.address: reason for score, reason in gate.uncertified.items()},
        "terms": [_term_record(term) for term in gate.terms],
        "text": gate_details(gate).en,
    }


def _term_record(term: TermResult) -> dict[str, object]:
    return {
        "term": term.text,
        **fields(term, "kind", "outcome", "reason", "detail", "value", "interval", "limit", "confidence"),
        "n": term.prompts,
        **fields(term, "clusters", "prompt_coverage", "answer_coverage"),
        "missing": [item._asdict() for item in term.missing],
        **fields(term, "p", "level", "look"),
        "baseline": None if term.baseline is None else run_record(term.baseline),
        "needed_prompts": term.needed_prompts,
        "scores": [
            {
                "address": score.address,
                "outcome": score.outcome,
                "difference": None if score.test is None else score.test.difference,
                "interval": None if score.interval is None else score.interval.bounds,
                "p_adjusted": score.p_adjusted,
                "detectable": score.detectable,
                "n": None if score.test is None else score.test.prompts,
            }
            for score in term.scores
        ],
    }


def short_figures(term: TermResult) -> Bilingual:
    """Return the value of a condition with its interval, or that there is none."""
    figures = _figures(term)
    if figures is None:
        return reason_text(term)
    parts = [figures]
    if term.prompts:
        parts.append(Bilingual("{} 题", "{} prompts").format(count(term.prompts)))
    if term.needed_prompts is not None and term.outcome == "inconclusive":
        parts.append(Bilingual("约需 {} 题", "needs about {}").format(count(term.needed_prompts)))
    return COMMA.join(parts)


def _figures(term: TermResult) -> Bilingual | None:
    if term.kind == "no_drop":
        return _fall(term)
    if term.value is None:
        return None
    if term.kind == "coverage":
        return both(percent(term.value))
    decimals = term_decimals(term)
    if term.kind == "noninferior":
        decimals = max(2, decimals)
        text = _with_bounds(signed(term.value, decimals), term.interval, decimals)
        return _FROM.format(text, baseline_name(term))
    return both(_with_bounds(number(term.value, decimals), term.interval, decimals))


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
    if len(term.scores) > 1:
        change = f"{score.address} {change}"
    text = _FROM.format(change, baseline_name(term))
    return text if score.p_adjusted is None else COMMA.join([text, p_text(score.p_adjusted)])


def _with_bounds(text: str, bounds: Bounds | None, decimals: int) -> str:
    return minus(f"{text} {interval(bounds, decimals)}" if bounds else text)
