"""The decision which checkpoint to ship, in words: the first thing that a report says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from hengwen.documents.blocks import Block, Link, Scores, Verdict
from hengwen.documents.blocks import Decision as DecisionBlock
from hengwen.documents.cells import ScoreName, family_text, mean_text
from hengwen.documents.standings import Standings, and_text, zh_text
from hengwen.results.decide import CheckpointStanding, Decision, ScoreDecision
from hengwen.text.language import COMMA, NO_TEXT, SEMICOLON, SENTENCE, SPACE, Bilingual, both
from hengwen.text.numbers import count, minus, number, p_text, signed

MAX_BULLETS = 3
DISAGREE = Bilingual("分数不一致", "Scores disagree")
NONE_IN_ALL = Bilingual("没有检查点各项都在前列", "No checkpoint is among the best in every score")


class PromptChanges(NamedTuple):
    """On how many prompts the newest checkpoint is better and worse than the best seen before it."""

    better: int
    worse: int
    prompts: int


class DecisionWords:
    """The title and the sentences of a decision."""

    def __init__(
        self,
        decision: Decision,
        decimals: Mapping[str, int],
        names: Mapping[str, ScoreName],
        changes: Mapping[str, PromptChanges] | None = None,
        links: Mapping[str, str] | None = None,
        uninformative: Collection[str] = (),
    ) -> None:
        """``links`` has, by address, the key of the block with the prompts that fell; see ``Standings``."""
        self._decision = decision
        self._decimals = decimals
        self._words = {address: name.words for address, name in names.items()}
        self._changes = changes or {}
        self._links = links or {}
        self._standings = Standings(decision, decimals, self._words, uninformative)

    def block(
        self,
        *,
        scores: Scores | None = None,
        further: Sequence[Verdict] = (),
        judges: Sequence[Verdict] = (),
        details: Sequence[Block] = (),
    ) -> DecisionBlock:
        """Return the first screen; of ``further``, what the bullets cannot hold stands above the judges."""
        if self._decision.verdict == "none":
            bullets, own = tuple(further), []
        else:
            standings = self._standings
            bullets = (
                *self._moved("worse"),
                *self._moved("better"),
                *self._disagreement(),
                *standings.undecided(),
                *standings.out(),
                *further,
            )
            own = [*standings.lists(), *standings.alone()]
        return DecisionBlock(
            title=self.title(),
            bullets=bullets[:MAX_BULLETS],
            scores=scores,
            judges=(*bullets[MAX_BULLETS:], *judges),
            details=(*own, *details),
        )

    def title(self) -> Bilingual:
        """Return what to do, in one sentence."""
        decision = self._decision
        chosen, newest = decision.checkpoint, decision.newest
        if decision.verdict == "none":
            return self._nothing_to_decide()
        if decision.verdict == "undecided":
            return self._undecided_title()
        falls = self._newest_is_worse()
        rises = [self._words[score.address] for score in decision.scores if score.newest == "better"]
        deed = self._deed()
        if chosen == newest:
            return Bilingual(
                f"{deed.zh}：没有哪个检查点显示比它更好。",
                f"{deed.en}: no checkpoint is shown to be better.",
            )
        if falls and rises:
            down = [self._words[score.address] for score, _ in falls]
            return Bilingual(
                f"{deed.zh}；最新的 {newest} {zh_text(rises).lstrip()}更好，但{zh_text(down)}变差。",
                f"{deed.en}. The newest, {newest}, is better in {and_text(rises)}, "
                f"but worse in {and_text(down)}.",
            )
        if falls:
            score, standing = falls[0]
            size = number(abs(standing.difference or 0.0), self._decimals[score.address])
            name = self._standings.compared(score)
            is_chosen, is_above = standing.better == chosen, (standing.difference or 0.0) >= 0
            it_zh, it_en = ("它", "it") if is_chosen else (f" {standing.better} ", standing.better)
            zh, en = ("差", f"is {size} worse than") if is_above else ("低", f"has fallen {size} below")
            return Bilingual(
                f"{deed.zh}；最新的 {newest} 的{zh_text([name])}已比{it_zh}{zh} {size}。",
                f"{deed.en}. The newest, {newest}, {en} {it_en} in {name.en}.",
            )
        return self._newest_trails(deed)

    def _deed(self) -> Bilingual:
        """Return what to do with which checkpoint, and how it stands among those that are left."""
        chosen = self._decision.checkpoint
        verb = (
            Bilingual("建议发布", "Ship") if self._decision.verdict == "ship" else Bilingual("暂留", "Keep")
        )
        remarks = [Bilingual("即最新的检查点", "the newest")] if chosen == self._decision.newest else []
        remarks += self._standings.lead()
        return COMMA.join([SPACE.join([verb, chosen]), *remarks])

    def _newest_trails(self, deed: Bilingual) -> Bilingual:
        """Return the title where the newest is neither chosen nor shown to be worse."""
        newest = self._decision.newest
        lacking = [
            self._words[score.address]
            for score in self._decision.scores
            if score.standings and score.standings[-1].standing == "missing answers"
        ]
        if lacking:
            return Bilingual(
                f"{deed.zh}；最新的 {newest} {zh_text(lacking)}缺回答，不下结论。",
                f"{deed.en}. The newest, {newest}, lacks answers in {and_text(lacking)}, so "
                "there is no verdict on it.",
            )
        return Bilingual(
            f"{deed.zh}；最新的 {newest} 没有显示更差，但均值落后。",
            f"{deed.en}. The newest, {newest}, is not shown to be worse, but its means trail.",
        )

    def _nothing_to_decide(self) -> Bilingual:
        scores, newest = self._decision.scores, self._decision.newest
        if not scores or all(score.problem == "nothing scored" for score in scores):
            return Bilingual("没有分数，无从决定。", "No scores, so nothing to decide.")
        alone = ("one checkpoint", "nothing scored")
        if all(score.problem in alone or len(score.standings) < 2 for score in scores):
            return Bilingual(
                f"{newest}：只有一个检查点有得分，尚无可比。",
                f"{newest}: only one checkpoint has scores, so there is nothing to compare yet.",
            )
        if all(score.problem in ("not tested", "nothing scored") for score in scores):
            return Bilingual(
                "无法决定：没有可以检验的分数。", "Nothing can be decided: no score can be tested."
            )
        return Bilingual("无法决定：没有可以比较的分数。", "Nothing can be decided: no score is comparable.")

    def _newest_is_worse(self) -> list[tuple[ScoreDecision, CheckpointStanding]]:
        """Return the scores in which the newest checkpoint is shown to be worse."""
        return [
            (score, score.standings[-1])
            for score in self._decision.scores
            if score.standings and score.standings[-1].standing == "worse"
        ]

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

    def _moved(self, direction: str) -> Iterator[Verdict]:
        """Yield one sentence on all scores in which the newest differs from the best seen before it."""
        moved = [score for score in self._decision.scores if score.newest == direction]
        if not moved:
            return
        parts, newest = [self._change(score) for score in moved], self._decision.newest
        link = None
        linked = next((score for score in moved if score.address in self._links), None)
        if linked is not None:
            link = Link(text=self._size(linked), target=self._links[linked.address])
        yield Verdict(
            tone="worse" if direction == "worse" else "better",
            subject=Bilingual(f"{newest} 下降", f"Fell at {newest}")
            if direction == "worse"
            else Bilingual(f"{newest} 上升", f"Rose at {newest}"),
            sentence=SENTENCE.format(SEMICOLON.join(parts)),
            link=link,
        )

    def _change(self, score: ScoreDecision) -> Bilingual:
        """Return how the newest checkpoint differs from the best seen before it."""
        means = {item.checkpoint: item.mean for item in score.standings}
        decimals, name = self._decimals[score.address], self._words[score.address]
        before, after = mean_text(means[score.peak], decimals), mean_text(score.standings[-1].mean, decimals)
        size, p, family = (
            self._size(score),
            p_text(1.0 if score.p is None else score.p),
            family_text(score.tests),
        )
        own = (score.standings[-1].mean or 0.0) - (means[score.peak] or 0.0)
        if not score.is_group and abs(own - (score.change or 0.0)) > 10**-decimals:
            size = SPACE.join([Bilingual("题目与次数相同时", "at equal prompts and repeats"), size])
        return Bilingual(
            f"{name.zh} {before}（{score.peak}）→ {after}（{size.zh}；{p}，{family.zh}）",
            f"{name.en} {before} ({score.peak}) → {after} ({size.en}; {p}, {family.en})",
        )

    def _size(self, score: ScoreDecision) -> Bilingual:
        """Return the change, and on how many of the common prompts it shows."""
        change = minus(signed(score.change, self._decimals[score.address]))
        moved = self._changes.get(score.address)
        if moved is None:
            n = count(score.prompts or 0)
            text = both(change)
            if score.is_group:
                text = Bilingual(f"字数相等时 {change}", f"{change} at equal length")
            return COMMA.join([text, Bilingual(f"{n} 题", f"{n} prompts")])
        moves, total = (moved.worse if score.newest == "worse" else moved.better), moved.prompts
        zh, en = ("变差", "worse") if score.newest == "worse" else ("变好", "better")
        of_zh, of_en = (
            ("全部", f"all {total}") if moves == total else (f"中 {moves} 题", f"{moves} of {total}")
        )
        return Bilingual(f"{change}，{total} 题{of_zh}{zh}", f"{change}, {of_en} prompts {en}")

    def _disagreement(self) -> Iterator[Verdict]:
        decision = self._decision
        for item in decision.disagreements[-1:]:
            up, down = ([self._words[address] for address in group] for group in (item.better, item.worse))
            subject, deed = DISAGREE if decision.on_every_list else NONE_IN_ALL, NO_TEXT
            if decision.verdict == "keep":
                deed = Bilingual(
                    f"留用 {decision.checkpoint}：没有一项显示它比此前的检查点差；得失是否相抵，由人决定。",
                    f" Kept: {decision.checkpoint}, not shown to be worse in any score than a checkpoint "
                    "before it; whether the gain is worth the loss is for people to say.",
                )
            yield Verdict(
                tone="open",
                subject=subject,
                sentence=Bilingual(
                    f"到 {item.checkpoint}，{zh_text(up)}上升，{zh_text(down)}下降。{deed.zh}",
                    f"{and_text(up)} {_verb(up, 'rise')} while {and_text(down)} "
                    f"{_verb(down, 'fall')} at {item.checkpoint}.{deed.en}",
                ),
            )


def decision_record(decision: Decision) -> dict[str, Any]:
    """Return a decision as JSON data."""
    record = asdict(decision)
    for score, item in zip(decision.scores, record["scores"], strict=True):
        item["not_worse"] = list(score.not_worse)
    record["disagreements"] = [item._asdict() for item in decision.disagreements]
    return record


def _verb(subjects: Sequence[object], verb: str) -> str:
    return verb if len(subjects) > 1 else f"{verb}s"
