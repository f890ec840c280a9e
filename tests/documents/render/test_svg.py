"""Charts: axes, positions, gaps, escapes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.documents.blocks import Chart, Point, Series
from hengwen.documents.render.svg import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    axis_for,
    draw_chart,
    text_width,
    tick_step,
    truncate,
    x_positions,
)


def point(**fields):
    return Point(**{"x": 0, "label": "a", **fields})


def chart(points, **options):
    numbered = tuple(replace(point, x=x) for x, point in enumerate(points))
    block = Chart(key="c0", title="t/s", series=(Series(name="s", points=numbered),), **options)
    return draw_chart(block, "en")


@each_row(
    ("values", "limits", "ends"),
    [
        pytest.param([10.0, 90.0], (0, 100), (10, 90), id="the-range-of-the-values"),
        pytest.param([97.0, 103.0], (0, 100), (97, 100), id="never-beyond-the-scale"),
        pytest.param([], (1, 5), (1, 5), id="no-values"),
        pytest.param([], None, (0, 1), id="nothing-known"),
        pytest.param([50.0], (0, 100), (45, 55), id="one-value"),
        pytest.param([0.0, 0.0], None, (-0.1, 0.1), id="all-zero"),
    ],
)
def test_the_axis_fits_the_data_and_stays_on_the_scale(values, limits, ends):
    axis = axis_for(values, limits)
    assert (axis.low, axis.high) == pytest.approx(ends)
    assert axis.ticks == tuple(sorted(axis.ticks))


@pytest.mark.slow
@example([0.0, 1.741115921130078e-15])
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
@settings(deadline=None, max_examples=100)
def test_the_axis_holds_every_value_with_few_ticks(values):
    axis = axis_for(values)
    room = 1e-6 * (axis.high - axis.low)
    assert axis.low - room <= min(values) <= max(values) <= axis.high + room
    assert 2 <= len(axis.ticks) <= 7
    assert (axis.ticks[0], axis.ticks[-1]) == (axis.low, axis.high)


@given(st.floats(1e-9, 1e9))
@settings(deadline=None, max_examples=100)
def test_a_step_cuts_the_span_into_few_parts(span):
    assert 1 <= span / tick_step(span) <= 4 * (1 + 1e-6)


def test_round_ticks_stand_between_the_ends_of_the_range_and_not_on_them():
    assert axis_for([40.5, 108.9], (0, 110)).ticks == (40.5, 60.0, 80.0, 108.9)


@given(st.integers(2, 200))
@settings(deadline=None, max_examples=50)
def test_points_are_evenly_spaced_inside_the_plot(n):
    xs = list(x_positions(range(n)).values())
    assert LEFT <= xs[0] < xs[-1] <= WIDTH - RIGHT
    assert max(b - a for a, b in pairwise(xs)) < 1.02 * (xs[-1] - xs[0]) / (n - 1) + 0.02


def test_a_higher_mean_is_drawn_higher():
    axis = axis_for([1.0, 2.0])
    assert axis.y(2.0) < axis.y(1.0) < HEIGHT


def test_the_chart_is_well_formed_and_has_a_name():
    points = [
        point(label="a", value=1.0, interval=(0.5, 1.5), text="1.0"),
        point(label="b", value=2.0, text="2.0"),
    ]
    root = ET.fromstring(str(chart(points)))
    assert [child.tag for child in root][:2] == ["title", "desc"]
    assert root.get("aria-labelledby") == "c0-t c0-d"
    assert [text.text for text in root.iter("text") if (text.get("class") or "").startswith("value")] == [
        "1.0",
        "2.0",
    ]


def test_the_line_breaks_at_gaps_and_changed_signatures():
    points = [
        point(label="a", value=1.0),
        point(label="b", value=2.0),
        point(label="c", value=None),
        point(label="d", value=2.0),
        point(label="e", value=2.0, is_connected=False),
    ]
    path = re.search(r'class="line s0" d="([^"]+)"', str(chart(points)))
    assert path is not None
    assert re.sub(r"[^ML]", "", path[1]) == "MLMM"
    assert str(chart(points)).count('class="missing"') == 1


def test_a_chart_without_any_mean_has_no_line():
    text = str(chart([point(label="a", value=None)]))
    assert 'class="line ' not in text
    assert 'class="missing"' in text


@each_row("n", [1, 3, 6, 10, 11, 40, 41, 200])
def test_the_names_of_checkpoints_do_not_collide_and_stay_in_the_chart(n):
    points = [point(label=f"llama-7b-sft-lr2e5-checkpoint-{i}", value=float(i)) for i in range(n)]
    root = ET.fromstring(str(chart(points)))
    names = [e for e in root.iter("text") if e.get("class") == "name"]
    assert len(names) >= min(n, 2)
    rows: dict[str, list[tuple[float, float]]] = {}
    for name in names:
        half = text_width(name.text) / 2
        x = float(name.get("x"))
        rows.setdefault(name.get("y"), []).append((x - half, x + half))
    assert len(rows) <= 2
    for ends in map(sorted, rows.values()):
        assert all(a[1] < b[0] for a, b in pairwise(ends))
        assert ends[0][0] >= -0.01
        assert ends[-1][1] <= float(root.get("width")) + 0.01


def test_more_than_forty_checkpoints_take_the_full_width():
    widths = [
        ET.fromstring(str(chart([point(value=float(i)) for i in range(n)]))).get("width") for n in (40, 41)
    ]
    assert widths == ["356", "1120"]


def test_the_anchors_stand_below_on_the_same_x():
    points = tuple(Point(x=x, label=f"c{x}", value=float(x), text=f"{x}") for x in (0, 1, 9))
    anchors = Series(name="", points=tuple(replace(item, value=0.5) for item in points))
    block = Chart(key="c", title="t", series=(Series(name="", points=points),), lane=anchors)
    root = ET.fromstring(str(draw_chart(block, "en")))
    dots = [(float(e.get("cx")), float(e.get("cy"))) for e in root.iter("circle")]
    assert [x for x, _ in dots[:3]] == [x for x, _ in dots[3:]]
    assert max(y for _, y in dots[:3]) < HEIGHT < min(y for _, y in dots[3:])
    assert float(root.get("height")) > HEIGHT


@each_row(
    ("values", "side"),
    [
        ((1.0, 3.0, 2.0), "above"),
        ((2.0, 1.0, 3.0), "below"),
        ((1.0, 2.0, 3.0), "left"),
        ((3.0, 2.0, 1.0), "right"),
    ],
)
def test_a_value_stands_where_the_line_does_not_go(values, side):
    root = ET.fromstring(str(chart([point(value=value, text="middle") for value in values])))
    dot = [(float(e.get("cx")), float(e.get("cy"))) for e in root.iter("circle")][1]
    text = [e for e in root.iter("text") if e.get("class").startswith("value")][1]
    x, y = float(text.get("x")), float(text.get("y"))
    anchor = text.get("class").removeprefix("value").strip()
    assert (y > dot[1]) == (side == "below")
    assert {"left": "before", "right": "after"}.get(side, "") == anchor
    assert (x < dot[0], x > dot[0]) == (side == "left", side == "right")


def test_text_is_escaped_and_cleaned():
    text = str(chart([point(label="</text><script>\x00\u202e", value=1.0, text="<b>", hint='"&')]))
    assert "<script>" not in text
    assert "\x00" not in text
    assert "\u202e" not in text
    ET.fromstring(text)


def test_names_are_cut_to_their_room():
    assert truncate("一二三四五六", 43) == "一二三…"
    assert truncate("ok", 40) == "ok"


def test_no_points_is_an_error():
    with pytest.raises(ValueError, match="at least one point"):
        chart([])


def test_points_stand_at_true_distances():
    xs = x_positions([1, 2, 10])
    assert xs[10] - xs[2] == pytest.approx(8 * (xs[2] - xs[1]), abs=0.1)


def test_what_is_worse_points_down_and_what_is_better_up():
    text = str(chart([point(value=1.0, tone="better"), point(value=0.5, tone="worse"), point(value=0.7)]))
    marks = re.findall(r'<g class="point (\w+)">.*?<(path|circle)', text)
    assert sorted(marks) == [("better", "path"), ("plain", "circle"), ("worse", "path")]
    (up, down) = re.findall(r"l-4 (-?)7h", text)
    assert (up, down) == ("", "-")


def test_several_series_share_the_axis_and_differ_in_their_lines():
    points = [Point(x=x, label=f"c{x}", value=float(x), text=f"{x}") for x in range(3)]
    block = Chart(
        key="c", title="t", series=(Series(name="a", points=points), Series(name="b", points=points))
    )
    text = str(draw_chart(block, "en"))
    assert re.findall(r'class="(line s\d)"', text) == ["line s0", "line s1"]
    assert text.count('class="name"') == 3
    assert re.findall(r'class="series"[^>]*>(\w+)<', text) == ["a", "b"]


def test_the_description_has_the_numbers():
    text = str(
        chart([point(value=1.0, text="1.0", hint="a: 1.0 [0, 2]"), point(value=2.0, text="2.0", label="b")])
    )
    assert '<desc id="c0-d">a: 1.0 [0, 2]; b 2.0</desc>' in text
