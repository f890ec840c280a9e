"""Checks of option values."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row

from hengwen._internal.plugins import check_number, whole_number


@each_row("value", [2, np.int64(2)], ids=["int", "numpy"])
def test_a_whole_number_is_returned_as_an_int(value: object) -> None:
    assert whole_number("m", value, 2) == 2
    assert type(whole_number("m", value)) is int


@each_row("value", [1, True, 2.0, "2", None])
def test_what_is_no_whole_number_or_too_low_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=f"m must be a whole number >= 2, got {value!r}"):
        whole_number("m", value, 2)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(1), np.int64(2)], ids=repr)
def test_a_number_of_any_kind_is_accepted(value: object) -> None:
    check_number("score", value)


@pytest.mark.parametrize("value", ["0.5", True, None, [1]], ids=repr)
def test_what_float_would_read_but_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="score must be a number, got "):
        check_number("score", value)
