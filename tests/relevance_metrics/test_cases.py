"""The reference cases: 300 sequences, 3,144 entropies."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hengwen.relevance_metrics import (
    count_inversions,
    longest_increasing_indices,
    longest_increasing_subsequence,
    permutation_entropy,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def cases(shared: Callable[[str], Path]) -> list[dict[str, Any]]:
    lines = shared("data/sequence-cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_published_example_is_met_exactly() -> None:
    x = [5, 4, 5, 4, 5, 4, 5, 4]
    result = (permutation_entropy(x), count_inversions(x), longest_increasing_subsequence(x))
    assert result == (0.6931471805599453, 10, 2)


@pytest.mark.slow
def test_every_entropy_of_the_cases_is_met(cases: list[dict[str, Any]]) -> None:
    met = 0
    for case in cases:
        for row in case["pen"]:
            if row["nats"] is None:
                with pytest.raises(ValueError, match="too few"):
                    permutation_entropy(case["x"], row["m"], row["delay"])
                continue
            nats = permutation_entropy(case["x"], row["m"], row["delay"])
            bits = permutation_entropy(case["x"], row["m"], row["delay"], base=2)
            share = permutation_entropy(case["x"], row["m"], row["delay"], normalize=True)
            assert [nats, bits, share] == pytest.approx(
                [row["nats"], row["bits"], row["normalised"]], abs=1e-9
            )
            assert math.copysign(1, nats) == 1
            met += 1
    assert met == 3144


def test_every_count_of_the_cases_is_met(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        x = case["x"]
        result = {
            "cin": count_inversions(x),
            "lis_strict": longest_increasing_subsequence(x),
            "lis_nondecreasing": longest_increasing_subsequence(x, strict=False),
        }
        assert result == {name: case[name] for name in result}
        assert len(longest_increasing_indices(x)) == case["lis_strict"]
        assert len(longest_increasing_indices(x, strict=False)) == case["lis_nondecreasing"]


@pytest.mark.slow
def test_the_type_of_the_numbers_does_not_matter(cases: list[dict[str, Any]]) -> None:
    for case in cases[:120]:
        x = np.array(case["x"])
        if x.dtype.kind != "i" or x.size < 3 or np.abs(x).max() > 127:
            continue
        for dtype in (np.int8, np.int16, np.int64, np.float32, np.float64):
            y = x.astype(dtype)
            assert permutation_entropy(y) == permutation_entropy(case["x"])
            assert count_inversions(y) == case["cin"]
            assert longest_increasing_subsequence(y) == case["lis_strict"]


@pytest.mark.slow
def test_no_cpu_feature_moves_a_bit() -> None:
    code = (
        "import json, numpy as np; from hengwen.relevance_metrics import *;"
        "x = np.random.default_rng(0).normal(size=(40, 300)).round(2); y = x.ravel();"
        "print(json.dumps([permutation_entropy(y, m).hex() for m in (3, 5, 7, 9)]"
        " + [v.hex() for v in permutation_entropy(x).tolist()] + count_inversions(x).tolist()"
        " + [count_inversions(y), longest_increasing_subsequence(y)]"
        " + longest_increasing_subsequence(x).tolist()))"
    )
    plain = dict(os.environ)
    plain.pop("NPY_DISABLE_CPU_FEATURES", None)
    features = [name for name, on in _cpu_features().items() if on]
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], env=env, capture_output=True, text=True, check=True
        ).stdout
        for env in (plain, {**plain, "NPY_DISABLE_CPU_FEATURES": " ".join(features)})
    ]
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[0])) == 4 + 40 * 3 + 2


def _cpu_features() -> dict[str, bool]:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return {name: __cpu_features__.get(name, False) for name in __cpu_dispatch__}
