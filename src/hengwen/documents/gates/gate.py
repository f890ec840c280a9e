"""The document of gates: the outcome of each gate, and the figures of its conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Column, Details, Document, Sentence, Table, Verdict
from hengwen.documents.cells import PROMPTS, P, count_cell, interval_cell, right, run_record
from hengwen.documents.gates.gate_text import (
    OUTCOMES,
    gate_details,
    gate_texts,
    gate_word,
    is_warning,
    report_title,
)
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.monitoring.gates.drifts import corrected_p_values
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, decimals_for, p_text

if TYPE_CHECKING:
    from hengwen.documents.blocks import Tone
    from hengwen.monitoring.gates.results import GateReport, GateResult, TermResult
    from hengwen.records import Run

_FIGURES = Bilingual("数值", "Figures")
_COLUMNS = (
    Column(key="condition", head=Bilingual("条件", "condition")),
    Column(key="outcome", head=Bilingual("结果", "result")),
    right("value", "数值", "value"),
    PROMPTS,
    P,
    right("level", "显著性水平", "level"),
    Column(key="baseline", head=Bilingual("基线", "baseline")),
)


def gate_document(report: GateReport) -> Document:
    """Return the document of the gates of a plan for one run."""
    terms = [(gate, term) for gate in report.gates for term in gate.terms]
    return Document(
        kind="gate",
        title=Bilingual("门槛检查", "Gates"),
        notes=(report_title(report),),
        blocks=(
            *map(_verdict, report.gates),
            *trust_verdicts(report.judges),
            *(
                Sentence(text=Bilingual(f"警告：{text}", f"warning: {text}"), is_note=True)
                for text in report.warnings
            ),
            Details(title=_FIGURES, blocks=(_terms(terms),), is_open=False),
        ),
        record={
            "schema": 1,
            "plan": report.plan,
            "run": run_record(report.run),
            "exit_code": report.exit_code,
            "gates": [_gate_record(gate) for gate in report.gates],
            "judges": trust_record(report.judges),
            "warnings": list(report.warnings),
        },
    )


def _verdict(gate: GateResult) -> Verdict:
    word, texts = gate_word(gate), tuple(gate_texts(gate))
    if len(texts) > 1:
        return Verdict(tone=_tone(gate), subject=gate.expression, sentence=word, evidence=texts)
    (text,) = texts
    sentence = Bilingual(f"{word.zh}：{text.zh}", f"{word.en}: {text.en}") if text.zh else word
    return Verdict(tone=_tone(gate), subject=gate.expression, sentence=sentence)


def _tone(gate: GateResult) -> Tone:
    if gate.outcome == "passed":
        return "plain"
    return "open" if is_warning(gate) or gate.outcome == "inconclusive" else "worse"


def _terms(terms: list[tuple[GateResult, TermResult]]) -> Table:
    """Return the figures of all conditions."""
    return Table(key="terms", columns=_COLUMNS, rows=tuple(_row(gate, term) for gate, term in terms))


def _row(gate: GateResult, term: TermResult) -> tuple[Cell, ...]:
    decimals = max(2, decimals_for(term.scale, [term.value]))
    return (
        Cell(text=term.text, values={"": term.text, "gate": gate.expression}),
        Cell(text=OUTCOMES[term.outcome], values={"": term.outcome, "reason": term.reason or None}),
        interval_cell(term.value, term.interval, decimals),
        count_cell(term.prompts),
        Cell(text=NOTHING if term.p is None else p_text(term.p), values={"": term.p}),
        Cell(text=NOTHING if term.level is None else f"{term.level:.4g}", values={"": term.level}),
        _baseline(term.baseline),
    )


def _baseline(run: Run | None) -> Cell:
    return Cell(text=NOTHING) if run is None else Cell(text=run.checkpoint, values={"": run.id})


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
