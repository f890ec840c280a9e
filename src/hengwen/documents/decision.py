"""The decision which checkpoint to ship, as blocks: the first thing that a report says."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hengwen.documents.blocks import Cell, Column, Sentence, Table, Verdict
from hengwen.documents.cells import SCORE, P, plain_p_cell, right
from hengwen.results.comparisons import ALPHA
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, count, number, p_text, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.documents.blocks import Block, Tone
    from hengwen.results.decision import CheckpointStanding, Decision, ScoreDecision

MAX_NAMES = 6
"""Maximum number of checkpoints that a sentence names."""
_NEWEST: Mapping[str, tuple[Tone, Bilingual]] = {
    "worse": ("worse", Bilingual("下降", "fallen")),
    "better": ("better", Bilingual("上升", "risen")),
    "mean undecided": ("open", Bilingual("均值未定", "mean undecided")),
    "no difference seen": ("none", Bilingual("未见差异", "no difference seen")),
    "too few": ("open", Bilingual("题目太少", "too few prompts")),
}
_PROBLEMS: Mapping[str, Bilingual] = {
    "nothing scored": Bilingual("没有得分", "nothing scored"),
    "one checkpoint": Bilingual("只有一个检查点", "one checkpoint"),
    "not comparable": Bilingual("设置不同", "settings differ"),
    "order unknown": Bilingual("先后未知", "order unknown"),
    "missing answers": Bilingual("缺回答", "missing answers"),
    "not tested": Bilingual("未检验", "not tested"),
}


class DecisionWords:
    """The sentences and the table of a decision."""

    def __init__(self, decision: Decision, decimals: Mapping[str, int]) -> None:
        self._decision = decision
        self._decimals = decimals
        names = [score.address.partition("/")[2] for score in decision.scores]
        self._names = {
            score.address: name if names.count(name) == 1 else score.address
            for score, name in zip(decision.scores, names, strict=True)
        }

    def blocks(self) -> Iterator[Block]:
        """Yield the verdict, what it rests on, and a table; nothing if there is nothing to decide."""
        if self._decision.verdict == "none":
            return
        yield Verdict(tone=self._tone(), sentence=self._title())
        yield from (self._change(score) for score in self._decision.scores if self._has_moved(score))
        yield from self._disagreement()
        yield from self._undecided()
        yield from self._alone()
        yield self._table()

    def _tone(self) -> Tone:
        if self._decision.verdict == "undecided":
            return "open"
        return "worse" if self._newest_is_worse() else "plain"

    def _newest_is_worse(self) -> list[tuple[ScoreDecision, CheckpointStanding]]:
        """Return the scores in which the newest checkpoint is shown to be worse, the largest fall first."""
        return [
            (score, score.standings[-1])
            for score in self._decision.scores
            if score.standings and score.standings[-1].standing == "worse"
        ]

    def _title(self) -> Bilingual:
        decision = self._decision
        chosen, newest = decision.checkpoint, decision.newest
        if decision.verdict == "undecided":
            return self._undecided_title()
        falls = self._newest_is_worse()
        rises = [self._names[score.address] for score in decision.scores if score.newest == "better"]
        verb = Bilingual("建议发布", "Ship") if decision.verdict == "ship" else Bilingual("暂留", "Keep")
        if chosen == newest:
            return Bilingual(f"{verb.zh} {chosen}，即最新的检查点。", f"{verb.en} {chosen}, the newest.")
        if falls and rises:
            down = [self._names[score.address] for score, _ in falls]
            return Bilingual(
                f"{verb.zh} {chosen}；最新的 {newest} 在 {'、'.join(rises)} 上更好，"
                f"在 {'、'.join(down)} 上更差。",
                f"{verb.en} {chosen}. The newest, {newest}, is better in {_and(rises)}, "
                f"but worse in {_and(down)}.",
            )
        if falls:
            score, standing = falls[0]
            size = number(abs(standing.difference or 0.0), self._fine(score))
            name = self._names[score.address]
            is_chosen = standing.better == chosen
            it_zh, it_en = ("它", "it") if is_chosen else (f" {standing.better} ", standing.better)
            return Bilingual(
                f"{verb.zh} {chosen}；最新的 {newest} 的 {name} 已比{it_zh}差 {size}。",
                f"{verb.en} {chosen}. The newest, {newest}, has fallen {size} below {it_en} in {name}.",
            )
        return Bilingual(
            f"{verb.zh} {chosen}；最新的 {newest} 没有显示更差，但均值落后。",
            f"{verb.en} {chosen}. The newest, {newest}, is not shown to be worse, but its means trail.",
        )

    def _undecided_title(self) -> Bilingual:
        chosen = self._decision.checkpoint
        if self._decision.on_every_list:
            return Bilingual(
                f"未定：没有哪个检查点显示比别的差；总体均值最高的是 {chosen}。",
                f"Undecided: no checkpoint is shown to be worse than another; {chosen} trails least.",
            )
        return Bilingual(
            f"未定：没有哪个检查点在每项分数上都显示在差距之内；落后最少的是 {chosen}。",
            f"Undecided: no checkpoint is shown to be within the margin in every score; {chosen} trails "
            "least.",
        )

    def _has_moved(self, score: ScoreDecision) -> bool:
        return score.newest in ("worse", "better")

    def _change(self, score: ScoreDecision) -> Verdict:
        """Return how the newest checkpoint differs from the best seen before it."""
        means = {item.checkpoint: item.mean for item in score.standings}
        decimals, name = self._decimals[score.address], self._names[score.address]
        before, after = number(means[score.peak], decimals), number(score.standings[-1].mean, decimals)
        change, prompts = signed(score.change, self._fine(score)), count(score.prompts or 0)
        p = p_text(score.p if score.p is not None else 1.0)
        tone, verb = _NEWEST[score.newest or ""]
        en = "fell" if tone == "worse" else "rose"
        newest = self._decision.newest
        return Verdict(
            tone=tone,
            sentence=Bilingual(
                f"{name} {verb.zh}：{before}（{score.peak}）→ {after}（{newest}），"
                f"{prompts} 题相差 {change}，p {p}",
                f"{name} {en}: {before} ({score.peak}) → {after} ({newest}), {change} on {prompts} prompts, "
                f"p {p}",
            ),
        )

    def _disagreement(self) -> Iterator[Verdict]:
        decision = self._decision
        for item in decision.disagreements[-1:]:
            up, down = ([self._names[address] for address in group] for group in (item.better, item.worse))
            none_zh = none_en = deed_zh = deed_en = ""
            if not decision.on_every_list:
                none_zh, none_en = (
                    "；没有检查点在各项上都不差于所见最高",
                    ", and none is among the best in all",
                )
            if decision.verdict == "keep":
                deed_zh = f"。{decision.checkpoint} 没有以一项换另一项；值不值得换，由人决定"
                deed_en = (
                    f". {decision.checkpoint} has traded no score for another; whether the gain is worth "
                    "the loss is for people to say"
                )
            yield Verdict(
                tone="worse",
                sentence=Bilingual(
                    f"分数不一致：到 {item.checkpoint}，{'、'.join(up)} 上升而 {'、'.join(down)} 下降"
                    f"{none_zh}{deed_zh}",
                    f"Scores disagree: at {item.checkpoint} {_and(up)} {_verb(up, 'rise')} while "
                    f"{_and(down)} {_verb(down, 'fall')}{none_en}{deed_en}",
                ),
            )

    def _undecided(self) -> Iterator[Verdict]:
        """Yield, for each score, the checkpoints that are not shown to be worse, and what would tell."""
        for score, items in self._open_ones():
            listed = items[:MAX_NAMES]
            fine, name = self._fine(score), self._names[score.address]
            names = [f"{item.checkpoint} ({signed(item.difference, fine)})" for item in listed]
            more = len(items) - len(listed)
            zh = "、".join(names) + (f" 等 {len(items)} 个" if more else "")
            en = _and(names) if not more else f"{', '.join(names)} and {more} more"
            is_one = len(items) == 1
            needed = [item.prompts_needed for item in listed]
            price_zh = price_en = ""
            if all(needed):
                counts = [count(n) for n in needed if n]
                there = count(max(item.prompts or 0 for item in listed))
                price_zh = f"；要分出高下约需 {'、'.join(counts)} 题，现有 {there} 题"
                price_en = f"; to tell takes about {_and(counts)} prompts, there are {there}"
            best = listed[0].better
            limit = score.margin
            than_zh = f"比 {best} 差" if limit is None else f"与 {best} 的差距在 {limit:g} 以内"
            than_en = f"worse than {best}" if limit is None else f"within {limit:g} of {best}"
            yield Verdict(
                tone="open",
                sentence=Bilingual(
                    f"{name}：{zh} 没有显示{than_zh}{price_zh}",
                    f"{name}: {en} {'is' if is_one else 'are'} not shown to be {than_en}{price_en}",
                ),
            )

    def _alone(self) -> Iterator[Sentence]:
        """Explain that a comparison of one pair may find a difference that this larger family does not."""
        for score in self._decision.scores:
            for item in score.standings:
                if item.standing == "not worse" and _is_only_alone(item):
                    p, better = p_text(item.p_alone or 0.0), item.better
                    yield Sentence(
                        text=Bilingual(
                            f"{item.checkpoint} 单独与 {better} 比较时 p {p}：只比较这一对的 hengwen compare "
                            "可能称它更差；这里同时比较多对，p 更大。",
                            f"{item.checkpoint} alone against {better} has p {p}: hengwen compare, which "
                            "tests one pair, may call it worse; here are many pairs, so p is larger.",
                        ),
                        is_note=True,
                    )

    def _open_ones(self) -> Iterator[tuple[ScoreDecision, list[CheckpointStanding]]]:
        """Yield scores with the checkpoints that trail in them, though no test shows that they are worse."""
        by_checkpoint: dict[str, list[tuple[ScoreDecision, CheckpointStanding]]] = {}
        excluded = {self._decision.checkpoint}
        for score in self._decision.scores:
            for item in score.standings:
                by_checkpoint.setdefault(item.checkpoint, []).append((score, item))
                if item.standing in ("worse", "missing answers"):
                    excluded.add(item.checkpoint)
        chosen: dict[str, list[CheckpointStanding]] = {}
        for checkpoint, places in by_checkpoint.items():
            behind = [
                (score, item)
                for score, item in places
                if item.difference and item.standing in ("not worse", "undecided")
                if score.margin is None or item.standing == "undecided"
            ]
            if behind and checkpoint not in excluded:
                score, item = min(behind, key=lambda pair: pair[1].p if pair[1].p is not None else 1.0)
                chosen.setdefault(score.address, []).append(item)
        for score in self._decision.scores:
            items = chosen.get(score.address, [])
            if items:
                yield score, sorted(items, key=lambda item: -abs(item.difference or 0.0))

    def _table(self) -> Table:
        scores = self._decision.scores
        return Table(
            key="decision",
            columns=(
                SCORE,
                Column(key="best_seen", head=Bilingual("所见最高", "best seen"), align="right"),
                right("newest", "最新", "newest"),
                right("change", "变化", "change"),
                P,
                Column(key="verdict", head=Bilingual("最新的", "the newest")),
            ),
            rows=tuple(self._row(score) for score in scores),
            notes=tuple(self._notes()),
        )

    def _row(self, score: ScoreDecision) -> tuple[Cell, ...]:
        decimals = self._decimals[score.address]
        means = {item.checkpoint: item.mean for item in score.standings}
        best = f"{number(means[score.best_seen], decimals)} {score.best_seen}" if score.best_seen else NOTHING
        tone, word = _NEWEST.get(
            score.newest or "", ("open", _PROBLEMS.get(score.problem, Bilingual("", "")))
        )
        if score.newest is None and not score.problem:
            word = _PROBLEMS["missing answers"]
        newest = score.standings[-1].mean if score.standings else None
        return (
            Cell(text=self._names[score.address], values={"": score.address}),
            Cell(text=best, values={"": score.best_seen, "mean": means.get(score.best_seen)}),
            Cell(text=number(newest, decimals), values={"": newest}),
            Cell(
                text=NOTHING if score.change is None else signed(score.change, self._fine(score)),
                values={"": score.change},
            ),
            plain_p_cell(score.p),
            Cell(text=word, values={"": score.newest or score.problem}, tone=tone),
        )

    def _notes(self) -> Iterator[Bilingual]:
        yield Bilingual(
            "变化：最新检查点与此前所见最高之差；p 按全部比较校正。所见最高是多个中最高的，偏高。",
            "change: the newest against the best seen before it; p corrected for all comparisons. The best "
            "seen of several is overstated.",
        )
        for score in self._decision.scores:
            if score.problem or not score.not_worse:
                continue
            others = [name for name in score.not_worse if name != score.best_seen]
            name = self._names[score.address]
            if len(others) == len(score.standings) - 1:
                yield Bilingual(
                    f"{name}：没有检查点显示比 {score.best_seen} 差",
                    f"{name}: no checkpoint is shown to be worse than {score.best_seen}",
                )
            else:
                zh, en = _names_text(others, "无", "none other")
                yield Bilingual(
                    f"{name}：不差于 {score.best_seen} 的：{zh}",
                    f"{name}: not worse than {score.best_seen}: {en}",
                )
        counted = [score for score in self._decision.scores if not score.problem]
        if len(counted) > 1 and self._decision.on_every_list:
            zh, en = _names_text(self._decision.on_every_list, "", "")
            yield Bilingual(f"各项都不差的：{zh}", f"not worse in any score: {en}")

    def _fine(self, score: ScoreDecision) -> int:
        return self._decimals[score.address]


def decision_record(decision: Decision) -> dict[str, Any]:
    """Return a decision as JSON data."""
    record = asdict(decision)
    for score, item in zip(decision.scores, record["scores"], strict=True):
        item["not_worse"] = list(score.not_worse)
    record["disagreements"] = [item._asdict() for item in decision.disagreements]
    return record


def _names_text(names: Sequence[str], none_zh: str, none_en: str) -> tuple[str, str]:
    if not names:
        return none_zh, none_en
    rest = len(names) - MAX_NAMES
    zh, en = "、".join(names[:MAX_NAMES]), ", ".join(names[:MAX_NAMES])
    return (f"{zh} 等 {len(names)} 个", f"{en} and {rest} more") if rest > 0 else (zh, en)


def _is_only_alone(item: CheckpointStanding) -> bool:
    """Return whether a difference is significant alone, but not among all those of the report."""
    return item.p is not None and item.p_alone is not None and item.p_alone <= ALPHA < item.p


def _and(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _verb(subjects: Sequence[str], verb: str) -> str:
    return verb if len(subjects) > 1 else f"{verb}s"
