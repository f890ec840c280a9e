"""``to_mlflow``: a scorer or judge as a scorer of ``mlflow.genai.evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.integrations.outcomes import TextScorer
from hengwen.records import Score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hengwen.protocols import Judge, Scorer


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
        if isinstance(outcome, Score):
            return Feedback(
                name=text_scorer.name,
                value=outcome.value,
                rationale=outcome.reason or None,
                source=source,
                metadata=metadata,
            )
        error = AssessmentError(error_code=outcome.status, error_message=outcome.message)
        return Feedback(name=text_scorer.name, error=error, source=source, metadata=metadata)

    feedback.__name__ = text_scorer.name.replace(".", "_")
    return feedback
