"""The document of gates: the outcome of each gate, and the figures of its conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Column, Decision, Details, Document, Sentence, Table, Verdict
from hengwen.documents.cells import run_record
from hengwen.documents.gates.gate_text import (
    gate_details,
    is_warning,
)
from hengwen.documents.gates.limits import short_figures, term_bar
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.documents.missing import empty_verdicts
from hengwen.documents.score_names import verdicts_on_rewards
from hengwen.monitoring.gates.drifts import corrected_p_values
from hengwen.text.language import Bilingual
from hengwen.text.numbers import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hengwen.documents.blocks import Tone, Value
    from hengwen.monitoring.gates.results import GateOutcome, GateReport, GateResult, TermResult

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
        rest = (
            Bilingual(f"，{undecided} 条未定", f", {undecided} undecided") if undecided else Bilingual("", "")
        )
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
            subject = Bilingual(word.zh, word.en[:1].upper() + word.en[1:])
            yield Verdict(tone=tone, subject=subject, sentence=gate.expression)


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
            Column(key="result", head=Bilingual("结果", "result")),
            Column(key="condition", head=Bilingual("条件", "condition"), is_whole=True),
            Column(key="figures", head=Bilingual("区间与界限", "interval and limit")),
        ),
        rows=tuple(_check_row(gate, term) for gate, term in ordered),
        records=tuple(_values(gate, term) for gate, term in ordered),
        notes=(_WIDER,) if any(_is_wider(term) for _, term in ordered) else (),
    )


def _statistics(terms: list[tuple[GateResult, TermResult]]) -> Iterator[Details]:
    """Yield the sentences with all figures of each condition, folded."""
    texts = [(term.text, gate_details(replace(gate, terms=(term,)))) for gate, term in terms]
    sentences = [Bilingual(f"{name}：{text.zh}", f"{name}: {text.en}") for name, text in texts]
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
        figures = Bilingual(f"{figures.zh}；评审未通过校准", f"{figures.en}; judge not certified")
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
        "tier": gate.tier,
        "outcome": gate.outcome,
        "enforced": gate.enforced,
        "uncertified": {score.address: reason for score, reason in gate.uncertified.items()},
        "terms": [_term_record(term) for term in gate.terms],
        "text": gate_details(gate).en,
    }


def _term_record(term: TermResult) -> dict[str, object]:
    return {
        "term": term.text,
        "kind": term.kind,
        "outcome": term.outcome,
        "reason": term.reason,
        "detail": term.detail,
        "value": term.value,
        "interval": term.interval,
        "limit": term.limit,
        "confidence": term.confidence,
        "n": term.prompts,
        "clusters": term.clusters,
        "prompt_coverage": term.prompt_coverage,
        "answer_coverage": term.answer_coverage,
        "missing": [item._asdict() for item in term.missing],
        "p": term.p,
        "level": term.level,
        "look": term.look,
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
        "drifts": [
            {
                "address": score.address,
                "drifts": score.drifts,
                "direction": score.direction,
                "checkpoints": len(score.means),
                "p_adjusted": min(corrected_p_values(score), default=None),
                "detectable": None if score.steps is None else score.steps.slope_detectable,
            }
            for score in term.drifts
        ],
    }
