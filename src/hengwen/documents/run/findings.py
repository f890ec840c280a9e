"""Write a finding (one line) for each main score, from paired tests on the prompts that checkpoints share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from hengwen.documents.blocks import Link, Tone
from hengwen.documents.cells import reason_text
from hengwen.documents.missing import least_text, mend_text, missing_text
from hengwen.results.aggregate import Summary
from hengwen.results.comparisons import Comparison, family_size
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.score_series import ScoreSeries
from hengwen.results.score_summaries import ScoreSummaries, scoring_conflict
from hengwen.score_id import IMPORTED_TAG
from hengwen.stats.step_down import MIN_UNITS
from hengwen.text.language import COLON, NOTED, SEMICOLON, Bilingual, say
from hengwen.text.numbers import interval, number, p_text, percent

SATURATED_SHARE = 0.8
"""If at least this share of the values (one per prompt and checkpoint) are equal, and no change is
significant, the finding says that the score hardly distinguishes checkpoints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One statement about a score, and what to do next."""

    address: str
    """Address of the score, as ``TASK/SCORE``."""
    text: Bilingual
    tone: Tone = "plain"
    short: Bilingual | None = None
    """In a few words, why the score can hardly tell checkpoints apart; None if it can."""
    is_alarm: bool = False
    """Whether a change for the worse is significant, or nothing can be compared."""
    link: Link | None = None
    """Part of the text that leads to the answers it speaks of."""

    def with_prefix(self, note: Bilingual | None) -> Finding:
        """Return the finding with a note about the judge before it."""
        if note is None:
            return self
        short = self.short and NOTED.format(self.short, note)
        return replace(self, text=COLON.join([note, self.text]), short=short)

    def with_suffix(self, note: Bilingual | None) -> Finding:
        """Return the finding with a note about the judge after it."""
        return self if note is None else replace(self, text=SEMICOLON.join([self.text, note]))


class ScoreContext(NamedTuple):
    """One score over the checkpoints, with all data from which the finding about the score is written."""

    score: ScoreSummaries
    checkpoints: Sequence[str]
    series: ScoreSeries | None
    """Value of each prompt at each checkpoint; None if the score has no values of single prompts."""
    comparisons: Sequence[Comparison]
    """Paired tests of this score, corrected for all tests of the report."""
    order_problem: str = ""
    """Reason why the order of the checkpoints is not known; empty if it is known."""

    @property
    def address(self) -> str:
        """Address of the score."""
        return self.score.address

    @property
    def decimals(self) -> int:
        """Number of decimals of the means."""
        return self.score.decimals

    @property
    def is_imported(self) -> bool:
        """Whether another tool gave the score of any checkpoint."""
        summaries = (summary for summary in self.score.summaries if summary is not None)
        return any(IMPORTED_TAG in signature for summary in summaries for signature in summary.signatures)

    @property
    def is_tested(self) -> bool:
        """Whether any pair of checkpoints has enough independent prompts for a test."""
        return family_size(self.comparisons) > 0

    def value(self, index: int) -> str:
        """Format the mean of a checkpoint with its interval."""
        summary = self.score.summaries[index]
        mean = number(summary.mean if summary else None, self.decimals)
        bounds = summary.interval if summary else None
        return f"{mean} {interval(bounds, self.decimals)}" if bounds else mean

    def named_value(self, index: int) -> str:
        """Format a checkpoint's name with its mean and interval."""
        return f"{self.checkpoints[index]} {self.value(index)}"

    def finding(
        self, text: Bilingual, tone: Tone = "open", *, alarm: bool = False, short: Bilingual | None = None
    ) -> Finding:
        """Return a finding about this score."""
        return Finding(address=self.address, text=text, tone=tone, is_alarm=alarm, short=short)


def finding_of(score: ScoreContext) -> Finding | None:
    """Return the finding about a score; None if there is only what the decision says."""
    means = {
        index: summary.mean
        for index, summary in enumerate(score.score.summaries)
        if summary is not None and summary.mean is not None
    }
    if not means:
        return _not_applicable(score) or score.finding(
            say("no answer has a score; see the failures below"), alarm=True
        )
    if len(means) == 1:
        value = score.named_value(*means)
        return score.finding(
            say("{value}; to compare it, score a second checkpoint", value=value),
            "plain",
        )
    problem = _conflict(score) or _order_problem(score) or _coverage_problem(score)
    if problem is not None:
        return problem
    if score.series is None:
        return _untestable(score, means)
    if not score.is_tested:
        return _too_few(score, score.series)
    return _tested(score, score.series)


def _not_applicable(score: ScoreContext) -> Finding | None:
    """Return a finding with the reason if a score applies to no answer, otherwise None."""
    present = [summary for summary in score.score.summaries if summary is not None]
    reasons = [
        summary.first_messages.get("not_applicable", "") for summary in present if not summary.failures
    ]
    if not reasons or len(reasons) < len(present) or not all(reasons):
        return None
    not_applicable = say("not applicable")
    return score.finding(COLON.join([not_applicable, reason_text(reasons[0])]), "plain")


def _conflict(score: ScoreContext) -> Finding | None:
    conflict = scoring_conflict(score.checkpoints, score.score.summaries)
    if not conflict:
        return None
    next_zh, next_en = (
        ("请为所有检查点导入同一设置的分数", "import scores of the same settings for all checkpoints")
        if score.is_imported
        else ("请用同一设置重新运行", "run all checkpoints with the same settings")
    )
    return score.finding(
        Bilingual(f"各检查点的评分设置不同，不作比较；{next_zh}", f"not compared: {conflict}; {next_en}"),
        alarm=True,
    )


def _order_problem(score: ScoreContext) -> Finding | None:
    if not score.order_problem:
        return None
    return score.finding(
        say("not compared: {order_problem}; give each checkpoint a step", order_problem=score.order_problem),
    )


def _coverage_problem(score: ScoreContext) -> Finding | None:
    if score.series is None or score.is_tested:
        return None
    low = _low_coverage(score)
    if not low:
        return None
    failures = sum((Counter(summary.failures) for summary, _ in low), Counter[str]())
    is_recorded = any(summary.comparability.parts.get("endpoint") == "replay" for summary, _ in low)
    mend = mend_text(failures, is_recorded=is_recorded, is_imported=score.is_imported)
    texts = [*(text for _, text in low), least_text(), mend]
    not_compared = say("not compared")
    return score.finding(COLON.join([not_compared, SEMICOLON.join(texts)]), alarm=True)


def left_out(score: ScoreContext) -> Finding | None:
    """Return which checkpoints of a tested score are not compared, because they lack answers."""
    low = _low_coverage(score) if score.is_tested else []
    if not low:
        return None
    return score.finding(SEMICOLON.join([*(text for _, text in low), least_text()]), alarm=True)


def _low_coverage(score: ScoreContext) -> list[tuple[Summary, Bilingual]]:
    """Return the checkpoints that lack too many answers, also of those that other checkpoints have."""
    shares = score.series.coverages if score.series else ()
    low = []
    for name, summary, share in zip(score.checkpoints, score.score.summaries, shares, strict=True):
        if summary is not None and (not summary.is_covered or share < MIN_COVERAGE):
            prompts, answers = summary.prompt_coverage or 0.0, min(summary.coverage or 0.0, share)
            low.append((summary, missing_text(name, prompts, answers, summary.bounds, score.decimals)))
    return low


def _untestable(score: ScoreContext, means: Mapping[int, float]) -> Finding:
    low, high = (
        f"{score.checkpoints[index]} {number(means[index], score.decimals)}"
        for index in (min(means, key=means.__getitem__), max(means, key=means.__getitem__))
    )
    next_zh, next_en = (
        (
            "可改测相近的分数：在计划中为其评分器设 scope: repeats（每题一个值）",
            "a related score can be tested: give its scorer scope: repeats in the plan (a value a prompt)",
        )
        if score.score.id.part == "checkpoint"
        else ("可再加一个为每条回答打分的评分器", "add a score that gives each answer a value")
    )
    return score.finding(
        Bilingual(
            f"每个检查点只有一个数值（最低 {low}，最高 {high}），没有逐题的值，无法检验；{next_zh}",
            f"one value for each checkpoint (lowest {low}, highest {high}) and none for each prompt, so it is"
            f" not tested; {next_en}",
        ),
    )


def _too_few(score: ScoreContext, series: ScoreSeries) -> Finding:
    prompts = int(series.is_scored.sum(axis=0).max())
    return score.finding(
        say(
            "too few common prompts ({prompts}) to test: at least {min_units} independent ones are needed",
            prompts=prompts,
            min_units=MIN_UNITS,
        ),
    )


def _tested(score: ScoreContext, series: ScoreSeries) -> Finding | None:
    if any(item.verdict in ("better", "worse", "mean undecided") for item in score.comparisons):
        return None  # the decision says it
    smallest = p_text(min(item.p_adjusted for item in score.comparisons))
    common, share = _most_common_value(series)
    if share >= SATURATED_SHARE:
        value, percentage = number(common, score.decimals), percent(share)
        next_zh, next_en = (
            (
                "请用语言模型评审：hengwen run 计划 --judge 提供方/模型",
                "judge with a model: hengwen run PLAN --judge PROVIDER/MODEL",
            )
            if all(summary.judged_by_rules for summary in score.score.summaries if summary is not None)
            else ("请换用更细的评分或评审", "use a finer score or judge")
        )
        return score.finding(
            Bilingual(
                f"{percentage} 的得分（每题每检查点一个）同为 {value}（最小 {smallest}），"
                f"此分数难以区分这些检查点；{next_zh}",
                f"{percentage} of the values (one for each prompt and checkpoint) are {value} (smallest "
                f"{smallest}), so this score can hardly tell these checkpoints apart; {next_en}",
            ),
            short=say(
                "can hardly tell these checkpoints apart, {percentage} of its values (one a prompt) are "
                "{value}",
                percentage=percentage,
                value=value,
            ),
        )
    if all(item.verdict == "too few" for item in score.comparisons):
        prompts = max(item.prompts for item in score.comparisons)
        return score.finding(
            say(
                "too few prompts ({prompts} in common, and fewer whose scores differ): no difference could "
                "have been seen, even if all that changed had changed in one direction",
                prompts=prompts,
            ),
        )
    known = [item.detectable for item in score.comparisons if item.detectable is not None]
    if not known:
        return score.finding(
            say(
                "no difference seen (smallest {smallest}); the differences are equal on all prompts, so the "
                "smallest detectable difference is unknown; check that the checkpoints do not share their "
                "answers",
                smallest=smallest,
            ),
            "none",
        )
    limit, half = number(max(known), score.decimals), number(max(known) / 2, score.decimals)
    prompts = 4 * max(item.prompts for item in score.comparisons)
    return score.finding(
        say(
            "no difference seen (smallest {smallest}); smallest detectable difference at most {limit}; "
            "to see half of it ({half}), use about {prompts} prompts",
            smallest=smallest,
            limit=limit,
            half=half,
            prompts=prompts,
        ),
        "none",
    )


def _most_common_value(series: ScoreSeries) -> tuple[float, float]:
    """Return the most common of all values (one per prompt and checkpoint), and its share of the values."""
    values = Counter(series.values.T[series.is_scored.T].tolist())
    ((common, count),) = values.most_common(1)
    return common, count / values.total()
