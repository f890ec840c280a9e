"""The decision which checkpoint to ship, in words: the first thing that a report says."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from hengwen.documents.blocks import Decision as DecisionBlock
from hengwen.documents.blocks import Link, Sentence, Verdict
from hengwen.documents.score_names import mean_text
from hengwen.results.comparisons import ALPHA
from hengwen.text.language import Bilingual
from hengwen.text.numbers import count, minus, number, p_text, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.documents.blocks import Block, Scores
    from hengwen.documents.score_names import ScoreName
    from hengwen.results.decision import CheckpointStanding, Decision, ScoreDecision

MAX_BULLETS = 3
MAX_NAMES, NAMES_LENGTH = 6, 90
"""Maximum number of checkpoints that a sentence names, and of their characters if they are more than two."""
FELL = Bilingual("下降", "Fell")
ROSE = Bilingual("上升", "Rose")
DISAGREE = Bilingual("分数不一致", "Scores disagree")
UNDECIDED = Bilingual("未定", "Undecided")


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
    ) -> None:
        """``links`` has, by the address of the score, the key of the block with the prompts that fell."""
        self._decision = decision
        self._decimals = decimals
        self._words = {address: name.words for address, name in names.items()}
        self._changes = changes or {}
        self._links = links or {}

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
            disputes = [*self._disagreement()]
            undecided = [*self._undecided()]
            moved = (*self._moved("worse"), *self._moved("better"))
            bullets = (*moved, *(disputes or undecided), *further)
            own = [*(undecided if disputes else ()), *self._lists(), *self._alone()]
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
        verb = Bilingual("建议发布", "Ship") if decision.verdict == "ship" else Bilingual("暂留", "Keep")
        if chosen == newest:
            return Bilingual(
                f"{verb.zh} {chosen}，即最新的检查点：没有哪个检查点显示比它更好。",
                f"{verb.en} {chosen}, the newest: no checkpoint is shown to be better.",
            )
        if falls and rises:
            down = [self._words[score.address] for score, _ in falls]
            return Bilingual(
                f"{verb.zh} {chosen}；最新的 {newest} {_zh(rises).lstrip()}更好，但{_zh(down)}变差。",
                f"{verb.en} {chosen}. The newest, {newest}, is better in {_and(_en(rises))}, "
                f"but worse in {_and(_en(down))}.",
            )
        if falls:
            score, standing = falls[0]
            size = number(abs(standing.difference or 0.0), self._decimals[score.address])
            name = self._words[score.address]
            is_chosen, is_above = standing.better == chosen, (standing.difference or 0.0) >= 0
            it_zh, it_en = ("它", "it") if is_chosen else (f" {standing.better} ", standing.better)
            zh, en = ("差", f"is {size} worse than") if is_above else ("低", f"has fallen {size} below")
            return Bilingual(
                f"{verb.zh} {chosen}；最新的 {newest} 的{_zh([name])}已比{it_zh}{zh} {size}。",
                f"{verb.en} {chosen}. The newest, {newest}, {en} {it_en} in {name.en}.",
            )
        return self._newest_trails(verb)

    def _newest_trails(self, verb: Bilingual) -> Bilingual:
        """Return the title where the newest is neither chosen nor shown to be worse."""
        chosen, newest = self._decision.checkpoint, self._decision.newest
        lacking = [
            self._words[score.address]
            for score in self._decision.scores
            if score.standings and score.standings[-1].standing == "missing answers"
        ]
        if lacking:
            return Bilingual(
                f"{verb.zh} {chosen}；最新的 {newest} {_zh(lacking)}缺回答，不下结论。",
                f"{verb.en} {chosen}. The newest, {newest}, lacks answers in {_and(_en(lacking))}, so "
                "there is no verdict on it.",
            )
        return Bilingual(
            f"{verb.zh} {chosen}；最新的 {newest} 没有显示更差，但均值落后。",
            f"{verb.en} {chosen}. The newest, {newest}, is not shown to be worse, but its means trail.",
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
        parts = [self._change(score) for score in moved]
        link = None
        linked = next((score for score in moved if score.address in self._links), None)
        if linked is not None:
            link = Link(text=self._size(linked), target=self._links[linked.address])
        yield Verdict(
            tone="worse" if direction == "worse" else "better",
            subject=FELL if direction == "worse" else ROSE,
            sentence=Bilingual(
                f"{'；'.join(part.zh for part in parts)}。", f"{'; '.join(part.en for part in parts)}."
            ),
            link=link,
        )

    def _change(self, score: ScoreDecision) -> Bilingual:
        """Return how the newest checkpoint differs from the best seen before it."""
        means = {item.checkpoint: item.mean for item in score.standings}
        decimals, name = self._decimals[score.address], self._words[score.address]
        before, after = mean_text(means[score.peak], decimals), mean_text(score.standings[-1].mean, decimals)
        size, p = self._size(score), p_text(score.p if score.p is not None else 1.0)
        own = (score.standings[-1].mean or 0.0) - (means[score.peak] or 0.0)
        if not score.is_group and abs(own - (score.change or 0.0)) > 10**-decimals:
            size = Bilingual(f"题目与次数相同时 {size.zh}", f"at equal prompts and repeats {size.en}")
        newest = self._decision.newest
        return Bilingual(
            f"{name.zh} {before}（{score.peak}）→ {after}（{newest}）（{size.zh}，{p}）",
            f"{name.en} {before} ({score.peak}) → {after} ({newest}) ({size.en}, {p})",
        )

    def _size(self, score: ScoreDecision) -> Bilingual:
        """Return the change, and on how many of the common prompts it shows."""
        change = minus(signed(score.change, self._decimals[score.address]))
        moved = self._changes.get(score.address)
        if moved is None:
            n = count(score.prompts or 0)
            if score.is_group:
                return Bilingual(f"字数相等时 {change}，{n} 题", f"{change} at equal length, {n} prompts")
            return Bilingual(f"{change}，{n} 题", f"{change}, {n} prompts")
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
            none_zh = none_en = deed_zh = deed_en = ""
            if not decision.on_every_list:
                none_zh, none_en = (
                    "；没有检查点在各项上都不差于所见最高",
                    ", and none is among the best in all",
                )
            if decision.verdict == "keep":
                deed_zh = f"{decision.checkpoint} 没有以一项换另一项；值不值得换，由人决定。"
                deed_en = (
                    f" {decision.checkpoint} has traded no score for another; whether the gain is worth "
                    "the loss is for people to say."
                )
            yield Verdict(
                tone="open",
                subject=DISAGREE,
                sentence=Bilingual(
                    f"到 {item.checkpoint}，{_zh(up)}上升，{_zh(down)}下降{none_zh}。{deed_zh}",
                    f"at {item.checkpoint} {_and(_en(up))} {_verb(up, 'rise')} while "
                    f"{_and(_en(down))} {_verb(down, 'fall')}{none_en}.{deed_en}",
                ),
            )

    def _undecided(self) -> Iterator[Verdict]:
        """Yield one sentence on the checkpoints that are not shown to be worse, and what would tell."""
        parts = [*self._undecided_parts()]
        if parts:
            zh, en = "；".join(part.zh for part in parts), "; ".join(part.en for part in parts)
            yield Verdict(tone="open", subject=UNDECIDED, sentence=Bilingual(f"{zh}。", f"{en}."))

    def _undecided_parts(self) -> Iterator[Bilingual]:
        for score, items in self._open_ones():
            listed = items[: _most([item.checkpoint for item in items])]
            fine, name = self._decimals[score.address], self._words[score.address]
            names = [f"{item.checkpoint} ({minus(signed(item.difference, fine))})" for item in listed]
            more = len(items) - len(listed)
            zh = "、".join(names) + (f" 等 {len(items)} 个" if more else "")
            en = _and(names) if not more else f"{', '.join(names)} and {more} more"
            is_one = len(items) == 1
            needed = [item.prompts_needed for item in listed]
            price_zh = price_en = ""
            if all(needed):
                counts = [count(n) for n in needed if n]
                there = count(max(item.prompts or 0 for item in listed))
                price_zh = f"，要分出高下约需 {'、'.join(counts)} 题，现有 {there} 题"
                price_en = f" (to tell takes about {_and(counts)} prompts, there are {there})"
            best = listed[0].better
            limit = score.margin
            than_zh = f"比 {best} 差" if limit is None else f"与 {best} 的差距在 {limit:g} 以内"
            than_en = f"worse than {best}" if limit is None else f"within {limit:g} of {best}"
            yield Bilingual(
                f"{name.zh}：{zh} 没有显示{than_zh}{price_zh}",
                f"{name.en}: {en} {'is' if is_one else 'are'} not shown to be {than_en}{price_en}",
            )

    def _alone(self) -> Iterator[Sentence]:
        """Explain that a comparison of one pair may find a difference that this larger family does not."""
        for score in self._decision.scores:
            for item in score.standings:
                if item.standing == "not worse" and _is_only_alone(item):
                    p, better = p_text(item.p_alone or 0.0), item.better
                    yield Sentence(
                        text=Bilingual(
                            f"{item.checkpoint} 单独与 {better} 比较时 {p}：只比较这一对的 hengwen compare "
                            "可能称它更差；这里同时比较多对，p 更大。",
                            f"{item.checkpoint} alone against {better} has {p}: hengwen compare, which "
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
                if item.standing == "missing answers" or (item.standing == "worse" and not score.is_group):
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

    def _lists(self) -> Iterator[Sentence]:
        """Yield, for each score, which checkpoints are not worse than the best seen."""
        for score in self._decision.scores:
            if score.is_group and score.problem == "not tested":
                yield self._untested(score)
            if score.problem or not score.not_worse:
                continue
            others = [name for name in score.not_worse if name != score.best_seen]
            name = self._words[score.address]
            zh, en = _names_text(others, "无", "none other")
            text = Bilingual(
                f"{name.zh}：不差于 {score.best_seen} 的：{zh}。",
                f"{name.en}: not worse than {score.best_seen}: {en}.",
            )
            if len(others) == len(score.standings) - 1:
                text = Bilingual(
                    f"{name.zh}：没有检查点显示比 {score.best_seen} 差。",
                    f"{name.en}: no checkpoint is shown to be worse than {score.best_seen}.",
                )
            yield Sentence(text=text)
        counted = [score for score in self._decision.scores if not score.problem]
        if len(counted) > 1 and self._decision.on_every_list:
            zh, en = _names_text(self._decision.on_every_list, "", "")
            yield Sentence(text=Bilingual(f"各项都不差的：{zh}。", f"Not worse in any score: {en}."))

    def _untested(self, score: ScoreDecision) -> Sentence:
        name = self._words[score.address]
        return Sentence(
            text=Bilingual(
                f"{name.zh}：未检验；整组回答的分数中，只检验 n-gram 的，题目须相同，至少 6 题。",
                f"{name.en}: not tested; of scores of whole sets of answers, those of n-grams are, with "
                "equal prompts, at least 6.",
            ),
            is_note=True,
        )


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
    most = _most(names)
    rest = len(names) - most
    zh, en = "、".join(names[:most]), ", ".join(names[:most])
    return (f"{zh} 等 {len(names)} 个", f"{en} and {rest} more") if rest > 0 else (zh, en)


def _most(names: Sequence[str]) -> int:
    """Return how many of these names a sentence can hold."""
    return max(2, min(MAX_NAMES, NAMES_LENGTH // max(map(len, names))))


def _is_only_alone(item: CheckpointStanding) -> bool:
    """Return whether a difference is significant alone, but not among all those of the report."""
    return item.p is not None and item.p_alone is not None and item.p_alone <= ALPHA < item.p


def _and(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _zh(words: Sequence[Bilingual]) -> str:
    """Return names for a Chinese sentence, with a space where one begins or ends in Latin letters."""
    text = "、".join(item.zh for item in words)
    return f"{' ' if text[:1].isascii() else ''}{text}{' ' if text[-1:].isascii() else ''}"


def _en(words: Sequence[Bilingual]) -> list[str]:
    return [item.en for item in words]


def _verb(subjects: Sequence[object], verb: str) -> str:
    return verb if len(subjects) > 1 else f"{verb}s"
