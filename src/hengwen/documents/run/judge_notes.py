"""Say what a report knows about its judges: rules judges, and agreement with human labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.judges.calibration_words import DECISIONS, WITHIN, reasons_text
from hengwen.judges.calibration.artifact import is_stale, rubric_hash_of
from hengwen.text.language import COLON, COMMA, NO_TEXT, NOTED, SENTENCE, Bilingual
from hengwen.text.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.judges.calibration import Calibration, Estimate
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
    return [COLON.join([score.id.source, RULES_JUDGE_NOTE])]


def calibration_notes(score: ScoreSummaries, calibrations: Sequence[Calibration]) -> list[Bilingual]:
    """Return the results of the calibrations of a score as sentences."""
    return [
        sentence(calibration)
        for calibration in calibrations
        if calibration.address == score.address and calibration.signature in score.signatures
    ]


def stale_warnings(scores: Sequence[ScoreSummaries], calibrations: Sequence[Calibration]) -> list[str]:
    """Return a warning for each difference between a calibrated judge and the judge of the runs."""
    return [
        f"{score.address}: the calibration is stale: {difference}"
        for score in scores
        for calibration in calibrations
        if calibration.address == score.address
        for signature in score.signatures
        for difference in is_stale(calibration, signature, rubric_hash_of(signature))
    ]


def sentence(calibration: Calibration) -> Bilingual:
    """Return the result of a calibration as one sentence."""
    kappa, agreement = calibration.kappa, calibration.agreement
    title = Bilingual("{} 与人工标注比较", "{} against human labels").format(calibration.score)
    result = COLON.join([title, DECISIONS[calibration.decision]])
    if agreement is None or kappa is None or kappa.value is None:
        return SENTENCE.format(NOTED.format(result, reasons_text(calibration.reasons)))
    figures = f"kappa {estimate_text(kappa)}, n={agreement.n}"
    bias = number(agreement.bias.value, 3)
    within = NO_TEXT if calibration.within is None else Bilingual(WITHIN.zh, f" {WITHIN.en}")
    measured = Bilingual(
        f"{within.zh}二次 {figures}，平均偏差 {bias}", f"quadratic{within.en} {figures}, mean bias {bias}"
    )
    return SENTENCE.format(COMMA.join([result, measured]))


def estimate_text(estimate: Estimate) -> str:
    """Return an estimate with its interval."""
    low, high = estimate.low, estimate.high
    ends = None if low is None or high is None else (low, high)
    return f"{number(estimate.value, 2)} {interval(ends, 2)}"


def certificate_notes(
    scores: Sequence[ScoreSummaries], calibrations: Sequence[Calibration]
) -> dict[str, Bilingual | None]:
    """Return, for each score of a judge, what the summary says about the certification of the judge."""
    if not calibrations:
        return {}
    by_address = {calibration.address: calibration for calibration in calibrations}
    judged = [score for score in scores if score.section == "score" and score.kind == "judge"]
    notes = {score.address: _certificate_note(score, by_address.get(score.address)) for score in judged}
    judges = {
        (score.task, score.id.source): notes[score.address]
        for score in reversed(judged)
        if score.address in by_address
    }
    return {
        score.address: notes[score.address]
        if score.address in by_address
        else judges.get((score.task, score.id.source), notes[score.address])
        for score in judged
    }


def _certificate_note(score: ScoreSummaries, calibration: Calibration | None) -> Bilingual | None:
    if calibration is None:
        return Bilingual("评审没有校准", "the judge is not certified: there is no calibration of it")
    if any(is_stale(calibration, signature, rubric_hash_of(signature)) for signature in score.signatures):
        return Bilingual("评审的校准已失效", "the certificate of the judge is stale")
    if calibration.decision == "certified":
        return None
    why = "" if calibration.decision == "not certified" else ": the labels do not allow a decision"
    return Bilingual(
        f"评审未通过校准（{DECISIONS[calibration.decision].zh}）", f"the judge is not certified{why}"
    )
