"""The packaged suite is what its page says: tables over its files."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from importlib.resources import files
from statistics import mean
from typing import Any

from rows import each_row

from hengwen.objective import score_lyric
from hengwen.plans.plan import load_plan
from hengwen.prompts import load_rubric

DATA = files("hengwen.demo") / "data"
CHECKPOINTS = ("ckpt-1000", "ckpt-2000", "ckpt-3000", "ckpt-4000")
LEVELS = {0.0, 0.25, 0.5, 0.75, 1.0}
LYRIC_IDS = [f"lyric-{n:02}" for n in range(1, 13)]
PERSONA_IDS = [f"persona-{n:02}" for n in range(1, 13)]
SECTIONS = {"verse", "pre-chorus", "chorus", "bridge", "ending"}
LABEL_HEADER = ["task", "id", "checkpoint", "repeat", "output", "score", "value", "rater"]


def rows(name: str) -> list[dict[str, Any]]:
    text = (DATA / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def answers(checkpoint: str) -> dict[tuple[str, int], str]:
    return {(row["id"], row["repeat"]): row["output"] for row in rows(f"answers/{checkpoint}.jsonl")}


def labels() -> list[dict[str, str]]:
    lines = (DATA / "labels.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines))


def templates() -> dict[str, str]:
    return {row["id"]: row["metadata"]["template"] for row in rows("lyrics.jsonl")}


def lyric_totals(checkpoint: str) -> dict[tuple[str, int], float]:
    wanted = templates()
    return {
        place: score_lyric(text, wanted[place[0]]).total
        for place, text in answers(checkpoint).items()
        if place[0] in wanted
    }


@each_row(
    ("name", "ids"),
    [
        ("lyrics.jsonl", LYRIC_IDS),
        ("persona.jsonl", PERSONA_IDS),
        ("anchors.jsonl", [f"anchor-{n:02}" for n in range(1, 9)]),
    ],
    ids=["lyrics", "persona", "anchors"],
)
def test_ids_count_up_from_one_in_file_order(name: str, ids: list[str]) -> None:
    assert [row["id"] for row in rows(name)] == ids


@each_row("row", rows("lyrics.jsonl"))
def test_a_lyric_prompt_has_only_its_fields(row: dict[str, Any]) -> None:
    assert set(row) == {"id", "input", "metadata"}
    assert set(row["metadata"]) == {"template", "title"}
    assert all(row["metadata"].values())


@each_row("template", templates().values())
def test_a_template_is_two_to_four_sections_of_singable_lines(template: str) -> None:
    lines = template.split("\n")
    tags = [line[1:-1] for line in lines if line.startswith("(")]
    sung = [line for line in lines if not line.startswith("(")]
    assert lines[0].startswith("(")
    assert set(tags) <= SECTIONS
    assert 2 <= len(tags) <= 4
    assert 8 <= len(sung) <= 14
    assert all(re.fullmatch("c{4,9}[cR]", line) for line in sung)
    assert any(line.endswith("R") for line in sung)


def test_no_two_templates_are_alike() -> None:
    assert len(set(templates().values())) == len(LYRIC_IDS)


@each_row("row", rows("persona.jsonl"))
def test_a_persona_prompt_has_one_model_answer(row: dict[str, Any]) -> None:
    assert set(row) - {"metadata"} == {"id", "input", "references"}
    assert len(row["references"]) == 1
    assert 40 <= len(row["references"][0]) <= 200


def test_one_prompt_has_a_number_to_check_and_its_reference_holds_it() -> None:
    checked = [row for row in rows("persona.jsonl") if "metadata" in row]
    hours = 24 - 19 + 5.5
    assert [row["metadata"] for row in checked] == [{"answer": hours * 3600 / 12}]
    assert str(checked[0]["metadata"]["answer"]) in checked[0]["references"][0]


def voice() -> dict[str, list[str]]:
    """The words of the character and those that break it, as the persona judge of the plan has them."""
    (judge,) = load_plan(str(DATA / "plan.yaml")).tasks[1].judges
    rules = load_rubric(judge.rubric).rules
    assert rules is not None
    return {"markers": judge.options["markers"], "taboo": [*judge.options["taboo"], *rules.taboo]}


def test_the_character_card_fits_a_system_prompt() -> None:
    card = (DATA / "persona.md.j2").read_text(encoding="utf-8")
    assert 200 <= len("".join(card.split())) <= 300
    assert "墨团" in card
    assert not re.search(r"[{}#*]", card)


@each_row("checkpoint", CHECKPOINTS)
def test_every_prompt_is_answered_twice(checkpoint: str) -> None:
    places = [(row["id"], row["repeat"]) for row in rows(f"answers/{checkpoint}.jsonl")]
    assert sorted(places) == sorted((name, n) for name in LYRIC_IDS + PERSONA_IDS for n in (1, 2))


@each_row("checkpoint", CHECKPOINTS)
def test_answers_are_short_clean_texts(checkpoint: str) -> None:
    for text in answers(checkpoint).values():
        assert len(text) <= 1200
        assert text == text.strip()
        assert not re.search(r"[\r\t\ufeff\ufffd]", text)


def test_one_answer_of_the_last_checkpoint_is_empty_and_no_other() -> None:
    empty = [(name, *place) for name in CHECKPOINTS for place, text in answers(name).items() if not text]
    assert empty == [("ckpt-4000", "persona-05", 1)]


def test_no_answer_stands_twice() -> None:
    texts = Counter(text for name in CHECKPOINTS for text in answers(name).values())
    assert max(texts.values()) == 1


def test_the_mean_lyric_total_rises_over_the_checkpoints() -> None:
    means = [mean(lyric_totals(name).values()) for name in CHECKPOINTS]
    assert means == sorted(means)
    assert means[0] < 60 < means[1] < 75 < means[2] < 95 < means[3]


def test_lyrics_do_not_rise_in_lockstep() -> None:
    totals = [lyric_totals(name) for name in CHECKPOINTS]
    falls = [place for place in totals[0] if [t[place] for t in totals] != sorted(t[place] for t in totals)]
    assert len(falls) >= 2


def test_most_lyrics_of_the_last_checkpoint_have_every_length_right() -> None:
    wanted = templates()
    found = answers("ckpt-4000")
    right = [score_lyric(found[name, n], wanted[name]).p3_cr == 1 for name in LYRIC_IDS for n in (1, 2)]
    assert 16 <= sum(right) < 24


def test_the_first_checkpoint_loses_tags_and_parrots_a_template() -> None:
    found = answers("ckpt-1000")
    assert not any(line.startswith("(") for line in found["lyric-01", 2].split("\n"))
    assert found["lyric-02", 2] == templates()["lyric-02"]


def test_the_last_checkpoint_breaks_character_more_than_those_before() -> None:
    taboo = voice()["taboo"]
    broken = {
        name: sum(any(word in text for word in taboo) for text in answers(name).values())
        for name in CHECKPOINTS
    }
    assert max(broken, key=broken.__getitem__) == "ckpt-4000"
    assert broken["ckpt-2000"] == broken["ckpt-3000"] == 0


def test_the_last_checkpoint_copies_a_reference_word_for_word() -> None:
    references = {row["id"]: row["references"][0] for row in rows("persona.jsonl")}
    copies = [
        (name, *place)
        for name in CHECKPOINTS
        for place, text in answers(name).items()
        if references.get(place[0]) == text
    ]
    assert copies == [("ckpt-4000", "persona-01", 1)]


@each_row(
    ("checkpoint", "right"),
    [
        ("ckpt-1000", [True, False]),
        ("ckpt-2000", [True, True]),
        ("ckpt-3000", [True, True]),
        ("ckpt-4000", [False, True]),
    ],
)
def test_the_number_is_right_or_wrong_where_it_should_be(checkpoint: str, right: list[bool]) -> None:
    found = answers(checkpoint)
    assert ["3150" in found["persona-06", n] for n in (1, 2)] == right


def test_labels_cover_the_first_answer_to_every_persona_prompt() -> None:
    found = labels()
    assert list(found[0]) == LABEL_HEADER
    places = [(row["checkpoint"], row["id"], row["repeat"]) for row in found]
    assert sorted(places) == sorted((name, prompt, "1") for name in CHECKPOINTS for prompt in PERSONA_IDS)


def test_labels_name_one_score_and_lie_on_its_levels() -> None:
    for row in labels():
        assert (row["task"], row["output"], row["score"]) == ("persona", "", "persona_generic.level")
        assert row["rater"] == "authors"
        assert float(row["value"]) in LEVELS


def test_people_like_the_third_checkpoint_best_and_the_last_one_least() -> None:
    value = {
        name: mean(float(row["value"]) for row in labels() if row["checkpoint"] == name)
        for name in CHECKPOINTS
    }
    assert sorted(CHECKPOINTS, key=value.__getitem__) == ["ckpt-4000", "ckpt-1000", "ckpt-2000", "ckpt-3000"]


def test_anchors_lie_on_all_five_levels() -> None:
    found = rows("anchors.jsonl")
    assert {row["value"] for row in found} == LEVELS
    for row in found:
        assert (row["task"], row["score"], row["rater"]) == ("persona", "persona_generic.level", "authors")
        assert row["input"]
        assert row["output"]


def test_anchors_are_no_answers_of_the_suite() -> None:
    stored = {text for name in CHECKPOINTS for text in answers(name).values()}
    assert not stored & {row["output"] for row in rows("anchors.jsonl")}


@each_row("kind", ["markers", "taboo"])
def test_marker_lists_do_not_repeat(kind: str) -> None:
    words = voice()[kind]
    assert 6 <= len(words) == len(set(words))


def test_the_references_sound_like_the_character() -> None:
    words = voice()
    for row in rows("persona.jsonl"):
        text = row["references"][0]
        assert sum(word in text for word in words["markers"]) >= 2
        assert not any(word in text for word in words["taboo"])
