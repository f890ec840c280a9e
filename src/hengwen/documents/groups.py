"""What is said of scores of whole sets of answers, such as the diversity of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hengwen.documents.blocks import Tone, Verdict
from hengwen.results.group_comparison import GroupComparison
from hengwen.text.language import COMMA, NO_TEXT, NOTED, SEMICOLON, Bilingual
from hengwen.text.numbers import decimals_for, minus, number, p_text, signed

MAX_PAIRS = 4
"""Maximum number of further pairs that a sentence names."""


def group_verdicts(groups: Sequence[GroupComparison], labels: Sequence[str]) -> dict[str, Verdict]:
    """Return the verdict on each tested score of whole sets, by address; ``labels`` name the runs."""
    by_address: dict[str, list[GroupComparison]] = {}
    for item in groups:
        by_address.setdefault(item.address, []).append(item)
    return {address: _verdict(items, labels, tests=len(groups)) for address, items in by_address.items()}


def at_equal_length(item: GroupComparison, decimals: int) -> Bilingual:
    """Return the difference that is tested: of answers that are cut to equal numbers of tokens."""
    change = minus(signed(item.test.difference, decimals))
    return Bilingual(f"字数相等时 {change}", f"{change} at equal length")


def group_records(groups: Sequence[GroupComparison], run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return comparisons of scores of whole sets as plain values, ready for JSON."""
    return [
        {
            "address": item.address,
            "earlier": run_ids[item.earlier],
            "later": run_ids[item.later],
            "verdict": item.verdict,
            "values": list(item.values),
            "at_equal_tokens": [item.test.first, item.test.second],
            "p": item.test.p,
            "p_adjusted": item.p_adjusted,
            "prompts": item.test.units,
        }
        for item in groups
    ]


def _verdict(items: Sequence[GroupComparison], labels: Sequence[str], *, tests: int) -> Verdict:
    changed = [item for item in items if item.verdict != "no difference seen"]
    worse = [item for item in changed if item.verdict == "worse"]
    corrected = Bilingual("整题交换检验", "whole prompts exchanged")
    if tests > 1:
        corrected = COMMA.join(
            [corrected, Bilingual(f"已按 {tests} 次检验校正", f"corrected for {tests} tests")]
        )
    if not changed:
        p = p_text(min(item.p_adjusted for item in items))
        text = Bilingual("字数相等时未见差异", "no difference seen at equal numbers of tokens")
        smallest = SEMICOLON.join([Bilingual(f"最小 {p}", f"smallest {p}"), corrected])
        return Verdict(tone="none", subject=items[0].address, sentence=NOTED.format(text, smallest))
    main = max(worse or changed, key=lambda item: abs(item.test.difference))
    rest = [item for item in changed if item is not main]
    parts = [_change(main, labels), corrected, *_others(rest, labels)]
    tone: Tone = "worse" if worse else "better"
    return Verdict(tone=tone, subject=main.address, sentence=SEMICOLON.join(parts))


def _change(item: GroupComparison, labels: Sequence[str]) -> Bilingual:
    decimals = decimals_for(item.scale, item.values)
    before, after = (number(value, decimals) for value in item.values)
    equal_before, equal_after = number(item.test.first, decimals), number(item.test.second, decimals)
    earlier, later, p = labels[item.earlier], labels[item.later], p_text(item.p_adjusted)
    zh, en = ("变差", "worse") if item.verdict == "worse" else ("变好", "better")
    n = item.test.units
    return Bilingual(
        f"{later}（{after}）比 {earlier}（{before}）{zh}：字数相等时 {equal_before} → {equal_after}，"
        f"{p}（{n} 题）",
        f"{later} {after} is {en} than {earlier} {before}: at equal numbers of tokens {equal_before} → "
        f"{equal_after}, {p} ({n} prompts)",
    )


def _others(items: Sequence[GroupComparison], labels: Sequence[str]) -> Iterator[Bilingual]:
    if items:
        pairs = COMMA.join(f"{labels[item.earlier]} → {labels[item.later]}" for item in items[:MAX_PAIRS])
        further = len(items) - MAX_PAIRS
        rest = Bilingual(f" 等 {len(items)} 对", f" and {further} more") if further > 0 else NO_TEXT
        yield Bilingual("另有差异：{}{}", "these differ too: {}{}").format(pairs, rest)
