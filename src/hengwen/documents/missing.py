"""Words about answers without a score: how many, what they could change, and whether another run helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.blocks import Verdict
from hengwen.results.coverage import MAX_EMPTY_SHARE, MIN_COVERAGE, RETRYABLE
from hengwen.text.language import NOTED, Bilingual
from hengwen.text.numbers import number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hengwen.results.coverage import EmptyAnswers

MAX_EMPTY = 3
"""Maximum number of checkpoints whose empty answers have a line of their own."""
_NOT_REACHED = Bilingual(
    "有的题还没有评测：不带 --limit 再运行", "prompts were not reached: run without --limit"
)
_RUN_AGAIN = Bilingual("再运行一次可补上：hengwen run", "run again to fill the gaps: hengwen run")
_ASK_AGAIN = Bilingual(
    "再运行会重新询问；若仍失败，请看答复，再改评审或其参数",
    "running again asks the model once more; if it fails again, read the replies and change the judge",
)
_RECORDED = Bilingual(
    "答复是录下的，再运行也不会变：请改用在线模型，或重新录制",
    "the replies are recorded, so running again changes nothing: record them anew, or ask a live model",
)
_IMPORTED = Bilingual(
    "分数是导入的：请在文件里补上缺的，再导入",
    "the scores are imported: add what is missing to the file, and import it again",
)
_MENDS: Mapping[str, Bilingual] = {
    **dict.fromkeys(RETRYABLE, _RUN_AGAIN),
    "missing": Bilingual(
        "回答文件里没有这些回答：请补上，再运行",
        "the file of answers lacks them: add them, then run again",
    ),
    "rejected": Bilingual(
        "端点拒绝了请求：请先改正，再运行",
        "the endpoint rejected the requests: mend what it rejects, then run again",
    ),
    "scorer_error": Bilingual("评分器出错：请先修好，再运行", "the scorer failed: mend it, then run again"),
}
"""What to do about failures, by their status; for other statuses, the model gave no usable reply."""


def missing_text(
    checkpoint: str, prompts: float, answers: float, bounds: tuple[float, float] | None, decimals: int
) -> Bilingual:
    """Return which shares of a checkpoint's prompts and answers have a score, and what that leaves open."""
    text = Bilingual(
        f"{checkpoint} 只有 {percent(prompts)} 的题、{percent(answers)} 的回答有得分",
        f"{checkpoint} has a score for {percent(prompts)} of the prompts, {percent(answers)} of the answers",
    )
    if bounds is None:
        return text
    low, high = (number(end, decimals) for end in bounds)
    means = Bilingual(
        f"缺失的按最低或最高分计，均值为 {low} 到 {high}",
        f"mean {low} to {high} if the missing ones score lowest or highest",
    )
    return NOTED.format(text, means)


def empty_text(item: EmptyAnswers) -> Bilingual:
    """Return how many answers of a checkpoint are empty, and what to do."""
    checkpoint, _, empty, n = item
    return Bilingual(
        f"{checkpoint} 的 {n} 个回答中有 {empty} 个是空的；它们照样计分，请查明原因",
        f"{empty} of {n} answers of {checkpoint} {'is' if empty == 1 else 'are'} empty; empty answers are "
        "scored like others, so find out why",
    )


def empty_verdicts(items: Iterable[EmptyAnswers]) -> tuple[Verdict, ...]:
    """Return a line for each checkpoint and task with empty answers; of many, the worst and a count."""
    ordered = sorted(items, key=lambda item: -item.empty / item.answers)
    lines = [
        Verdict(tone="worse", subject=item.task, sentence=empty_text(item)) for item in ordered[:MAX_EMPTY]
    ]
    rest = len(ordered) - MAX_EMPTY
    if rest > 0:
        text = Bilingual(
            f"另有 {rest} 处空回答超过 {percent(MAX_EMPTY_SHARE)}（JSON：empty_answers）",
            f"{rest} more with over {percent(MAX_EMPTY_SHARE)} empty answers (JSON: empty_answers)",
        )
        lines.append(Verdict(tone="worse", sentence=text))
    return tuple(lines)


def least_text() -> Bilingual:
    """Return why missing answers allow no verdict."""
    least = percent(MIN_COVERAGE)
    return Bilingual(
        f"不足 {least}，不下结论：缺失的可能正是差的回答",
        f"below {least}, so no verdict: the missing answers may be the bad ones",
    )


def mend_text(
    failures: Mapping[str, int], *, is_recorded: bool = False, is_imported: bool = False
) -> Bilingual:
    """Return what mends the most frequent failures; another run is advised only where it can help."""
    if is_imported:
        return _IMPORTED
    status = max(failures, key=failures.__getitem__, default="")
    if not status:
        return _NOT_REACHED
    mend = _MENDS.get(status, _ASK_AGAIN)
    return _RECORDED if is_recorded and mend in (_RUN_AGAIN, _ASK_AGAIN) else mend
