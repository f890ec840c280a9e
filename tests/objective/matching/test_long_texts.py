"""Each search of the matcher on texts for which it exists, against difflib and against a plain search."""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable

import pytest
from rows import each_row

from hengwen.objective import matching
from hengwen.objective.matching import Anchors, Matrix, Ranks, by_scan

Longest = Callable[[str, str, tuple[int, int, int, int]], tuple[int, Callable]]


def by_matrix(a: str, b: str, span: tuple[int, int, int, int]) -> tuple[int, Callable]:
    return Matrix(a, b).longest(span)


def by_anchors(a: str, b: str, span: tuple[int, int, int, int]) -> tuple[int, Callable]:
    return Anchors(a, b, frozenset()).longest(span)


def by_ranks(a: str, b: str, span: tuple[int, int, int, int]) -> tuple[int, Callable]:
    return Ranks(a, b, frozenset(), lambda work: None).longest(span, max(len(a), len(b)))


def plain(a: str, b: str, span: tuple[int, int, int, int]) -> tuple[int, list[tuple[int, int]]]:
    """Every pair of indices: the length of the longest common block, and all places where one starts."""
    alo, ahi, blo, bhi = span
    sizes = {
        (i, j): next((k for k in range(min(ahi - i, bhi - j)) if a[i + k] != b[j + k]), min(ahi - i, bhi - j))
        for i in range(alo, ahi)
        for j in range(blo, bhi)
    }
    longest = max(sizes.values(), default=0)
    return longest, [pair for pair, size in sizes.items() if size == longest and longest]


SPANS = [(0, 30, 0, 30), (3, 30, 0, 25), (0, 17, 8, 30), (5, 21, 11, 19), (29, 30, 29, 30), (7, 24, 2, 3)]


@pytest.mark.slow
@each_row("alphabet", ["ab", "abcdef", "月光\U0001f319cR\n"])
@each_row("longest", [by_scan, by_matrix, by_anchors, by_ranks])
@each_row("span", SPANS)
def test_a_search_returns_the_size_and_the_first_block(alphabet: str, longest: Longest, span: tuple) -> None:
    chance = random.Random(5)
    for _ in range(12):
        a, b = ("".join(chance.choices(alphabet, k=30)) for _ in "ab")
        size, starts = plain(a, b, span)
        length, after = longest(a, b, span)
        assert length == size
        assert after(span[0], span[2]) == (starts[0] if starts else None)


@pytest.mark.slow
@each_row("longest", [by_matrix, by_anchors, by_ranks])
@each_row("span", SPANS)
def test_the_next_blocks_lie_behind_both_indices(longest: Longest, span: tuple) -> None:
    chance = random.Random(6)
    for _ in range(12):
        a, b = ("".join(chance.choices("ab", k=30)) for _ in "ab")
        size, starts = plain(a, b, span)
        _, after = longest(a, b, span)
        x, y = span[0], span[2]
        while block := after(x, y):
            assert block == next(start for start in starts if start[0] >= x and start[1] >= y)
            x, y = block[0] + size, block[1] + size
        assert not any(start[0] >= x and start[1] >= y for start in starts)


@each_row("longest", [by_scan, by_matrix, by_anchors, by_ranks])
def test_texts_without_a_common_character_have_no_block(longest: Longest) -> None:
    size, after = longest("aaa", "bbb", (0, 3, 0, 3))
    assert (size, after(0, 0)) == (0, None)


@pytest.mark.slow
@each_row("count", [255, 256, 257, 300])
def test_the_matrix_compares_texts_of_any_number_of_characters(count: int) -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + count)))
    for a, b in ((text, text[-9:]), (text[:5], text), (text, text[::-1])):
        size, after = Matrix(a, b).longest((0, len(a), 0, len(b)))
        expected, starts = plain(a, b, (0, len(a), 0, len(b)))
        assert (size, after(0, 0)) == (expected, starts[0])


def test_the_matrix_compares_more_characters_than_the_surrogates_leave_in_order() -> None:
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0xE000 + 4000)]))
    assert matching.matching_blocks(text, text[-60:]) == [(len(text) - 60, 0, 60)]


def test_ranks_leave_popular_characters_unmatched_at_any_length() -> None:
    a, b = "ccabcc" * 9, "ccabcx" * 9
    size, after = Ranks(a, b, frozenset("c"), lambda work: None).longest((0, 54, 0, 54), 54)
    assert (size, after(0, 0)) == (2, (2, 2))


@each_row("size", range(1, 41))
def test_ranks_find_blocks_of_each_length(size: int) -> None:
    chance = random.Random(size)
    block = "".join(chance.choices("ab", k=size))
    a, b = f"{'x' * 7}{block}{'y' * 30}", f"{'z' * 20}{block}{'w' * 3}"
    span = (0, len(a), 0, len(b))
    for limit in (size, size + 1, 37 + size):
        length, after = Ranks(a, b, frozenset(), lambda work: None).longest(span, limit)
        assert (length, after(0, 0)) == (size, (7, 20))
    assert Ranks(a, b, frozenset(), lambda work: None).longest(span, size - 1)[0] == size - 1


@each_row("length", [199, 200, 201, 299, 300, 301])
def test_characters_above_one_percent_are_junk_from_200_characters_on(length: int) -> None:
    rare = "".join(map(chr, range(0x4E00, 0x4E00 + length)))
    for count in range(1, 6):
        b = "c" * count + rare[: length - count]
        a = f"{rare[3]}{'c' * 5}{rare[9]}"
        peer = difflib.SequenceMatcher(None, a, b, autojunk=True)
        expected = [(block.a, block.b, block.size) for block in peer.get_matching_blocks()[:-1]]
        assert matching.matching_blocks(a, b, autojunk=True) == expected
        assert matching.ratio(a, b, autojunk=True) == peer.ratio()


def test_blocks_that_touch_in_both_texts_are_joined_and_others_are_not() -> None:
    assert matching.matching_blocks("abxcd", "abcd") == [(0, 0, 2), (3, 2, 2)]
    assert matching.matching_blocks("abcd", "abxcd") == [(0, 0, 2), (2, 3, 2)]
    a = "".join(map(chr, range(0x4E00, 0x4E00 + 100))) * 3
    assert matching.matching_blocks(a[:150] + "x" + a[150:], a, autojunk=True) == [
        (0, 0, 150),
        (151, 150, 150),
    ]


def test_the_junk_heuristic_is_off_by_default() -> None:
    a, b = "x" + "c" * 150, "c" * 200
    assert matching.ratio(a, b) == matching.ratio(a, b, autojunk=False) > 0.8
    assert matching.matching_blocks(a, b) == [(1, 0, 150)]


@pytest.mark.parametrize(("limit", "fits"), [(45, False), (46, True)])
def test_the_work_of_the_matrix_is_a_hundredth_of_its_cells(
    monkeypatch: pytest.MonkeyPatch, limit: int, fits: bool
) -> None:
    monkeypatch.setattr(matching, "_MAX_SCAN_CELLS", 0)
    monkeypatch.setattr(matching, "WORK_LIMIT", limit)
    a, b = "a" * 60 + "b" * 8, "a" * 60 + "c" * 8
    message = f"68 and 68 characters need more than {limit} steps$"
    if fits:
        assert matching.ratio(a, b) == 120 / 136
    else:
        with pytest.raises(
            ValueError, match="^the texts are too long and too repetitive to compare: " + message
        ):
            matching.ratio(a, b)
