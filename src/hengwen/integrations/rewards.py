"""``as_reward`` makes a scorer the reward function of a training framework; a failure is never silently 0."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from math import fsum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from hengwen.engine.evaluate import JudgeEvaluator, ScorerEvaluator
from hengwen.engine.job import Item
from hengwen.errors import ConfigError, DataError
from hengwen.protocols import Judge, Scorer
from hengwen.records import Message, Outcome, Response, Sample, Score

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

REFERENCES = ("references", "reference", "ground_truth", "solution", "answer", "target", "label")
"""Columns of a data set that are references of a sample."""
_OPEN = ExitStack()
"""Keeps the event loop of ``_portal`` open as long as the process."""


class TextScorer:
    """A score of a scorer or judge; ``name`` is its name, by default that of the plug-in's first score."""

    def __init__(self, plugin: Scorer | Judge, name: str | None = None) -> None:
        self.name = name or plugin.names[0]
        if self.name not in plugin.names:
            raise ConfigError(f"the scorer gives {', '.join(plugin.names)}, not {self.name!r}")
        self.signature = plugin.signature
        self.is_judge = isinstance(plugin, Judge)
        self._evaluator = JudgeEvaluator(plugin) if isinstance(plugin, Judge) else ScorerEvaluator(plugin)

    def outcome(
        self, answer: str, prompt: str | tuple[Message, ...] = "", row: Mapping[str, Any] | None = None
    ) -> Outcome:
        """Return the score of an answer, or why it has none; ``row`` has references and metadata."""
        item = _item(answer, prompt, row or {})
        if isinstance(self._evaluator, ScorerEvaluator):
            return self._named(self._evaluator.score(item))
        return self._named(_portal().call(self._evaluator.judge, item))

    async def outcome_async(
        self, answer: str, prompt: str | tuple[Message, ...] = "", row: Mapping[str, Any] | None = None
    ) -> Outcome:
        """Return the same in an event loop, which calls of a judge do not block."""
        if isinstance(self._evaluator, ScorerEvaluator):
            return self.outcome(answer, prompt, row)
        return self._named(await self._evaluator.judge(_item(answer, prompt, row or {})))

    def _named(self, outcomes: Sequence[Outcome]) -> Outcome:
        return next(outcome for outcome in outcomes if outcome.name == self.name)


def failure_text(outcome: Outcome) -> str:
    """Return why there is no score; empty if there is one."""
    return "" if isinstance(outcome, Score) else f"{outcome.status}: {outcome.message}"


@cache
def _portal() -> BlockingPortal:
    """Return an event loop in a thread of its own, to which a judge's connections belong."""
    from anyio.from_thread import start_blocking_portal

    atexit.register(_OPEN.close)
    return _OPEN.enter_context(start_blocking_portal())


def _item(answer: str, prompt: str | tuple[Message, ...], row: Mapping[str, Any]) -> Item:
    references = next((row[column] for column in REFERENCES if row.get(column)), ())
    texts = (references,) if isinstance(references, str) else tuple(map(str, references))
    sample = Sample(id="text", input=prompt, references=texts, metadata=dict(row))
    return Item(sample=sample, response=Response(sample_id=sample.id, text=answer), hash="")


Framework = Literal["trl", "swift", "verl", "openrlhf"]
OnFailure = Literal["none", "mean", "raise"]
_LOG = logging.getLogger(__name__)
SERVED: set[str] = set()
"""Signatures of the scorers that became rewards in this process; ``HengwenCallback`` marks their scores."""


class _Rules(NamedTuple):
    """What a framework does with an answer without a reward."""

    default: OnFailure
    refused: Mapping[OnFailure, str] = {}


_NOT_MASKED = "does not mask answers without a reward, they would count as 0 or break it"
_ALONE = "shows a reward function one answer at a time, so there is no mean; name a number"
_FRAMEWORKS: dict[Framework, _Rules] = {
    "trl": _Rules("none"),
    "swift": _Rules("mean", {"none": _NOT_MASKED}),
    "verl": _Rules("raise", {"none": _NOT_MASKED, "mean": _ALONE}),
    "openrlhf": _Rules("raise", {"none": _NOT_MASKED, "mean": _ALONE}),
}


def as_reward(
    scorer: Scorer | Judge,
    *,
    for_: Framework = "trl",
    on_failure: OnFailure | float | None = None,
    name: str | None = None,
) -> Callable[..., Any]:
    """Return a scorer or judge as the reward function of a framework.

    The reward is the first score, or that of ``name``; where lower is better, its negative.

    Args:
        scorer: A scorer, such as one of ``hengwen.objective``, or a judge.
        for_: ``trl`` gives a function for GRPO and RLOO, ``swift`` a class for ms-swift's ``orms``, ``verl``
            a ``compute_score``, ``openrlhf`` a ``reward_func``.
        on_failure: What an answer without a score gets. ``none``: no reward, which only TRL masks. ``mean``:
            the mean of the scored answers to the same prompt, so that it has no advantage; if none of them is
            scored, all get the mean of the batch. ``raise``: an error. A number: this reward. Default:
            ``none`` for trl, ``mean`` for swift, ``raise`` for verl and openrlhf, which show the function one
            answer at a time.
        name: Name of the score.

    Raises:
        ConfigError: The framework cannot do what ``on_failure`` asks for.

    Examples:
        >>> from hengwen.registry import build
        >>> reward = as_reward(build("scorers", "length", {"least": 2, "most": 4}))
        >>> reward(prompts=["?", "?"], completions=["abc", "abcdefgh"])
        [1.0, 0.0]
    """
    if for_ not in _FRAMEWORKS:
        raise ConfigError(f"no framework {for_!r}; known: {', '.join(_FRAMEWORKS)}")
    rules = _FRAMEWORKS[for_]
    policy = rules.default if on_failure is None else on_failure
    if isinstance(policy, str):
        if policy not in get_args(OnFailure):
            raise ConfigError(f"on_failure is {', '.join(get_args(OnFailure))} or a number, got {policy!r}")
        if policy in rules.refused:
            raise ConfigError(f"{for_} {rules.refused[policy]}")
    rewards = Rewards(TextScorer(scorer, name), policy)
    functions: dict[Framework, Callable[..., Any]] = {
        "trl": rewards.batch,
        "swift": _swift_class(rewards),
        "verl": rewards.verl,
        "openrlhf": rewards.openrlhf,
    }
    return functions[for_]


class Rewards:
    """The rewards of a score; ``policy`` says what stands for a failure."""

    def __init__(self, scorer: TextScorer, policy: OnFailure | float) -> None:
        SERVED.add(scorer.signature)
        self._scorer = scorer
        self._policy = policy

    def batch(
        self, completions: Sequence[Any], prompts: Sequence[Any] | None = None, **columns: Any
    ) -> list[float | None]:
        """Return the reward of each completion; TRL and ms-swift call it with the columns of the data set."""
        texts = [_text(prompt) for prompt in prompts] if prompts is not None else [""] * len(completions)
        per_row = {
            column: values
            for column, values in columns.items()
            if isinstance(values, (list, tuple)) and len(values) == len(completions)
        }
        values = [
            self._value(prompt, _text(completion), {column: per_row[column][index] for column in per_row})
            for index, (prompt, completion) in enumerate(zip(texts, completions, strict=True))
        ]
        self._count(values, columns.get("log_metric"))
        return self.replaced(values, texts)

    def verl(
        self, data_source: str, solution_str: str, ground_truth: Any = None, extra_info: Any = None, **_: Any
    ) -> dict[str, float]:
        """Return the reward of one answer, as verl asks for it; the keys are the same for every answer."""
        row = {"data_source": data_source, "ground_truth": ground_truth, "extra_info": extra_info}
        reward, failed = self._single("", solution_str, row)
        return {"score": reward, "failed": failed}

    def openrlhf(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
    ) -> dict[str, Any]:
        """Return the rewards of answers, as OpenRLHF asks for them; a query is prompt and answer."""
        pairs = [
            self._single(prompt, query.removeprefix(prompt), {"label": label})
            for query, prompt, label in zip(queries, prompts, labels, strict=True)
        ]
        rewards, failed = [reward for reward, _ in pairs], [failed for _, failed in pairs]
        return openrlhf_reply(rewards, failed)

    def replaced(self, values: Sequence[float | None], prompts: Sequence[str]) -> list[float | None]:
        """Return the rewards of answers: their scores, or what stands for a failure."""
        return [
            value if value is not None else self._of_failure(prompt, prompts, values)
            for value, prompt in zip(values, prompts, strict=True)
        ]

    def _single(self, prompt: str, answer: str, row: Mapping[str, Any]) -> tuple[float, float]:
        """Return the reward of an answer that is seen alone, and whether it failed."""
        value = self._value(prompt, answer, row)
        if value is not None:
            return value, 0.0
        self._count([value], None)
        assert not isinstance(self._policy, str)  # refused where answers are seen alone
        return float(self._policy), 1.0

    def _value(self, prompt: str, answer: str, row: Mapping[str, Any]) -> float | None:
        return self.value(self._scorer.outcome(answer, prompt, row))

    def value(self, outcome: Outcome) -> float | None:
        """Return the value of a score, higher for better; None for a failure, which may be an error."""
        if isinstance(outcome, Score):
            lower_is_better = outcome.scale is not None and not outcome.scale.higher_is_better
            return float(-outcome.value if lower_is_better else outcome.value)
        if self._policy == "raise":
            raise DataError(f"{self._scorer.name}: {failure_text(outcome)}")
        return None

    def _count(self, values: Sequence[float | None], log_metric: Callable[..., Any] | None) -> None:
        failed = sum(value is None for value in values)
        if log_metric is not None:
            log_metric(f"hengwen/{self._scorer.name}/failures", failed / len(values))
        elif failed:
            _LOG.warning(
                "hengwen: %s: %d of %d answers have no score", self._scorer.name, failed, len(values)
            )

    def _of_failure(
        self, prompt: str, prompts: Sequence[str], values: Sequence[float | None]
    ) -> float | None:
        if self._policy == "none":
            return None
        if not isinstance(self._policy, str):
            return float(self._policy)
        siblings = [
            value for value, own in zip(values, prompts, strict=True) if value is not None and own == prompt
        ]
        scored = siblings or [value for value in values if value is not None]
        if not scored:
            raise DataError(f"{self._scorer.name}: no answer of the batch has a score, so there is no mean")
        return fsum(scored) / len(scored)


def openrlhf_reply(rewards: Sequence[float | None], failed: Sequence[float]) -> dict[str, Any]:
    """Return rewards in the fields that OpenRLHF reads."""
    return {"rewards": rewards, "scores": rewards, "extra_logs": {"failed": failed}}


def _swift_class(rewards: Rewards) -> type:
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
