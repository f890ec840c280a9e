"""Scorers and judges as scorers of lm-eval, EvalScope, OpenCompass, inspect_ai and MLflow.

Each function takes a scorer or judge, and the name of the score; default: the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Any

from hengwen.integrations.rewards import TextScorer, failure_text
from hengwen.protocols import Judge, Scorer
from hengwen.records import Score


def to_lm_eval(
    scorer: Scorer | Judge, *, name: str | None = None, prompt: str = "prompt"
) -> Callable[[Mapping[str, Any], Sequence[str]], dict[str, float]]:
    """Return a function ``process_results`` of lm-eval.

    A failure is left out of the mean of the score; ``SCORE_failed`` has the share of failures.

    Args:
        scorer: A scorer, such as one of ``hengwen.objective``, or a judge.
        name: Name of the score; default: the first.
        prompt: Column of the prompt.

    Examples:
        >>> from hengwen.registry import build
        >>> process_results = to_lm_eval(build("scorers", "length", {"least": 2, "most": 4}))
        >>> process_results({"prompt": "?"}, ["abc"])
        {'length.within': 1.0, 'length.within_failed': 0.0}
    """
    text_scorer = TextScorer(scorer, name)

    def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
        outcome = text_scorer.outcome(results[0], str(doc.get(prompt, "")), doc)
        value = {text_scorer.name: float(outcome.value)} if isinstance(outcome, Score) else {}
        return {**value, f"{text_scorer.name}_failed": float(not value)}

    return process_results


def to_evalscope(scorer: Scorer | Judge, *, name: str | None = None) -> type:
    """Return a class ``Metric`` of EvalScope, for ``register_metric(NAME)``.

    A failure raises ``MetricUnavailableError``, by which EvalScope leaves the answer out of means.

    Examples:
        >>> from evalscope.api.registry import register_metric                 # doctest: +SKIP
        >>> register_metric("lyric")(to_evalscope(scorer))                     # doctest: +SKIP
    """
    from evalscope.api.metric import Metric, MetricUnavailableError

    text_scorer = TextScorer(scorer, name)

    class HengwenMetric(Metric):  # type: ignore[misc, no-any-unimported, unused-ignore]
        """A score of Hengwen."""

        def apply(self, predictions: list[str], references: list[Any]) -> list[float]:
            values = []
            for answer, reference in zip(predictions, references, strict=True):
                outcome = text_scorer.outcome(answer, "", {"references": reference})
                if not isinstance(outcome, Score):
                    raise MetricUnavailableError(failure_text(outcome))
                values.append(float(outcome.value))
            return values

    return HengwenMetric


def to_opencompass(scorer: Scorer | Judge, *, name: str | None = None) -> type:
    """Return an evaluator of OpenCompass, for ``ICL_EVALUATORS.register_module()``.

    Its result has the mean of the scored answers, their share as ``coverage``, and ``details``.

    Examples:
        >>> from opencompass.registry import ICL_EVALUATORS                    # doctest: +SKIP
        >>> ICL_EVALUATORS.register_module("lyric", module=to_opencompass(scorer))  # doctest: +SKIP
    """
    from opencompass.openicl.icl_evaluator import BaseEvaluator

    text_scorer = TextScorer(scorer, name)

    class HengwenEvaluator(BaseEvaluator):  # type: ignore[misc, no-any-unimported, unused-ignore]
        """A score of Hengwen."""

        def score(self, predictions: Sequence[str], references: Sequence[Any]) -> dict[str, Any]:
            outcomes = [
                text_scorer.outcome(answer, "", {"references": reference})
                for answer, reference in zip(predictions, references, strict=True)
            ]
            values = [float(outcome.value) for outcome in outcomes if isinstance(outcome, Score)]
            mean = {text_scorer.name: fsum(values) / len(values)} if values else {}
            return {
                **mean,
                "coverage": len(values) / len(outcomes) if outcomes else 0.0,
                "signature": text_scorer.signature,
                "details": [
                    {
                        "score": outcome.value if isinstance(outcome, Score) else None,
                        "error": failure_text(outcome),
                    }
                    for outcome in outcomes
                ],
            }

    return HengwenEvaluator


_REASONS = {"refused": "refusal", "missing": "no_response"}
"""Reasons of inspect_ai that blame the model under test; all others blame the scorer."""


def to_inspect(scorer: Scorer | Judge, *, name: str | None = None) -> Callable[..., Any]:
    """Return a scorer or judge as a scorer of inspect_ai, with mean and standard error.

    A failure is an unscored ``Score`` with its reason, which inspect_ai leaves out of every metric. The
    metadata of a score has its signature.

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
            about: dict[str, Any] = {"answer": answer, "metadata": {"signature": outcome.signature}}
            if isinstance(outcome, Score):
                return InspectScore(value=outcome.value, explanation=outcome.reason or None, **about)
            unknown = "grader_failed" if text_scorer.is_judge else "scoring_failed"
            reason = _REASONS.get(outcome.status, unknown)
            return InspectScore.unscored(reason=reason, explanation=failure_text(outcome), **about)

        return score

    inspect_scorer: Callable[..., Any] = as_scorer(metrics=[mean(), stderr()], name=text_scorer.name)(
        factory
    )()
    return inspect_scorer


def to_mlflow(
    scorer: Scorer | Judge, *, name: str | None = None, prompt: str = "prompt"
) -> Callable[..., Any]:
    """Return a function that gives MLflow a ``Feedback``: a value with its rationale, or an error.

    MLflow's means leave failures out and do not count them; the log of a run does.

    Args:
        scorer: A scorer, such as one of ``hengwen.objective``, or a judge.
        name: Name of the score; default: the first.
        prompt: Key of the prompt in ``inputs``.

    Examples:
        >>> from mlflow.genai import evaluate, scorer as as_scorer             # doctest: +SKIP
        >>> evaluate(data=rows, scorers=[as_scorer(to_mlflow(judge))])         # doctest: +SKIP
    """
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback

    text_scorer = TextScorer(scorer, name)
    source = AssessmentSource(
        source_type="LLM_JUDGE" if text_scorer.is_judge else "CODE", source_id=text_scorer.name
    )

    def feedback(
        inputs: Mapping[str, Any] | None = None,
        outputs: Any = None,
        expectations: Mapping[str, Any] | None = None,
    ) -> Any:
        row = {**(inputs or {}), **(expectations or {})}
        outcome = text_scorer.outcome(str(outputs), str(row.get(prompt, "")), row)
        metadata = {"signature": outcome.signature}
        about: dict[str, Any] = {"name": text_scorer.name, "source": source, "metadata": metadata}
        if isinstance(outcome, Score):
            return Feedback(value=outcome.value, rationale=outcome.reason or None, **about)
        error = AssessmentError(error_code=outcome.status, error_message=outcome.message)
        return Feedback(error=error, **about)

    feedback.__name__ = text_scorer.name.replace(".", "_")
    return feedback
