"""What holds for the part as a whole: lazy imports, results, memory."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from rows import each_row

import hengwen.relevance_metrics as metrics

X = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


def test_every_public_name_is_there_and_documented() -> None:
    for name in dir(metrics):
        assert getattr(metrics, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'entropie'"):
        metrics.entropie  # type: ignore[attr-defined]  # noqa: B018


def test_functions_stay_functions_after_all_modules_are_loaded() -> None:
    for name in dir(metrics):
        assert callable(getattr(metrics, name)), name


@pytest.mark.slow
def test_the_import_loads_no_scipy() -> None:
    code = (
        "import sys, hengwen.relevance_metrics as m; [getattr(m, n) for n in m.__all__];"
        "sys.exit(any(name.split('.')[0] == 'scipy' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@each_row(
    "compute",
    [
        pytest.param(lambda: metrics.significance(X, n_perm=9), id="significance"),
        pytest.param(lambda: metrics.compare_rankings(X, X[::-1]), id="compare_rankings"),
        pytest.param(lambda: metrics.summarize(X, n_perm=9), id="summarize"),
    ],
)
def test_results_are_frozen_and_plain(compute: object) -> None:
    result = compute()
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.n = 1
    fields = dataclasses.asdict(result)
    assert fields["n"] > 0
    assert json.dumps(fields, default=repr, allow_nan=False, skipkeys=True)


@pytest.mark.slow
@each_row(
    "run",
    [
        pytest.param(metrics.permutation_entropy, id="pen"),
        pytest.param(lambda x: metrics.permutation_entropy(x, 7), id="pen m=7"),
        pytest.param(metrics.count_inversions, id="cin"),
        pytest.param(metrics.longest_increasing_subsequence, id="lis"),
    ],
)
@each_row("kind", ["floats", "levels"])
def test_a_million_scores_take_less_than_100_mb(run: object, kind: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=1_000_000) if kind == "floats" else rng.integers(1, 6, 1_000_000)
    tracemalloc.start()
    try:
        run(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6
