"""``as_reward`` makes a scorer the reward function of a training framework; a failure is never silently 0."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any, Literal, get_args

from hengwen._internal.plugin_errors import describe_error
from hengwen.errors import ConfigError, DataError
from hengwen.records import Response, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hengwen.protocols import Scorer

Framework = Literal["trl", "swift", "verl"]
OnFailure = Literal["none", "mean", "raise"]
REFERENCES = ("references", "reference", "ground_truth", "solution", "answer")
"""Columns of a training set that are references of a sample."""


def as_reward(
    scorer: Scorer,
    *,
    for_: Framework = "trl",
    on_failure: OnFailure | float | None = None,
    name: str | None = None,
) -> Callable[..., Any]:
    """Return a scorer as the reward function of a framework.

    The reward is the scorer's first score, or that of ``name``; where lower is better, its negative.

    Args:
        scorer: A scorer, such as one of ``hengwen.objective``.
        for_: ``trl`` gives a function for GRPO and RLOO, ``swift`` a class for ms-swift's ``orms``, ``verl``
            a ``compute_score``.
        on_failure: What an answer without a score gets. ``none``: no reward, which only TRL masks. ``mean``:
            the mean of the scored answers to the same prompt, so that it has no advantage. ``raise``: an
            error. A number: this reward. Default: ``none`` for trl, ``mean`` for swift, ``raise`` for verl,
            which shows the function one answer at a time.
        name: Name of the score.

    Raises:
        ConfigError: The framework cannot do what ``on_failure`` asks for.

    Examples:
        >>> from hengwen.registry import build
        >>> reward = as_reward(build("scorers", "length", {"least": 2, "most": 4}))
        >>> reward(prompts=["?", "?"], completions=["abc", "abcdefgh"])
        [1.0, 0.0]
    """
    if for_ not in get_args(Framework):
        raise ConfigError(f"no framework {for_!r}; known: {', '.join(get_args(Framework))}")
    default: dict[str, OnFailure] = {"trl": "none", "swift": "mean", "verl": "raise"}
    policy = default[for_] if on_failure is None else on_failure
    if isinstance(policy, str) and policy not in get_args(OnFailure):
        raise ConfigError(f"on_failure is {', '.join(get_args(OnFailure))} or a number, got {policy!r}")
    if policy == "none" and for_ != "trl":
        raise ConfigError(f"{for_} does not mask answers without a reward, they would count as 0 or break it")
    if policy == "mean" and for_ == "verl":
        raise ConfigError(
            "verl shows a reward function one answer at a time, so there is no mean; name a number"
        )
    rewards = _Rewards(scorer, policy, name or scorer.names[0])
    functions: dict[Framework, Callable[..., Any]] = {
        "trl": rewards.batch,
        "swift": _swift_class(rewards),
        "verl": rewards.single,
    }
    return functions[for_]


class _Rewards:
    """The rewards of a scorer."""

    def __init__(self, scorer: Scorer, policy: OnFailure | float, name: str) -> None:
        if name not in scorer.names:
            raise ConfigError(f"the scorer gives {', '.join(scorer.names)}, not {name!r}")
        self._scorer = scorer
        self._policy = policy
        self._name = name

    def batch(
        self, completions: Sequence[Any], prompts: Sequence[Any] | None = None, **columns: Any
    ) -> list[float | None]:
        """Return the reward of each completion; TRL and ms-swift call it with the columns of the data set."""
        known = [_text(prompt) for prompt in prompts] if prompts is not None else [""] * len(completions)
        per_row = {
            column: values
            for column, values in columns.items()
            if isinstance(values, (list, tuple)) and len(values) == len(completions)
        }
        values = [
            self._value(prompt, _text(completion), {column: per_row[column][index] for column in per_row})
            for index, (prompt, completion) in enumerate(zip(known, completions, strict=True))
        ]
        log_metric = columns.get("log_metric")
        if log_metric is not None:
            log_metric(f"hengwen/{self._name}/failures", sum(value is None for value in values) / len(values))
        return [
            self._replaced(value, prompt, known, values) for value, prompt in zip(values, known, strict=True)
        ]

    def single(
        self, data_source: str, solution_str: str, ground_truth: Any = None, extra_info: Any = None, **_: Any
    ) -> dict[str, float]:
        """Return the reward of one answer, as verl asks for it; the keys are the same for every answer."""
        row = {"data_source": data_source, "ground_truth": ground_truth, "extra_info": extra_info}
        value = self._value("", solution_str, row)
        reward = self._replaced(value, "", [], [])
        assert reward is not None  # verl may not get None
        return {"score": reward, "failed": float(value is None)}

    def _value(self, prompt: str, text: str, row: Mapping[str, Any]) -> float | None:
        """Return the score of an answer, higher for better; None if it has none."""
        references = next((row[column] for column in REFERENCES if row.get(column)), ())
        sample = Sample(
            id="reward",
            input=prompt,
            references=(references,) if isinstance(references, str) else tuple(map(str, references)),
            metadata=dict(row),
        )
        try:
            outcomes = self._scorer.score(sample, Response(sample_id="reward", text=text))
        except Exception as error:
            if self._policy == "raise":
                raise DataError(f"{self._name}: {describe_error(error)[1]}") from error
            return None
        outcome = next(outcome for outcome in outcomes if outcome.name == self._name)
        if isinstance(outcome, Score):
            lower_is_better = outcome.scale is not None and not outcome.scale.higher_is_better
            return float(-outcome.value if lower_is_better else outcome.value)
        if self._policy == "raise":
            raise DataError(f"{self._name}: {outcome.status}: {outcome.message}")
        return None

    def _replaced(
        self, value: float | None, prompt: str, prompts: Sequence[str], values: Sequence[float | None]
    ) -> float | None:
        """Return the reward of an answer: its score, or what stands for a failure."""
        if value is not None or self._policy == "none":
            return value
        if not isinstance(self._policy, str):
            return float(self._policy)
        siblings = [
            other for other, own in zip(values, prompts, strict=True) if other is not None and own == prompt
        ]
        scored = siblings or [other for other in values if other is not None]
        if not scored:
            raise DataError(f"{self._name}: no answer of the batch has a score, so there is no mean")
        return fsum(scored) / len(scored)


def _swift_class(rewards: _Rewards) -> type:
    class HengwenORM:
        """A reward of ms-swift: ``orms["hengwen"] = as_reward(scorer, for_="swift")``."""

        def __init__(self, args: object = None, **_: object) -> None:
            self.args = args

        def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
            messages = columns.get("messages")
            prompts = None if messages is None else [_conversation(item) for item in messages]
            return rewards.batch(completions, prompts, **columns)

    return HengwenORM


def _text(completion: Any) -> str:
    """Return the text of a prompt or completion: a text, or the content of the last message."""
    if isinstance(completion, str):
        return completion
    contents = [str(message.get("content") or "") for message in completion]
    answers = [
        content
        for content, message in zip(contents, completion, strict=True)
        if message.get("role") == "assistant"
    ]
    return (answers or contents or [""])[-1]


def _conversation(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the messages before the answer as one text, by which answers to one prompt are recognized."""
    before = messages[:-1] if messages and messages[-1].get("role") == "assistant" else messages
    return "\n".join(str(message.get("content") or "") for message in before)
