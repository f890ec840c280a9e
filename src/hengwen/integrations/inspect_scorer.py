"""``to_inspect``: a scorer or judge as a scorer of inspect_ai."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.integrations.outcomes import TextScorer, failure_text
from hengwen.records import Score

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.protocols import Judge, Scorer

_REASONS = {"refused": "refusal", "missing": "no_response"}
"""Reasons of inspect_ai that blame the model under test; all others blame the scorer."""


def to_inspect(scorer: Scorer | Judge, *, name: str | None = None) -> Callable[..., Any]:
    """Return a scorer or judge as a scorer of inspect_ai, with mean and standard error.

    A failure is an unscored ``Score`` with its reason, which inspect_ai leaves out of every metric. The
    metadata of a score has its signature.

    Args:
        scorer: A scorer, such as one of ``hengwen.objective``, or a judge.
        name: Name of the score; default: the first.

    Examples:
        >>> from inspect_ai import Task                                        # doctest: +SKIP
        >>> Task(dataset=samples, scorer=to_inspect(scorer))                   # doctest: +SKIP
    """
    from inspect_ai.scorer import Score as InspectScore
    from inspect_ai.scorer import mean, stderr
    from inspect_ai.scorer import scorer as as_scorer

    text_scorer = TextScorer(scorer, name)

    def factory() -> Any:
        async def score(state: Any, target: Any) -> Any:
            answer = state.output.completion
            row = {**state.metadata, "references": list(target)}
            outcome = await text_scorer.outcome_async(answer, state.input_text, row)
            metadata = {"signature": outcome.signature}
            if isinstance(outcome, Score):
                return InspectScore(
                    value=outcome.value, answer=answer, explanation=outcome.reason or None, metadata=metadata
                )
            unknown = "grader_failed" if text_scorer.is_judge else "scoring_failed"
            return InspectScore.unscored(
                reason=_REASONS.get(outcome.status, unknown),
                answer=answer,
                explanation=failure_text(outcome),
                metadata=metadata,
            )

        return score

    inspect_scorer: Callable[..., Any] = as_scorer(metrics=[mean(), stderr()], name=text_scorer.name)(
        factory
    )()
    return inspect_scorer
