"""Between which checkpoints a decision is open, which are out, and the lists behind both, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hengwen.documents.blocks import Sentence, Verdict
from hengwen.documents.cells import family_text
from hengwen.results.comparisons import ALPHA
from hengwen.results.decide import UNDECIDED, CheckpointStanding, Decision, ScoreDecision
from hengwen.text.language import COLON, COMMA, LIST_COMMA, NO_TEXT, SEMICOLON, SENTENCE, Bilingual, both
from hengwen.text.numbers import count, minus, p_text, signed

MAX_NAMES, NAMES_LENGTH = 6, 90
"""Maximum number of checkpoints that a sentence names, and of their characters if they are more than two."""
_NOT_WORSE = Bilingual("不差于 {} 的：{}。", "not worse than {}: {}.")
_NONE_WORSE = Bilingual("没有检查点显示比 {} 差。", "no checkpoint is shown to be worse than {}.")
_ALONE = Bilingual(
    "{0} 单独与 {1} 比较时 {2}，{3}后 {4}：只比较这一对的 hengwen compare 可能称它更差。",
    "{0} alone against {1} has {2}, {3} {4}: hengwen compare, which tests one pair, may call it worse.",
)
_UNTESTED = Bilingual(
    "未检验；整组回答的分数中，只检验 n-gram 的，题目须相同，至少 6 题。",
    "not tested; of scores of whole sets of answers, those of n-grams are, with equal prompts, at least 6.",
)
OPEN = Bilingual("未定", "Undecided")
OUT = Bilingual("已排除", "Out")


class Standings:
    """The sentences on where checkpoints stand in the scores of a decision."""

    def __init__(
        self,
        decision: Decision,
        decimals: Mapping[str, int],
        words: Mapping[str, Bilingual],
        uninformative: Collection[str] = (),
    ) -> None:
        """``words`` names the scores; ``uninformative`` are those that can hardly tell checkpoints apart."""
        self._decision = decision
        self._decimals = decimals
        self._words = words
        self._uninformative = uninformative
        self._scores = [score for score in decision.scores if not score.problem]

    def lead(self) -> Iterator[Bilingual]:
        """Yield how the chosen checkpoint stands among those that are left, if more than one is."""
        n = len(self._rivals())
        if self._is_tie and n > 1:
            zh, en = ("总体", " overall") if len(self._scores) > 1 else ("", "")
            yield Bilingual(f"未定的 {n} 个中{zh}所见最好", f"the best seen{en} of {n} undecided")

    @property
    def _is_tie(self) -> bool:
        """Whether those that are left are not shown to be worse: with a margin, they may be shown to be."""
        return self._decision.verdict == "ship" and all(score.margin is None for score in self._scores)

    def undecided(self) -> Iterator[Verdict]:
        """Yield one sentence: between which checkpoints it is open, where they trail, and what would tell."""
        rivals = self._rivals()
        parts = [*self._tie(rivals), *(self._trailing(*item) for item in self._behind(rivals))]
        if parts:
            yield Verdict(tone="open", subject=OPEN, sentence=_sentence(parts))

    def out(self) -> Iterator[Verdict]:
        """Yield one sentence: by which scores checkpoints are out; where scores disagree, nobody is in."""
        by_better: dict[str, list[Bilingual]] = {}
        for score in self._scores:
            for better in dict.fromkeys(item.better for item in score.standings):
                items = [
                    item for item in score.standings if (item.standing, item.better) == ("worse", better)
                ]
                if items:
                    name, named = self.compared(score), self._with_differences(score, items)
                    text = Bilingual(f"{zh_text([name]).lstrip()}上有 {named.zh}", f"in {name.en} {named.en}")
                    by_better.setdefault(better, []).append(text)
        if by_better and self._decision.verdict != "keep":
            worse = Bilingual("比 {} 差的，{}", "worse than {}: {}")
            parts = [worse.format(better, COMMA.join(texts)) for better, texts in by_better.items()]
            yield Verdict(tone="plain", subject=OUT, sentence=_sentence(parts))

    def lists(self) -> Iterator[Sentence]:
        """Yield, for each score, which checkpoints are not worse than the best seen."""
        for score in self._decision.scores:
            if score.is_group and score.problem == "not tested":
                yield self._untested(score)
            if score.problem or not score.not_worse:
                continue
            others = [name for name in score.not_worse if name != score.best_seen]
            listed = names_text(others) if others else Bilingual("无", "none other")
            text = _NOT_WORSE.format(score.best_seen, listed)
            if len(others) == len(score.standings) - 1:
                text = _NONE_WORSE.format(score.best_seen)
            yield Sentence(text=COLON.join([self._words[score.address], text]))
        if len(self._scores) > 1 and self._decision.on_every_list:
            text = Bilingual("各项都不差的：{}。", "Not worse in any score: {}.")
            yield Sentence(text=text.format(names_text(self._decision.on_every_list)))

    def alone(self) -> Iterator[Sentence]:
        """Explain that a comparison of one pair may find a difference that this larger family does not."""
        for score in self._decision.scores:
            for item in score.standings:
                if item.standing != "not worse" or item.p is None or item.p_alone is None:
                    continue
                if item.p_alone <= ALPHA < item.p:
                    p_alone, p, family = p_text(item.p_alone), p_text(item.p), family_text(score.tests)
                    text = _ALONE.format(item.checkpoint, item.better, p_alone, family, p)
                    yield Sentence(text=text, is_note=True)

    def _rivals(self) -> list[str]:
        """Return the checkpoints that no score shows to be worse, in training order."""
        kinds: dict[str, set[str]] = {}
        for score in self._scores:
            for item in score.standings:
                if not (score.is_group and item.standing == "not compared"):
                    kinds.setdefault(item.checkpoint, set()).add(item.standing)
        return [checkpoint for checkpoint, standings in kinds.items() if standings <= UNDECIDED]

    def _tie(self, rivals: Sequence[str]) -> Iterator[Bilingual]:
        """Yield who is left where others are out; elsewhere, the title says that nobody is."""
        if not self._is_tie or len(rivals) < 2:
            return
        listed = names_text(rivals)
        zh = f"{listed.zh} 在任何一项上都没有显示更差"
        if len(rivals) == 2:
            yield Bilingual(zh, f"neither {' nor '.join(rivals)} is shown to be worse in any score")
        else:
            yield Bilingual(zh, f"none of {listed.en} is shown to be worse in any score")

    def _behind(self, rivals: Collection[str]) -> Iterator[tuple[ScoreDecision, list[CheckpointStanding]]]:
        """Yield scores with the rivals that trail in them: each once, behind the chosen one if it does."""
        chosen = self._decision.checkpoint
        trailing: dict[str, list[tuple[ScoreDecision, CheckpointStanding]]] = {}
        for score in self._scores:
            for item in score.standings:
                is_open = item.difference and (score.margin is None or item.standing == "undecided")
                if is_open and item.checkpoint in rivals and item.checkpoint != chosen:
                    trailing.setdefault(item.checkpoint, []).append((score, item))
        by_score: dict[str, list[CheckpointStanding]] = {}
        for standings in trailing.values():
            told = [(score, item) for score, item in standings if score.address not in self._uninformative]
            if told:
                score, item = min(told, key=lambda pair: (pair[1].better != chosen, _p(pair[1])))
                by_score.setdefault(score.address, []).append(item)
        for score in self._scores:
            items = by_score.get(score.address, [])
            if items:
                yield score, sorted(items, key=lambda item: -abs(item.difference or 0.0))

    def _trailing(self, score: ScoreDecision, items: Sequence[CheckpointStanding]) -> Bilingual:
        """Return who trails in a score, and how many prompts would tell."""
        listed = items[: _most([item.checkpoint for item in items])]
        named, name, best = self._with_differences(score, items), self.compared(score), items[0].better
        needed = [item.prompts_needed for item in listed]
        price = NO_TEXT
        if all(needed):
            counts = [count(n) for n in needed if n]
            there = count(max(item.prompts or 0 for item in listed))
            price = Bilingual(
                f"（现有 {there} 题，约需 {'、'.join(counts)} 题才分得出）",
                f" ({there} prompts; about {and_text(counts)} would tell)",
            )
        is_one = len(items) == 1
        if score.margin is None:
            verb = Bilingual(f"落后于 {best}", f"{'trails' if is_one else 'trail'} {best}")
        else:
            limit = f"{score.margin:g}"
            verb = Bilingual(
                f"没有显示与 {best} 的差距在 {limit} 以内",
                f"{'is' if is_one else 'are'} not shown to be within {limit} of {best}",
            )
        return Bilingual(
            f"{zh_text([name]).lstrip()}上 {named.zh} {verb.zh}{price.zh}",
            f"in {name.en} {named.en} {verb.en}{price.en}",
        )

    def compared(self, score: ScoreDecision) -> Bilingual:
        """Return the name of a score, and what its differences are of if not of the means."""
        name = self._words[score.address]
        if not score.is_group:
            return name
        return Bilingual(f"{name.zh}（字数相等时）", f"{name.en} at equal length")

    def _with_differences(self, score: ScoreDecision, items: Sequence[CheckpointStanding]) -> Bilingual:
        decimals = self._decimals[score.address]
        names = [f"{item.checkpoint} ({minus(signed(item.difference, decimals))})" for item in items]
        return names_text(names, most=_most([item.checkpoint for item in items]))

    def _untested(self, score: ScoreDecision) -> Sentence:
        return Sentence(text=COLON.join([self._words[score.address], _UNTESTED]), is_note=True)


def names_text(names: Sequence[str], *, most: int | None = None) -> Bilingual:
    """Return names as a list; of many, the first and how many more there are."""
    kept = names[: _most(names) if most is None else most]
    rest = len(names) - len(kept)
    if rest > 0:
        more = Bilingual(f" 等 {len(names)} 个", f" and {rest} more")
        return NO_TEXT.join([LIST_COMMA.join(kept), more])
    return and_list(kept)


def and_list(names: Sequence[str | Bilingual]) -> Bilingual:
    """Return names as a list, in English with "and" before the last one."""
    *first, last = names or ("",)
    return Bilingual("、", " and ").join([LIST_COMMA.join(first), last]) if first else both(last)


def and_text(names: Sequence[str | Bilingual]) -> str:
    """Return names as an English list."""
    return and_list(names).en


def zh_text(words: Sequence[Bilingual]) -> str:
    """Return names for a Chinese sentence, with a space where one begins or ends in Latin letters."""
    text = "、".join(item.zh for item in words)
    return f"{' ' if text[:1].isascii() else ''}{text}{' ' if text[-1:].isascii() else ''}"


def _sentence(parts: Sequence[Bilingual]) -> Bilingual:
    return SENTENCE.format(SEMICOLON.join(parts))


def _most(names: Sequence[str]) -> int:
    """Return how many of these names a sentence can hold."""
    return max(2, min(MAX_NAMES, NAMES_LENGTH // max(map(len, names))))


def _p(item: CheckpointStanding) -> float:
    return 1.0 if item.p is None else item.p
