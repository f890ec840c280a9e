"""What is written as YAML is read as it was."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.personas.plan_text import yaml_block, yaml_flow

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
TRICKY = st.text(st.sampled_from(" \n\t\r\x85\u2028\ufeff\x7f#:-|'\"{}[]%@`&*!?<>，：“”a1⭐😊"), max_size=30)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.lists(TEXTS | TRICKY, max_size=4))
def test_every_text_survives_in_both_forms(texts: list[str]) -> None:
    data = {"a": texts, **{text: text for text in texts}}
    assert yaml.safe_load(yaml_block(data)) == data
    assert yaml.safe_load(yaml_flow(data)) == data


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(TEXTS | TRICKY)
def test_the_flow_form_is_one_line(text: str) -> None:
    assert "\n" not in yaml_flow({text: [text]})


@each_row("text", ["2^3-log_2(4)", "别·催·我...⭐", "“啊”（笑）", "<a: b>", "😊", "a  "])
def test_what_markdown_would_take_for_markup_stands_as_it_is(text: str) -> None:
    assert text in yaml_block([text])
