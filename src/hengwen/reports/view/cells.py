"""Say how many prompts and answers have a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.numbers import count, percent

if TYPE_CHECKING:
    from hengwen.results.aggregate import Summary
    from hengwen.text.language import Language


def counts(summary: Summary, language: Language) -> str:
    """Return the numbers of scored prompts and answers, with their shares if some have no score."""
    if summary.has_no_prompts:
        return f"n {count(summary.n)}"
    total = "" if summary.prompt_coverage in (None, 1.0) else f"/{count(summary.prompts_expected or 0)}"
    if language == "zh":
        prompts, answers = f"{count(summary.prompts)}{total} 题", f"{count(summary.n)} 答"
    else:
        noun = "prompt" if summary.prompts == 1 and not total else "prompts"
        prompts = f"{count(summary.prompts)}{total} {noun}"
        answers = f"{count(summary.n)} {'answer' if summary.n == 1 else 'answers'}"
    if total:
        prompts += f" ({percent(summary.prompt_coverage)})"
    if summary.coverage not in (None, 1.0):
        answers += f" ({percent(summary.coverage)})"
    return f"{prompts} · {answers}"


def counts_in_words(summary: Summary, language: Language) -> str:
    """Return the numbers of scored prompts and answers as a sentence."""
    if summary.has_no_prompts:
        return "整组回答的一个数值" if language == "zh" else "one value for a group of answers"
    expected = summary.prompts if summary.prompts_expected is None else summary.prompts_expected
    if language == "zh":
        answers = f"{count(summary.n)} 个回答有得分"
        if summary.coverage not in (None, 1.0):
            answers += f"（占应得分的 {percent(summary.coverage)}）"
        return f"{count(expected)} 题中 {count(summary.prompts)} 题有得分，{answers}"
    answers = f"{count(summary.n)} answers"
    if summary.coverage not in (None, 1.0):
        answers += f" ({percent(summary.coverage)} of those to score)"
    return f"{count(summary.prompts)} of {count(expected)} prompts, {answers}"
