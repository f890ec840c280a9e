"""Words about answers: names of parts, counted faults, and how many prompts changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.language import MIDDLE_DOT, Bilingual
from hengwen.text.numbers import count, minus, number, plural, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.documents.blocks import Text
    from hengwen.objective.lyrics.side_by_side import SectionPair
    from hengwen.results.prompt_changes import PromptChange
    from hengwen.score_id import ScoreId

_LYRIC_PARTS: Mapping[str, Bilingual | None] = {
    "phase1": Bilingual("整体相似", "whole text"),
    "phase2_1": Bilingual("乐段", "sections"),
    "phase2_2": Bilingual("行数", "line counts"),
    "phase3": Bilingual("每行字数", "line lengths"),
    "phase4": Bilingual("押韵", "rhymes"),
    "bonus": Bilingual("押韵加分", "rhyme bonus"),
    "base": None,
}
"""Parts of a lyric score that add up to its total; the base is the sum of the phases."""


def part_name(score: ScoreId) -> Text | None:
    """Return the name of a part of a score; None if the part is itself a sum of parts."""
    return _LYRIC_PARTS.get(score.part, score.part) if score.source == "lyric" else score.part


def summary_text(
    changes: Sequence[PromptChange], parts: Sequence[tuple[Text, float]], decimals: int
) -> Bilingual:
    """Return how many prompts fell and rose, and which parts lost most in the mean over all of them."""
    worse = sum(item.merit < 0 for item in changes)
    better = sum(item.merit > 0 for item in changes)
    mean = minus(signed(sum(item.change for item in changes) / len(changes), decimals))
    text = Bilingual(
        f"同一题目前后相比，{count(worse)} 题变差，{count(better)} 题变好，平均 {mean}。",
        f"On the same prompt: {count(worse)} got worse, {count(better)} got better, {mean} in the mean.",
    )
    lost = [
        Bilingual("{} {}", "{} lost {}").format(name, number(-merit, decimals))
        for name, merit in parts
        if -merit >= 0.5 * 10.0**-decimals
    ]
    if not (worse and lost and sum(item.merit for item in changes) < 0):
        return text
    losses = Bilingual("、", " and ").join(lost[:2])
    return Bilingual("{}失分最多：{}。", "{} Most of it: {}.").format(text, losses)


def lyric_faults(sections: Sequence[SectionPair], side: int) -> Bilingual:
    """Return how many lines of a lyric have a wrong length, miss their rhyme, are missing or too many."""
    lines = [(row, row.lines[side]) for section in sections for row in section.lines]
    due = [line for row, line in lines if row.length is not None]
    rhymes = sum(row.wants_rhyme for row, _ in lines)
    wrong = sum(1 for line in due if line is not None and line.surplus)
    unrhymed = sum(1 for line in due if line is not None and line.misses_rhyme)
    missing = sum(1 for line in due if line is None)
    extra = sum(1 for row, line in lines if row.length is None and line is not None)
    faults = [
        Bilingual(f"{len(due)} 行中 {wrong} 行字数不对", f"{wrong} of {len(due)} lines of wrong length"),
        Bilingual(f"{rhymes} 处韵脚缺 {unrhymed} 处", f"{unrhymed} of {rhymes} rhymes missing"),
    ]
    if missing:
        faults.append(Bilingual(f"缺 {missing} 行", f"{plural(missing, 'line')} missing"))
    if extra:
        faults.append(Bilingual(f"多 {extra} 行", f"{plural(extra, 'line')} too many"))
    return MIDDLE_DOT.join(faults)
