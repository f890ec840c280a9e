"""Report judges whose scores (levels) correlate with the length of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hengwen.documents.run.findings import Finding
from hengwen.score_id import LEVEL
from hengwen.text.language import Bilingual
from hengwen.text.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.documents.answers.sources import StreamedAnswer
    from hengwen.judges.trust.biases import LengthBias

MIN_RHO = 0.3
"""Smallest absolute value of a correlation that is reported."""


class _Point(NamedTuple):
    prompt: str
    length: int
    value: float
    signature: str
    human: float | None


class LengthBiasDetector:
    """Collect lengths and levels of streamed answers, and report judges whose levels correlate with length.

    The correlation is computed over the answers of all checkpoints. A judge is reported if |rho| (rank
    correlation) is at least 0.3 and the confidence interval of rho excludes 0. A judge is skipped if not all
    answers were judged with the same settings, or if there are fewer than 10 prompts. The finding is a note,
    not an alarm, because longer answers may be better. If human labels have at least two different values,
    their correlation with length is given for comparison.
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
