"""Levels of many looks at one baseline."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.stats.power import alpha_at_look


def test_all_looks_together_spend_at_most_alpha() -> None:
    assert sum(alpha_at_look(look, 0.1) for look in range(1, 100_000)) == pytest.approx(0.1, abs=1e-5)
    assert sum(alpha_at_look(look) for look in range(1, 21)) < 0.05


@each_row(("look", "alpha"), [(0, 0.05), (1, 0.0), (1, 1.0)])
def test_a_look_counts_from_one_and_alpha_is_a_probability(look: int, alpha: float) -> None:
    with pytest.raises(ValueError, match=rf"no level for look {look} with alpha {alpha}"):
        alpha_at_look(look, alpha)
