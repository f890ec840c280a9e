"""Write what the summary and the notes of a report say about the kind of judge, such as a rules judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.reports.view.findings import Finding
    from hengwen.reports.view.models import ScoreView
    from hengwen.results.aggregate import Summary


RULES_JUDGE_NOTE = Bilingual(
    "规则评审：只检查无需模型就能判定的条款，是基线，不是语言模型。",
    "Rules judge: a baseline that checks only what can be decided without a model; "
    "it is not a language model.",
)
BY_RULES = Bilingual("由规则评审给出，不是语言模型", "judged by rules, not by a language model")
NO_NOTE = Bilingual("", "")


def judge_name(base: str) -> str:
    """Return the name of the judge of a score."""
    return base.partition(".")[0]


def note_on(cells: Sequence[Summary | None]) -> Bilingual:
    """Return the note "rules judge" if a rules judge gave the score at every checkpoint, else no note."""
    present = [cell for cell in cells if cell is not None]
    return BY_RULES if present and all(cell.judged_by_rules for cell in present) else NO_NOTE


def signature_notes(cells: Iterable[Summary | None]) -> dict[str, Bilingual]:
    """Return, for the signature (settings) of each rules judge, the note that it is no language model."""
    return {
        signature: RULES_JUDGE_NOTE
        for cell in cells
        if cell is not None and cell.judged_by_rules
        for signature in cell.signatures
    }


def with_judge_notes(findings: Iterable[Finding], scores: Iterable[ScoreView]) -> tuple[Finding, ...]:
    """Put the note about a judge before each finding about a score that this judge gave."""
    notes = {score.address: score.judge_note for score in scores}
    return tuple(
        replace(finding, zh=f"{note.zh}：{finding.zh}", en=f"{note.en}: {finding.en}")
        if (note := notes.get(finding.address, NO_NOTE)).en
        else finding
        for finding in findings
    )


def add_notes(findings: Iterable[Finding], notes: Mapping[str, Bilingual]) -> tuple[Finding, ...]:
    """Append to each finding the note of its score; ``notes`` maps addresses of scores to notes."""
    return tuple(
        replace(finding, zh=f"{finding.zh}；{note.zh}", en=f"{finding.en}; {note.en}")
        if (note := notes.get(finding.address, NO_NOTE)).en
        else finding
        for finding in findings
    )
