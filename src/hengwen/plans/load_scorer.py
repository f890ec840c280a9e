"""Build the scorers of a plan, also from functions, and give their scores the names that the plan sets."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from hengwen import registry
from hengwen._internal.plugins import is_location, load_class, source_digest, source_path
from hengwen.errors import ConfigError
from hengwen.protocols import (
    NO_CONTEXT,
    DatasetConfigurable,
    EvaluationContext,
    GroupScorer,
    SampleValidator,
    Scorer,
    parts_read,
)
from hengwen.records import Failure, Outcome, Response, Sample, Scale, Score
from hengwen.score_id import renamed

PASS_OR_FAIL = Scale(low=0, high=1, discrete=True)


@dataclass(frozen=True, slots=True)
class FunctionScorer:
    """Scorer with one score, which has the name of the function."""

    function: Callable[..., float | None]
    options: Mapping[str, Any]
    """Keyword arguments of the function."""

    def __post_init__(self) -> None:
        try:
            inspect.signature(self.function).bind(None, None, **self.options)
        except TypeError as error:
            raise ConfigError(f"scorer {self.names[0]!r}: {registry.option_problem(error)}") from None

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the function."""
        return (self.function.__name__,)

    @property
    def signature(self) -> str:
        """Name and options of the function; a plan adds the digest of its file."""
        options = [
            f"{name}:{json.dumps(value, ensure_ascii=False, sort_keys=True)}"
            for name, value in sorted(self.options.items())
        ]
        return "|".join([*self.names, *options])

    def score(self, sample: Sample, response: Response) -> list[Outcome]:
        """Return the score; True and False are pass and fail, None means that the score does not apply."""
        value = self.function(sample, response, **self.options)
        if value is None:
            message = f"{self.names[0]} returned None"
            return [
                Failure(
                    name=self.names[0], status="not_applicable", message=message, signature=self.signature
                )
            ]
        scale = PASS_OR_FAIL if isinstance(value, bool) else None
        return [Score(name=self.names[0], value=float(value), signature=self.signature, scale=scale)]


def is_scoring_function(plugin: Any) -> bool:
    """Return whether a plug-in is a function of a sample and a response, not a class or a factory."""
    if not inspect.isfunction(plugin):
        return False
    required = [
        parameter
        for parameter in inspect.signature(plugin).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return len(required) >= 2


Inner = TypeVar("Inner", Scorer, GroupScorer)


class _Renamed(Generic[Inner]):
    """Wrapper that renames the scores of a scorer, and appends a text to their signatures."""

    def __init__(self, inner: Inner, names: Mapping[str, str], marks: str, configured_name: str = "") -> None:
        self._inner: Inner = inner
        self._names = names
        self._marks = marks
        self.configured_name = configured_name
        self.signature = inner.signature + marks
        self.names = tuple(names.values())

    def _rename(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        return [
            replace(
                outcome,
                name=self._names.get(outcome.name, outcome.name),
                signature=outcome.signature + self._marks,
            )
            for outcome in outcomes
        ]


class RenamedScorer(_Renamed[Scorer]):
    """A scorer of single answers whose scores have the names that a plan sets."""

    def __init__(
        self, inner: Scorer, names: Mapping[str, str], marks: str, configured_name: str = ""
    ) -> None:
        super().__init__(inner, names, marks, configured_name)
        self.reads = parts_read(inner) - {"details"}
        """A report cannot compute details again under other names, so they are always stored."""
        self._validator = inner if isinstance(inner, SampleValidator) else None

    def score(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> list[Outcome]:
        """Return a Score or a Failure for each score name."""
        return self._rename(self._inner.score(sample, response, *context.arguments_for(self._inner)))

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Return the warnings that the scorer has about a sample."""
        return () if self._validator is None else self._validator.check_sample(sample)


class RenamedGroupScorer(_Renamed[GroupScorer]):
    """A scorer of sets of answers whose scores have the names that a plan sets."""

    @property
    def scope(self) -> Literal["repeats", "checkpoint"]:
        """Which responses form a group: the repeats of a sample, or all responses of a checkpoint."""
        return self._inner.scope

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Outcome]:
        """Return one Score or Failure for each score name."""
        return self._rename(self._inner.score_set(items))


def load_scorer(
    plugin: str,
    options: Mapping[str, Any],
    *,
    score_prefix: str | None = None,
    samples: Collection[Sample] | None = None,
) -> Scorer | GroupScorer:
    """Build a scorer from its plug-in name, or the location of its class or function."""
    if is_location(plugin):
        loaded = load_class(plugin)
        scorer = (
            FunctionScorer(loaded, options)
            if is_scoring_function(loaded)
            else registry.construct(f"scorer {plugin!r}", loaded, options)
        )
    else:
        scorer = registry.build("scorers", plugin, options)
    if samples is not None and isinstance(scorer, DatasetConfigurable):
        scorer = scorer.for_samples(samples)
    if not isinstance(scorer, (Scorer, GroupScorer)):
        raise ConfigError(f"scorer {plugin!r} needs signature, names, and score() or score_set()")
    if isinstance(scorer.names, str) or not scorer.names:
        raise ConfigError(f"scorer {plugin!r}: names must be a list of score names, got {scorer.names!r}")
    path = source_path(plugin)
    marks = "" if path is None else f"|code:{source_digest(path)[:8]}"
    if score_prefix is not None:
        marks += f"|name:{score_prefix}"
    if not marks:
        return scorer
    names = (
        {name: name for name in scorer.names} if score_prefix is None else renamed(scorer.names, score_prefix)
    )
    if isinstance(scorer, GroupScorer):
        return RenamedGroupScorer(scorer, names, marks, score_prefix or "")
    return RenamedScorer(scorer, names, marks, score_prefix or "")
