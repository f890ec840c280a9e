"""Charts: axes, positions, gaps, escapes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hengwen.documents.blocks import Chart, Point, Series
from hengwen.documents.render.svg import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    axis_for,
    draw_chart,
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


@pytest.mark.parametrize(
    ("values", "limits", "ends"),
    [
        pytest.param([10.0, 90.0], (0, 100), (0, 100), id="whole-scale"),
        pytest.param([74.0, 86.0], (0, 100), (72, 88), id="part-of-the-scale"),
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
    assert 2 <= len(axis.ticks) <= 6


@given(st.floats(1e-9, 1e9))
@settings(deadline=None, max_examples=100)
def test_a_step_cuts_the_span_into_few_parts(span):
    assert 1 <= span / tick_step(span) <= 4 * (1 + 1e-6)


def test_a_scale_that_is_no_multiple_of_the_step_keeps_round_ticks():
    assert axis_for([40.0, 109.0], (0, 110)).ticks == (0.0, 25.0, 50.0, 75.0, 100.0)


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
    assert [text.text for text in root.iter("text") if text.get("class") == "value"] == ["1.0", "2.0"]


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


def test_labels_of_many_checkpoints_do_not_collide():
    points = [point(label=f"checkpoint-{i}", value=float(i)) for i in range(60)]
    names = [e for e in ET.fromstring(str(chart(points))).iter("text") if e.get("class") == "name"]
    xs = [float(e.get("x", "nan")) for e in names]
    assert 3 <= len(names) <= 9
    assert min(b - a for a, b in pairwise(xs)) > 50


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
    assert re.findall(r'<g class="point (\w+)">.*?<(path|circle)', text) == [
        ("better", "path"),
        ("worse", "path"),
        ("plain", "circle"),
    ]
    (up, down) = re.findall(r"l-[\d.]+ (-?)[\d.]+h", text)
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
