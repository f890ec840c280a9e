"""Print the results of gates, one line each, or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from hengwen.cli.monitoring.gate_text import gate_details, gate_word, is_warning, report_title
from hengwen.cli.monitoring.run_document import run_document
from hengwen.cli.ui.messages import printable
from hengwen.monitoring.gates.drifts import corrected_p_values

if TYPE_CHECKING:
    from hengwen.monitoring.gates.results import GateReport, GateResult, TermResult
    from hengwen.text.language import Language

_STYLES = {"passed": "green", "failed": "red", "inconclusive": "yellow", "error": "red"}


def print_gates(report: GateReport, language: Language, console: Console | None = None) -> None:
    """Print one line for each gate."""
    console = console or Console(highlight=False)
    console.print(Text(printable(report_title(report)), style="bold"))
    for gate in report.gates:
        style = "yellow" if is_warning(gate) else _STYLES[gate.outcome]
        details = gate_details(gate).in_language(language)
        console.print(
            Text.assemble(
                (gate_word(gate).in_language(language), style),
                f"  {printable(gate.expression)}: {printable(details)}",
            ),
            soft_wrap=True,
        )


def gates_json(report: GateReport) -> str:
    """Return all results of the gates as one JSON object."""
    document = {
        "schema": 1,
        "plan": report.plan,
        "run": run_document(report.run),
        "exit_code": report.exit_code,
        "gates": [_gate(gate) for gate in report.gates],
        "warnings": report.warnings,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _gate(gate: GateResult) -> dict[str, Any]:
    return {
        "gate": gate.expression,
        "tier": gate.tier,
        "outcome": gate.outcome,
        "enforced": gate.enforced,
        "uncertified": dict(gate.uncertified),
        "terms": [_term(term) for term in gate.terms],
        "text": gate_details(gate).en,
    }


def _term(term: TermResult) -> dict[str, Any]:
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
        "p": term.p,
        "level": term.level,
        "look": term.look,
        "baseline": None if term.baseline is None else run_document(term.baseline),
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
