"""What a report says of its judges: rules judges, agreement with people, and levels that follow length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hengwen.documents.answers.sources import StreamedAnswer
from hengwen.documents.judges.calibration_words import DECISIONS, WITHIN, reasons_text
from hengwen.documents.run.findings import Finding
from hengwen.judges.calibration import Calibration, Estimate
from hengwen.judges.calibration.certify import is_stale, rubric_hash_of
from hengwen.judges.trust.biases import LengthBias
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.score_id import LEVEL
from hengwen.text.language import COLON, COMMA, NO_TEXT, NOTED, SENTENCE, Bilingual, say
from hengwen.text.numbers import interval, number

RULES_JUDGE_NOTE = say(
    "Rules judge: a baseline that checks only what can be decided without a model; it is not a "
    "language model."
)
MIN_RHO = 0.3
"""Smallest absolute value of a correlation that is reported."""
BY_RULES = say("judged by rules, not by a language model")


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
    title = say("{} against human labels").format(calibration.score)
    result = COLON.join([title, DECISIONS[calibration.decision]])
    if agreement is None or kappa is None or kappa.value is None:
        return SENTENCE.format(NOTED.format(result, reasons_text(calibration.reasons)))
    figures = f"kappa {estimate_text(kappa)}, n={agreement.n}"
    bias = number(agreement.bias.value, 3)
    within = NO_TEXT if calibration.within is None else Bilingual(WITHIN.zh, f" {WITHIN.en}")
    measured = say("quadratic{within} {figures}, mean bias {bias}", within=within, figures=figures, bias=bias)
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
        return say("the judge is not certified: there is no calibration of it")
    if any(is_stale(calibration, signature, rubric_hash_of(signature)) for signature in score.signatures):
        return say("the certificate of the judge is stale")
    if calibration.decision == "certified":
        return None
    why = "" if calibration.decision == "not certified" else ": the labels do not allow a decision"
    return say("the judge is not certified{why}", why=why, decisions=DECISIONS[calibration.decision])


class _Point(NamedTuple):
    prompt: str
    length: int
    value: float
    signature: str
    human: float | None


class LengthBiasDetector:
    """Report judges whose levels correlate with the length of answers, as a note: longer may be better.

    The rank correlation of all checkpoints is at least 0.3 and its interval excludes 0; a judge whose
    settings changed, or with fewer than 10 prompts, is skipped. That of human labels is given beside it.
    """

    def __init__(self) -> None:
        self._points: dict[str, list[_Point]] = {}

    def add(self, answer: StreamedAnswer) -> None:
        """Record the length of an answer and the levels that judges gave it."""
        from hengwen.judges.trust.biases import length_of

        for score_id, score in answer.scores.items():
            if score.kind != "judge" or score_id.role != "answer" or score_id.part != LEVEL:
                continue
            human = answer.scores.get(score_id.about("human"))
            point = _Point(
                prompt=answer.sample_id,
                length=length_of(answer.text),
                value=score.value,
                signature=score.signature,
                human=human.value if human else None,
            )
            self._points.setdefault(score_id.address, []).append(point)

    def findings(self) -> list[Finding]:
        """Return a note for each judge whose levels correlate with length."""
        findings = []
        for address, points in self._points.items():
            bias = _bias(points)
            if bias and bias.interval and abs(bias.rho or 0) >= MIN_RHO and _excludes_zero(bias.interval):
                findings.append(_finding(address, bias, points))
        return findings


def _bias(points: Sequence[_Point]) -> LengthBias | None:
    from hengwen.judges.trust.biases import length_bias

    if len({point.signature for point in points}) > 1:
        return None
    return length_bias(
        [point.length for point in points],
        [point.value for point in points],
        clusters=[point.prompt for point in points],
    )


def _excludes_zero(ends: tuple[float, float]) -> bool:
    return ends[0] > 0 or ends[1] < 0


def _finding(address: str, bias: LengthBias, points: Sequence[_Point]) -> Finding:
    rho = bias.rho or 0.0
    zh, en = ("长", "longer") if rho > 0 else ("短", "shorter")
    correlation = f"Spearman {number(rho, 2)} {interval(bias.interval, 2)}"
    zh_human, en_human = _human_comparison(points)
    return Finding(
        address=address,
        text=Bilingual(
            f"回答越{zh}，得分越高：{correlation}，{bias.n} 个回答，{bias.clusters} 道题；"
            f"可能回答确实更好，也可能是评审的偏好：{zh_human}",
            f"{en} answers score higher: {correlation}, {bias.n} answers to {bias.clusters} prompts; "
            f"they may be better, or the judge may prefer them: {en_human}",
        ),
    )


def _human_comparison(points: Sequence[_Point]) -> tuple[str, str]:
    """Return how human labels correlate with length, in Chinese and English."""
    from hengwen.judges.trust.biases import length_bias

    labelled = [(point.length, point.value, point.human) for point in points if point.human is not None]
    human = length_bias([length for length, _, _ in labelled], [label for _, _, label in labelled])
    judge = length_bias([length for length, _, _ in labelled], [value for _, value, _ in labelled])
    if human.rho is None or judge.rho is None:
        return "请与人工标注比较", "compare with human labels"
    judge_rho, human_rho = number(judge.rho, 2), number(human.rho, 2)
    return (
        f"在 {human.n} 个有人工标注的回答上，评审为 {judge_rho}，人工为 {human_rho}",
        f"on the {human.n} answers with human labels it is {judge_rho} for the judge "
        f"and {human_rho} for the humans",
    )
