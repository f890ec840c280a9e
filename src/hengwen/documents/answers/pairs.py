"""What got worse, and what got better: the prompts on which a score changed most, with both answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isclose

from hengwen.documents.answers.all_answers import (
    INPUT_LIMIT,
    answer_key,
    lyric_faults,
    outcome_of,
    part_name,
    reason_of,
    shown_text,
    summary_text,
)
from hengwen.documents.answers.marks import mark_pair
from hengwen.documents.answers.sources import AnswerRecord, AnswerSource, SourceKey
from hengwen.documents.blocks import (
    AnswerOutcome,
    AnswerPair,
    AnswerPairs,
    AnswerSide,
    Block,
    Details,
    Sentence,
    Size,
    Text,
)
from hengwen.documents.cells import score_names
from hengwen.objective.lyrics.score_lyric import LyricScore, score_with_options
from hengwen.objective.lyrics.scorer import SectionPair, side_by_side
from hengwen.records import Score
from hengwen.results.answers_to_read import PromptChange, PromptValue, part_changes, prompt_changes
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.results.score_table import ScoreTable
from hengwen.score_id import LEVEL, ScoreId
from hengwen.text.language import COLON, MIDDLE_DOT, SPACE, Bilingual, say
from hengwen.text.numbers import count, minus, number, one_line, plural, signed

KEY_END = "/changes"
"""End of the key of the part on one score; before it stands the address of the score."""
MAX_TEXTS = 10
"""Number of prompts of which both answers are shown; on paper, all of them."""
MAX_LINES = 40
"""Number of further prompts of which only the values are shown."""
MAX_GAINS = 10
"""Number of prompts that are shown for what got better."""
REASON_LENGTH = 120
"""Maximum number of characters of a reason that stands for what a prompt lost its points on."""


@dataclass(frozen=True, slots=True)
class WorsePrompts:
    """Finds and shows the prompts on which scores got worse between two runs."""

    source: AnswerSource
    table: ScoreTable
    size: Size = "excerpts"
    command: str = ""
    """Shows what is left out."""
    has_rows: bool = True
    """Whether there is a table of all answers, or pages, to which the answers link."""
    address: Callable[[SourceKey], str] = lambda key: f"#{answer_key(key)}"

    def blocks(
        self,
        score: ScoreSummaries,
        runs: tuple[str, str],
        names: tuple[str, str],
        scores: Sequence[ScoreSummaries] = (),
        *,
        has_fallen: bool,
    ) -> Iterator[Block]:
        """Yield what a score lost and gained from one run to another, folded if it has not fallen."""
        changes = prompt_changes(self.table, runs, score.id, score.kind)
        if not changes:
            return
        worse = [item for item in changes if item.merit < 0]
        better = [item for item in reversed(changes) if item.merit > 0]
        pairs = _Pairs(self, score, runs, names, scores)
        key, decimals = score.address + KEY_END, score.decimals
        title = COLON.join([pairs.name, f"{names[0]} → {names[1]}"])
        content: list[Block] = [Sentence(text=summary_text(changes, pairs.lost(changes), decimals))]
        if worse:
            texts = 0 if self.size == "numbers" else MAX_TEXTS if has_fallen else 1
            content.append(pairs.block(f"{key}/prompts", "worse", worse, texts, has_fallen))
        if better:
            largest = minus(signed(better[0].change, decimals))
            heading = say(
                "What got better: {prompts}, up to {largest}",
                prompts=plural(len(better), "prompt"),
                largest=largest,
                better=count(len(better)),
            )
            gains = pairs.block(f"{key}/gains", "better", better, 0, False)
            content.append(Details(title=heading, blocks=(gains,), is_open=False))
        yield Details(title=title, blocks=tuple(content), is_open=has_fallen, key=key)

    def chosen(
        self,
        score: ScoreSummaries,
        runs: tuple[str, str],
        names: tuple[str, str],
        scores: Sequence[ScoreSummaries],
        changes: Sequence[PromptChange],
        tone: str,
    ) -> AnswerPairs:
        """Return prompts that the caller chose and sorted, all with both answers, the first one unfolded."""
        pairs = _Pairs(self, score, runs, names, scores)
        return pairs.block(score.address + KEY_END, tone, changes, len(changes), True)


@dataclass
class _Pairs:
    """The pairs of answers of one score and two runs."""

    prompts: WorsePrompts
    score: ScoreSummaries
    runs: tuple[str, str]
    names: tuple[str, str]
    scores: Sequence[ScoreSummaries]

    @property
    def name(self) -> Bilingual:
        """Name of the score in words."""
        return score_names([self.score.address])[self.score.address].words

    @cached_property
    def parts(self) -> Mapping[ScoreId, Mapping[str, float]]:
        """Changes by prompt of the parts of the score: phases of a lyric, criteria of a judge."""
        span = self.score.scale.high - self.score.scale.low if self.score.scale else 0.0
        parts = [
            (item.id, item.kind)
            for item in self.scores
            if item.id != self.score.id
            and (item.kind, item.id.source, item.id.role)
            == (self.score.kind, self.score.id.source, self.score.id.role)
            and not (item.id.is_derived or item.id.part == LEVEL or part_name(item.id) is None)
            and item.scale is not None
            and (item.scale.high - item.scale.low) <= (span or item.scale.high - item.scale.low)
        ]
        return part_changes(self.prompts.table, self.runs, parts)

    def lost(self, changes: Sequence[PromptChange]) -> list[tuple[Text, float]]:
        """Return the mean change of each part over the prompts, the largest loss first."""
        names = [item.sample_id for item in changes]
        means = [
            (part_name(part) or part.part, sum(by_prompt.get(name, 0.0) for name in names) / len(names))
            for part, by_prompt in self.parts.items()
        ]
        return sorted(means, key=lambda item: item[1])

    def block(
        self, key: str, tone: str, changes: Sequence[PromptChange], texts: int, is_open: bool
    ) -> AnswerPairs:
        sign = 1 if tone == "worse" else -1
        limit = MAX_TEXTS + MAX_LINES if tone == "worse" else MAX_GAINS
        largest = changes[:limit]
        records = self.prompts.source.load(
            [
                self.key(side, item.sample_id, value.typical)
                for item in largest
                for side, value in enumerate((item.before, item.after))
            ],
            explained=texts > 0,
        )
        values = [
            v
            for item in largest
            for side in (item.before, item.after)
            for v in (side.value, *side.answers.values())
        ]
        return AnswerPairs(
            key=key,
            score=self.name,
            tone="worse" if tone == "worse" else "better",
            before=self.names[0],
            after=self.names[1],
            pairs=tuple(
                self.pair(f"{key}/{i}", item, records, has_texts=i <= texts, sign=sign)
                for i, item in enumerate(largest, 1)
            ),
            limits=(min(values), max(values)),
            omitted=len(changes) - len(largest),
            command=self.prompts.command,
            is_open=is_open,
        )

    def key(self, side: int, sample_id: str, repeat: int) -> SourceKey:
        return SourceKey(self.runs[side], self.score.task, sample_id, repeat)

    def pair(
        self,
        key: str,
        item: PromptChange,
        records: Mapping[SourceKey, AnswerRecord],
        *,
        has_texts: bool,
        sign: int,
    ) -> AnswerPair:
        keys = [
            self.key(side, item.sample_id, value.typical)
            for side, value in enumerate((item.before, item.after))
        ]
        before, after = (records.get(answer) for answer in keys)
        prompt = next((record.input for record in (after, before) if record), "")
        has_texts = has_texts and before is not None and after is not None
        sides = [
            self.side(side, value, answer, record if has_texts else None)
            for side, (value, answer, record) in enumerate(
                zip((item.before, item.after), keys, (before, after), strict=True)
            )
        ]
        pair = AnswerPair(
            key=key,
            sample_id=item.sample_id,
            prompt=shown_text(prompt, INPUT_LIMIT),
            change=minus(signed(item.change, self.score.decimals)),
            values=(item.before.value, item.after.value),
            lost_on=self.lost_on(item, after, sign),
            before=sides[0],
            after=sides[1],
            has_texts=has_texts,
        )
        return with_texts(pair, before, after) if has_texts and before and after else pair

    def side(self, side: int, value: PromptValue, key: SourceKey, record: AnswerRecord | None) -> AnswerSide:
        repeats = sorted(value.answers)
        decimals = self.score.decimals
        return AnswerSide(
            checkpoint=self.names[side],
            value=number(value.value, decimals),
            answers=tuple(number(value.answers[repeat], decimals) for repeat in repeats),
            answer=repeats.index(value.typical),
            ticks=tuple(value.answers[repeat] for repeat in repeats),
            outcomes=tuple(self.outcomes(record)) if record else (),
            links=tuple(
                self.prompts.address(key._replace(repeat=repeat))
                for repeat in repeats
                if self.prompts.has_rows
            ),
        )

    def outcomes(self, record: AnswerRecord) -> Iterator[AnswerOutcome]:
        """Yield what judges and people said of an answer, its failures, and the reason of this score."""
        for score, outcome in record.outcomes.items():
            is_own = score.source == self.score.id.source
            if not isinstance(outcome, Score):
                is_said = outcome.status != "not_applicable"
            elif outcome.kind == "judge":
                is_said = is_own or score.part == LEVEL or score.is_derived
            else:
                is_said = outcome.kind == "human" or (
                    score == self.score.id and record.lyric is None and bool(outcome.reason)
                )
            if is_said:
                yield outcome_of(score, outcome)

    def lost_on(self, item: PromptChange, after: AnswerRecord | None, sign: int) -> Text:
        """Return on which parts the change rests, or else why the judge gave the later answer its level."""
        changes = [
            (part, by_prompt.get(item.sample_id, 0.0) * sign) for part, by_prompt in self.parts.items()
        ]
        smallest = 0.5 * 10.0**-self.score.decimals
        largest = sorted((pair for pair in changes if pair[1] < -smallest), key=lambda pair: pair[1])[:2]
        if largest:
            words = [
                SPACE.join([part_name(part) or part.part, minus(signed(change * sign, self.score.decimals))])
                for part, change in largest
            ]
            return MIDDLE_DOT.join(words)
        if after is None or self.prompts.size == "numbers":
            return ""
        outcome = after.outcomes.get(self.score.id)
        if not isinstance(outcome, Score):
            return ""
        return Bilingual(*(one_line(reason, REASON_LENGTH) for reason in reason_of(outcome)))


def with_texts(pair: AnswerPair, before: AnswerRecord, after: AnswerRecord) -> AnswerPair:
    """Return a pair with both answers: on the lines of their template if they are lyrics, else marked."""
    references = tuple(shown_text(text) for text in after.references)
    sections, sides = _sections(before, after), (pair.before, pair.after)
    if sections:
        first, last = (replace(side, faults=lyric_faults(sections, i)) for i, side in enumerate(sides))
    else:
        texts = mark_pair(shown_text(before.text), shown_text(after.text), references)
        first, last = (replace(side, text=text) for side, text in zip(sides, texts, strict=True))
    return replace(pair, before=first, after=last, sections=sections, references=references)


def _sections(before: AnswerRecord, after: AnswerRecord) -> tuple[SectionPair, ...]:
    """Return two lyrics line by line; nothing if they are not lyrics of one template."""
    if before.lyric is None or before.lyric != after.lyric:
        return ()
    scores = [_read(record) for record in (before, after)]
    return () if scores[0] is None or scores[1] is None else side_by_side(scores[0], scores[1])


def _read(record: AnswerRecord) -> LyricScore | None:
    """Read an answer as a lyric again; None if that does not give the stored total."""
    assert record.lyric is not None
    try:
        lyric = score_with_options(record.text, record.lyric.template, record.lyric.options)
    except (TypeError, ValueError):
        return None
    totals = [item for score, item in record.outcomes.items() if score.name == "lyric.total"]
    same = [isinstance(item, Score) and isclose(item.value, lyric.total) for item in totals]
    return lyric if same and all(same) else None
