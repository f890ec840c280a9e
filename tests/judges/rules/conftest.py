"""A short way to the input of a rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hengwen.judges.rules.rule import RuleInput
from hengwen.records import Response, Sample


@pytest.fixture(scope="session")
def rule_input() -> Callable[..., RuleInput]:
    """Make the input of a rule from texts."""

    def make(text: str, *, earlier: tuple[str, ...] = (), **sample: object) -> RuleInput:
        before = [Response(sample_id="1", text=old, repeat=i) for i, old in enumerate(earlier, 1)]
        return RuleInput(
            sample=Sample(**{"id": "1", "input": "说说月亮", **sample}),
            response=Response(sample_id="1", text=text, repeat=len(before) + 1),
            earlier=before,
        )

    return make
