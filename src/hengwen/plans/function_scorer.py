"""Use a plain function ``(sample, response) -> float`` as a scorer."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.records import Failure, Outcome, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hengwen.records import Response, Sample

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
            raise ConfigError(f"scorer {self.names[0]!r}: {error}") from None

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
