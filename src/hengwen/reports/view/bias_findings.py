"""Findings on a judge rather than on the checkpoints: do its levels go with the lengths of the answers?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hengwen.records import Score
from hengwen.reports.text.numbers import interval, number
from hengwen.reports.view.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.judges.trust.biases import LengthBias
    from hengwen.reports.view.answers import AnswerRecord

LEAST_RHO = 0.3
"""Correlations nearer to 0 are not worth a line, even where they are surely not 0."""


class _Point(NamedTuple):
    prompt: str
    length: int
    value: float
    signature: str
    human: float | None


def length_findings(answers: Iterable[AnswerRecord]) -> list[Finding]:
    """Return a note for each judge whose levels go with length: |rho| of 0.3 or more, and surely not 0.

    Answers of all checkpoints are taken together. Judges that changed between them, and fewer than 10
    prompts, tell nothing. A note, not an alarm: longer answers may be better, so human labels, where there
    are at least two values of them, stand beside.

    Args:
        answers: Of all runs.

    Examples:
        >>> from hengwen.reports.view.answers import AnswerRecord
        >>> def answer(i):
        ...     score = Score(name="j.level", value=min(i, 9) / 10, signature="s", kind="judge")
        ...     return AnswerRecord(task="t", checkpoint="c", sample_id=str(i), repeat=1, input="",
        ...                         text="x" * (20 - i), outcomes=(score,))
        >>> print(length_findings(map(answer, range(12)))[0].en)
        shorter answers score higher: Spearman -0.99 [-1.00, -0.97], 12 answers to 12 prompts; they may be \
better, or this judge may like it so: compare with human labels
    """
    found = []
    for address, points in _points(answers).items():
        bias = _bias(points)
        if bias and bias.interval and abs(bias.rho or 0) >= LEAST_RHO and _away_from_zero(bias.interval):
            found.append(_finding(address, bias, points))
    return found


def _points(answers: Iterable[AnswerRecord]) -> dict[str, list[_Point]]:
    from hengwen.judges.trust.biases import length_of

    found: dict[str, list[_Point]] = {}
    for answer in answers:
        scores = {o.name: o for o in answer.outcomes if isinstance(o, Score)}
        for name, score in scores.items():
            if score.kind != "judge" or not name.endswith(".level") or name.startswith("anchor."):
                continue
            human = scores.get(f"human.{name}")
            point = _Point(
                prompt=answer.sample_id,
                length=length_of(answer.text),
                value=score.value,
                signature=score.signature,
                human=human.value if human else None,
            )
            found.setdefault(f"{answer.task}/{name}", []).append(point)
    return found


def _bias(points: Sequence[_Point]) -> LengthBias | None:
    from hengwen.judges.trust.biases import length_bias

    if len({point.signature for point in points}) > 1:
        return None
    return length_bias(
        [point.length for point in points],
        [point.value for point in points],
        clusters=[point.prompt for point in points],
    )


def _away_from_zero(ends: tuple[float, float]) -> bool:
    return ends[0] > 0 or ends[1] < 0


def _finding(address: str, bias: LengthBias, points: Sequence[_Point]) -> Finding:
    rho = bias.rho or 0.0
    zh, en = ("长", "longer") if rho > 0 else ("短", "shorter")
    shown = f"Spearman {number(rho, 2)} {interval(bias.interval, 2)}"
    zh_human, en_human = _human(points)
    return Finding(
        address=address,
        zh=f"越{zh}的回答得分越高：{shown}，{bias.n} 个回答，{bias.clusters} 道题；"
        f"可能确实更好，也可能是评判的偏好：{zh_human}",
        en=f"{en} answers score higher: {shown}, {bias.n} answers to {bias.clusters} prompts; "
        f"they may be better, or this judge may like it so: {en_human}",
    )


def _human(points: Sequence[_Point]) -> tuple[str, str]:
    """What human labels say on the same answers, where that can be said."""
    from hengwen.judges.trust.biases import length_bias

    labelled = [(point.length, point.value, point.human) for point in points if point.human is not None]
    human = length_bias([length for length, _, _ in labelled], [label for _, _, label in labelled])
    judge = length_bias([length for length, _, _ in labelled], [value for _, value, _ in labelled])
    if human.rho is None or judge.rho is None:
        return "请与人工标注比较", "compare with human labels"
    both = f"{number(judge.rho, 2)}", f"{number(human.rho, 2)}"
    return (
        f"在 {human.n} 个有人工标注的回答上，评判为 {both[0]}，人工为 {both[1]}",
        f"on the {human.n} answers with human labels it is {both[0]} for the judge, {both[1]} for the humans",
    )
