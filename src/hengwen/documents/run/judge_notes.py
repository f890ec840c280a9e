"""Say that a score was given by a rules judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from hengwen.results.score_summaries import ScoreSummaries

RULES_JUDGE_NOTE = Bilingual(
    "规则评审：只检查无需模型就能判定的条款，是基线，不是语言模型。",
    "Rules judge: a baseline that checks only what can be decided without a model; "
    "it is not a language model.",
)
BY_RULES = Bilingual("由规则评审给出，不是语言模型", "judged by rules, not by a language model")


def judge_note(score: ScoreSummaries) -> Bilingual | None:
    """Return the note "rules judge" if a rules judge gave the score at every checkpoint."""
    present = [summary for summary in score.summaries if summary is not None]
    return BY_RULES if present and all(summary.judged_by_rules for summary in present) else None


def rules_note(score: ScoreSummaries) -> list[Bilingual]:
    """Return a sentence with the name of the judge if a rules judge gave the score at any checkpoint."""
    if not any(summary and summary.judged_by_rules for summary in score.summaries):
        return []
    judge = score.id.source
    return [Bilingual(f"{judge}：{RULES_JUDGE_NOTE.zh}", f"{judge}: {RULES_JUDGE_NOTE.en}")]
