"""Names that are too long are cut in the middle, by the columns that they take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from rows import each_row

from hengwen.documents.render.terminal import ended
from hengwen.documents.render.words import cut_name


@each_row(
    ("name", "most", "expected"),
    [
        ("ckpt-3000", 9, "ckpt-3000"),
        ("my-model-checkpoint-3000", 12, "my-m…nt-3000"),
        ("my-model-checkpoint-300", 12, "my-m…int-300"),
        ("检查点-第三千步", 15, "检查点-第三千步"),
        ("检查点-第三千步", 10, "检…三千步"),
        ("a\x1b[31m\nb", 9, "a b"),
        ("abc", 1, "…"),
    ],
)
def test_a_name_is_cut_in_the_middle(name: str, most: int, expected: str) -> None:
    assert cut_name(name, most, cell_len) == expected


@given(st.text("ab-0检查点", max_size=30), st.integers(1, 20))
def test_a_cut_name_keeps_its_ends_and_fits(name: str, most: int) -> None:
    cut = cut_name(name, most, cell_len)
    start, mark, end = cut.partition("…")
    assert cell_len(cut) <= most or not mark
    assert name.startswith(start)
    assert name.endswith(end)
    assert mark or cut == name


def test_steps_stay_distinct_where_both_names_are_cut() -> None:
    assert len({cut_name(f"qwen2-7b-sft-step-{step}", 14, cell_len) for step in (30, 300, 3000)}) == 3


@each_row(
    ("line", "width", "expected"),
    [
        ("· Out: worse than ckpt-300: ckpt-3000 (−0.15)", 34, "· Out: worse than ckpt-300: …"),
        ("· Out: worse than ckpt-300: ckpt-3000 (−0.15)", 43, "· Out: worse than ckpt-300: ckpt-3000 …"),
        ("已排除：比 ckpt-300 差的，ckpt-3000", 29, "已排除：比 ckpt-300 差的， …"),
        ("已排除：比先前的检查点差的", 14, "已排除：比先 …"),
        ("short", 20, "short …"),
    ],
)
def test_a_line_ends_before_the_word_that_does_not_fit(line: str, width: int, expected: str) -> None:
    (cut,) = ended([Text(line)], width)
    assert cut.plain == expected
    assert cut.cell_len <= width
