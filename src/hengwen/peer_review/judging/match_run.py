"""Judge matches concurrently, and collect the verdicts as battles."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.importers.verdicts import OUTCOMES
from hengwen.judges.rubric.judge import RubricJudge
from hengwen.judges.trust.biases import length_of
from hengwen.peer_review.battle_files import BattleColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hengwen.judges.pairwise import PairJudge, PairOpinion
    from hengwen.peer_review.judging.stored_answers import Contest

ModelPair = tuple[int, int]
"""Positions of two models that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """A judge of one task."""

    name: str
    """Name of the model under test if the judge is exactly one such model; otherwise the name of the judge's
    backend."""
    models: frozenset[str]
    """Models under test that are the same model as the judge; by default, it does not judge their answers."""
    judge: PairJudge
    rubric: str = ""
    """Rubric as the plan names it."""

    @property
    def admission_signature(self) -> str:
        """Signature of the judge that ``hengwen doctor`` tests with this model and rubric."""
        judge = self.judge
        return RubricJudge(rubric=judge.rubric, backend=judge.backend, language=judge.language).signature


class MatchRun:
    """Verdicts on matches, which are judged in several rounds."""

    def __init__(
        self,
        contest: Contest,
        reviewers: Mapping[str, Sequence[Reviewer]],
        *,
        exclude_self: bool,
        concurrency: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._contest, self._reviewers = contest, reviewers
        self._exclude_self, self._concurrency = exclude_self, concurrency
        self._progress = progress
        self.columns = BattleColumns()
        self.failures: Counter[str] = Counter()
        self.models: dict[tuple[str, str], set[str]] = {}
        """Names of the models as their servers returned them, by task and judge."""
        self.first_message = ""
        self.skipped = 0
        """Number of verdicts that were not asked for because of the budget."""
        self._judged = self._planned = 0

    async def judge(self, cells: Sequence[tuple[int, ModelPair]]) -> None:
        """Judge matches by all judges of their tasks."""
        matches = list(self._matches(cells))
        self._planned += len(matches)
        opinions: list[tuple[PairOpinion, PairOpinion] | None] = [None] * len(matches)
        pending = (index for index in range(len(matches)))

        async def work() -> None:
            for index in pending:
                number, pair, reviewer = matches[index]
                question = self._contest.questions[number]
                a, b = (question.answers[model] for model in pair)
                try:
                    opinions[index] = await reviewer.judge.compare(question.sample, a, b)
                except BaseException:
                    pending.close()  # no worker starts another match
                    raise
                self._judged += 1
                if self._progress is not None:
                    self._progress(self._judged, self._planned)

        # if one worker fails, wait for the calls that the others have sent, because they are paid for
        workers = [work() for _ in range(min(self._concurrency, len(matches)))]
        errors = [error for error in await asyncio.gather(*workers, return_exceptions=True) if error]
        for error in sorted(errors, key=lambda error: isinstance(error, asyncio.CancelledError)):
            raise error
        for match, pair_opinions in zip(matches, opinions, strict=True):
            if pair_opinions is not None:
                self._add(match, pair_opinions)

    def _matches(self, cells: Sequence[tuple[int, ModelPair]]) -> Iterator[tuple[int, ModelPair, Reviewer]]:
        for number, pair in cells:
            question = self._contest.questions[number]
            names = {self._contest.models[model] for model in pair}
            for reviewer in self._reviewers[question.task.spec.name]:
                if not (self._exclude_self and reviewer.models & names):
                    yield number, pair, reviewer

    def _add(self, match: tuple[int, ModelPair, Reviewer], opinions: tuple[PairOpinion, PairOpinion]) -> None:
        number, pair, reviewer = match
        question, columns = self._contest.questions[number], self.columns
        models = (self._contest.models[pair[0]], self._contest.models[pair[1]])
        texts = [question.answers[model].text for model in pair]
        lengths = (float(length_of(texts[0])), float(length_of(texts[1])))
        item = (question.name, question.repeat)
        columns.texts[item] = question.sample.text
        for model, text in zip(models, texts, strict=True):
            columns.answers[*item, model] = text
        models_of_judge = self.models.setdefault((question.task.spec.name, reviewer.name), set())
        for opinion in opinions:
            if opinion.model:
                models_of_judge.add(opinion.model)
            if opinion.status == "budget":
                self.skipped += 1
                continue
            if opinion.winner is None:
                columns.failures += 1
                self.failures[opinion.status] += 1
                self.first_message = self.first_message or opinion.reason
                continue
            first = 1 if opinion.first == "a" else -1
            columns.add(*item, reviewer.name, models, OUTCOMES[opinion.winner], first, lengths)
