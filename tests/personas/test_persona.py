"""A character from a file, and the prompts that are made of it."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen import personas
from hengwen.errors import ConfigError
from hengwen.importers.muice.importer import muice_persona
from hengwen.personas import Persona, load_persona, system_prompt
from hengwen.personas.persona import escape_template, topic_of
from hengwen.personas.suites import SCENES
from hengwen.prompts.render import render_subject_prompt
from hengwen.records import Sample

SOOT = {
    "name": "煤球",
    "voice": "话少。",
    "facts": ["住在烟囱边"],
    "taboos": ["收到"],
    "markers": ["喵呜", "呼噜"],
}


def soot(**more: object) -> Persona:
    return Persona.model_validate({**SOOT, **more})


def rendered(persona: Persona, task: str, **metadata: str) -> str:
    sample = Sample(id="1", input="hi", metadata=metadata)
    return render_subject_prompt(system_prompt(persona, task), "{{ input }}", sample)[0][1]


def test_a_name_serves_both_languages_or_has_one_for_each() -> None:
    assert (soot().name.zh, soot().name.en) == ("煤球", "煤球")
    both = {"name": {"zh": "煤球", "en": "Soot"}}
    assert (soot(**both).called, soot(**both, language="en").called) == ("煤球", "Soot")


def test_a_list_may_be_one_text() -> None:
    assert soot(markers="喵").markers == ["喵"]


@each_row("tag", ["<话题: 屋顶>", "<话题：屋顶>", "<话题:屋顶>", "屋顶", "<屋顶>", " <话题:  屋顶 > "])
def test_a_brief_is_found_by_its_topic_however_the_tag_is_spelt(tag: str) -> None:
    assert topic_of(tag) == "屋顶"
    assert soot(briefs={"<话题: 屋顶>": "说说。"}).brief(tag) == "说说。"
    assert soot(briefs={"屋顶": "说说。"}).brief(tag) == "说说。"


@each_row("briefs", [{"屋顶": "a", "<t: 屋顶>": "b"}, {"<t: >": "a"}, {"": "a"}])
def test_briefs_name_different_topics(briefs: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one topic|names no topic"):
        soot(briefs=briefs)


def test_a_file_that_is_wrong_is_told_by_line(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("name: a\nvoice: b\nfact: [c]\n", "utf-8")
    with pytest.raises(ConfigError, match=r"p\.yaml:3: unknown key 'fact'; did you mean 'facts'\?"):
        load_persona(path)


@each_row("task", SCENES)
def test_all_that_is_known_of_a_character_is_in_each_prompt(task: str) -> None:
    text = rendered(soot(), task, brief="说说雨。")
    for phrase in ("你是煤球。话少。", "- 住在烟囱边", "- 收到", "喵呜、呼噜"):
        assert phrase in text
    assert ("说说雨。" in text) == (task == "new_topic")


def test_what_is_not_known_leaves_no_heading() -> None:
    text = rendered(soot(facts=[], taboos=[], markers=[]), "live")
    assert text.splitlines()[0] == "你是煤球。话少。"
    assert "关于你" not in text
    assert "你从不说" not in text


def test_tasks_differ_in_their_scene_alone() -> None:
    texts = {task: rendered(soot(), task).splitlines() for task in SCENES[1:]}
    different = [set(lines) for lines in zip(*texts.values(), strict=True) if len(set(lines)) > 1]
    assert len(different) == 1
    assert len(different[0]) == 3


def test_a_scene_and_a_manner_of_its_own_take_the_place_of_the_packaged_ones() -> None:
    persona = soot(scenes={"live": "你在屋顶上。", "new_topic": "开口吧："}, manner="")
    assert rendered(persona, "live").endswith("\n\n你在屋顶上。")
    assert rendered(persona, "new_topic", brief="说雨。").endswith("\n\n开口吧：说雨。")


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("{}%# \n-a墨\"'"), max_size=20))
def test_a_text_with_template_marks_is_text(text: str) -> None:
    turns = render_subject_prompt(escape_template(f"[{text}]"), "{{ input }}", Sample(id="1", input="hi"))
    assert turns[0][1] == f"[{text}]"


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.text(st.sampled_from("{}%#a墨"), min_size=1, max_size=12), st.sampled_from(SCENES))
def test_no_character_can_break_its_prompts(text: str, task: str) -> None:
    persona = soot(
        voice=text, facts=[text], taboos=[text], markers=[text], scenes={"live": text}, manner=text
    )
    prompt = rendered(persona, task, brief="{{ x }}")
    assert prompt.count(text) >= 5
    assert ("{{ x }}" in prompt) == (task == "new_topic")


def test_muice_is_told_in_each_task_who_she_is_and_has_a_brief_for_every_topic() -> None:
    from hengwen.importers.muice.tags import GREETINGS, POSTS

    muice = muice_persona()
    assert muice.called == "沐雪"
    briefs = [muice.brief(topic.tag) for topic in (*POSTS, *GREETINGS)]
    assert len(set(briefs)) == 10
    assert None not in briefs
    assert len({rendered(muice, task) for task in ("live", "emotion", "comprehensive")}) == 1
    assert "朋友" in rendered(muice, "daily")


def test_no_public_name_is_also_the_name_of_a_module_beside_it() -> None:
    modules = {
        module.name for module in pkgutil.iter_modules(importlib.import_module("hengwen.personas").__path__)
    }
    assert not modules & set(dir(personas))
    assert all(getattr(personas, name) is not None for name in dir(personas))
