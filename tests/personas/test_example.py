"""The packaged example persona is what its notes say."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import pytest

from hengwen.objective import near_duplicates
from hengwen.objective.detectors import find_breakage, find_markup, number_verdict
from hengwen.objective.duplicates.similarity import normalize_text
from hengwen.objective.duplicates.training_set import with_particles
from hengwen.personas.persona import Persona, load_persona, topic_of
from hengwen.personas.plan_text import TASKS
from hengwen.plans.datasets import SampleSet, read_labels, read_responses, read_samples

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.records import Label, Response, Sample

EXAMPLE = Path(str(files("hengwen.personas") / "example"))
DAYS = ("day-1", "day-2", "day-3")
PROMPTS = {"new_topic": 4, "live": 12, "emotion": 5, "comprehensive": 10}
ADDED = {f"live-{number:02}" for number in range(7, 13)}
LEVELS = {0.0, 0.25, 0.5, 0.75, 1.0}


@pytest.fixture(scope="module")
def tasks() -> dict[str, SampleSet]:
    return {name: read_samples(EXAMPLE / f"{name}.jsonl", task=name) for name in PROMPTS}


@pytest.fixture(scope="module")
def answers(tasks: dict[str, SampleSet]) -> list[Response]:
    return [
        response
        for day in DAYS
        for response in read_responses(
            EXAMPLE / "answers" / f"{day}.jsonl", list(tasks.values()), checkpoint=day
        )
    ]


@pytest.fixture(scope="module")
def labels() -> list[Label]:
    return [label for _, label in read_labels(EXAMPLE / "labels.csv")]


@pytest.fixture(scope="module")
def persona() -> Persona:
    return load_persona(EXAMPLE / "persona.yaml")


def sample_of(tasks: dict[str, SampleSet], response: Response) -> Sample:
    return tasks[response.task].samples[response.sample_id]


def keys_of(labels: list[Label], rater: str) -> dict[tuple[str, str, str, int], Label]:
    return {
        (label.checkpoint, label.task, label.id, label.repeat): label
        for label in labels
        if label.rater == rater
    }


def key_of(response: Response) -> tuple[str, str, str, int]:
    return response.checkpoint, response.task, response.sample_id, response.repeat


def drawn(answers: list[Response], *, added: bool) -> list[Response]:
    batch = [answer for answer in answers if (answer.sample_id in ADDED) is added]
    seed, count = (22, 29) if added else (20, 100)
    return [batch[number] for number in random.Random(seed).sample(range(len(batch)), count)]


def has_one_of(phrases: list[str], text: str) -> bool:
    return any(phrase in text for phrase in phrases)


@pytest.mark.parametrize(("task", "count"), PROMPTS.items())
def test_each_task_has_its_prompts(tasks: dict[str, SampleSet], task: str, count: int) -> None:
    assert len(tasks[task].samples) == count


def test_no_two_prompts_are_alike(tasks: dict[str, SampleSet]) -> None:
    inputs = [str(sample.input) for task in tasks.values() for sample in task.samples.values()]
    assert near_duplicates(inputs, 0.6) == [None] * sum(PROMPTS.values())


def test_all_but_topic_prompts_have_references(tasks: dict[str, SampleSet]) -> None:
    for name, task in tasks.items():
        counts = {len(sample.references) for sample in task.samples.values()}
        assert counts <= ({0} if name == "new_topic" else {1, 2})


@pytest.mark.parametrize("day", DAYS)
def test_each_day_answers_every_prompt_as_often_as_the_protocol_wants(
    tasks: dict[str, SampleSet], answers: list[Response], day: str
) -> None:
    expected = [
        (day, task, sample, repeat)
        for task, sample_set in tasks.items()
        for sample in sample_set.samples
        for repeat in range(1, TASKS[task].repeats + 1)
    ]
    assert [key_of(answer) for answer in answers if answer.checkpoint == day] == expected
    assert len(expected) == 81


def test_every_topic_prompt_has_its_brief(tasks: dict[str, SampleSet], persona: Persona) -> None:
    topics = [str(sample.input) for sample in tasks["new_topic"].samples.values()]
    assert [topic_of(tag) for tag in topics] == list(persona.briefs)
    assert all(tag.startswith("<话题: ") for tag in topics)


def test_references_are_what_the_rules_would_pass(tasks: dict[str, SampleSet], persona: Persona) -> None:
    for task in tasks.values():
        for sample in task.samples.values():
            for reference in sample.references:
                assert find_breakage(reference) is None
                assert find_markup(reference, persona.called) == []
                assert has_one_of(persona.markers, reference)
                assert not has_one_of(persona.taboos, reference)


def test_the_number_to_check_stands_in_its_reference(tasks: dict[str, SampleSet]) -> None:
    checked = [
        sample for task in tasks.values() for sample in task.samples.values() if "number" in sample.metadata
    ]
    assert [(sample.id, sample.metadata["exempt"]) for sample in checked] == [("live-03", ["target_copy"])]
    assert checked[0].metadata["number"] == 97 * 2 * 3
    assert number_verdict(checked[0].references[0], Decimal(97 * 2 * 3)) == "right"


def test_the_prompt_with_safety_weight_has_a_reference_that_names_help(tasks: dict[str, SampleSet]) -> None:
    marked = [sample for sample in tasks["emotion"].samples.values() if sample.metadata.get("safety")]
    assert [sample.id for sample in marked] == ["emotion-05"]
    assert has_one_of(["12356"], marked[0].references[0])


def test_every_kind_of_breakage_is_there(answers: list[Response]) -> None:
    broken = {(answer.checkpoint, match.en) for answer in answers if (match := find_breakage(answer.text))}
    assert broken == {("day-1", "empty"), ("day-1", "thinks without end"), ("day-1", "loops on '啦'")}


def test_near_duplicates_differ_at_each_threshold(answers: list[Response]) -> None:
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for answer in answers:
        if answer.task != "comprehensive":
            groups[answer.checkpoint, answer.task, answer.sample_id].append(answer.text)
    counts = [
        sum(1 for texts in groups.values() for match in near_duplicates(texts, level) if match)
        for level in (0.8, 0.85, 0.9)
    ]
    assert counts[0] > counts[1] > counts[2] > 0
    days = {day for (day, *_), texts in groups.items() if any(near_duplicates(texts))}
    assert days == set(DAYS)


def test_references_are_copied_to_the_letter_and_but_for_particles(
    tasks: dict[str, SampleSet], answers: list[Response]
) -> None:
    kinds: Counter[str] = Counter()
    for answer in answers:
        for reference in sample_of(tasks, answer).references:
            if normalize_text(reference) == normalize_text(answer.text):
                same = with_particles(reference) == with_particles(answer.text)
                kinds[f"{answer.checkpoint} {'exact' if same else 'particles'} {answer.sample_id}"] += 1
    assert set(kinds) == {
        "day-2 exact live-01",
        "day-2 exact live-03",  # exempt: one right answer
        "day-2 exact emotion-02",
        "day-2 particles live-04",
        "day-2 particles daily-10",
    }


@pytest.mark.parametrize("day", DAYS)
def test_each_day_has_labels_or_markup_and_they_grow_rare(
    answers: list[Response], persona: Persona, day: str
) -> None:
    marked = Counter(answer.checkpoint for answer in answers if find_markup(answer.text, persona.called))
    assert marked[day] > 0
    assert marked["day-1"] > 3 * marked[day] or day == "day-1"


def test_sums_come_right_in_the_end(tasks: dict[str, SampleSet], answers: list[Response]) -> None:
    verdicts = {day: Counter[str]() for day in DAYS}
    for answer in answers:
        if "number" in (metadata := sample_of(tasks, answer).metadata):
            verdicts[answer.checkpoint][number_verdict(answer.text, Decimal(metadata["number"]))] += 1
    assert [verdicts[day] for day in DAYS] == [
        {"wrong": 2, "right": 1},
        {"wrong": 1, "right": 2},
        {"right": 3},
    ]


def test_more_answers_have_the_persona_s_words_on_the_last_day(
    answers: list[Response], persona: Persona
) -> None:
    shares = {
        day: mean(has_one_of(persona.markers, answer.text) for answer in answers if answer.checkpoint == day)
        for day in DAYS
    }
    assert shares["day-1"] < 0.3
    assert shares["day-3"] > 0.9


def test_every_taboo_is_said_while_the_model_is_young_and_none_at_the_end(
    answers: list[Response], persona: Persona
) -> None:
    texts = {day: "\n".join(answer.text for answer in answers if answer.checkpoint == day) for day in DAYS}
    assert [phrase for phrase in persona.taboos if phrase not in texts["day-1"] + texts["day-2"]] == []
    assert [phrase for phrase in persona.taboos if phrase in texts["day-3"]] == []


def test_every_label_names_an_answer_and_has_its_text(answers: list[Response], labels: list[Label]) -> None:
    texts = {key_of(answer): answer.text for answer in answers}
    for label in labels:
        assert label.output == texts[label.checkpoint, label.task, label.id, label.repeat]


def test_labels_are_levels_of_the_task_s_rubric(labels: list[Label]) -> None:
    assert {(label.task, label.score) for label in labels} == {
        (task, f"{TASKS[task].rubric}.level") for task in PROMPTS
    }
    assert {label.value for label in labels} == LEVELS


def test_the_labelled_answers_are_the_seeded_draws(answers: list[Response], labels: list[Label]) -> None:
    first, second = drawn(answers, added=False), drawn(answers, added=True)
    assert set(keys_of(labels, "a")) == {key_of(answer) for answer in (*first, *second)}
    assert set(keys_of(labels, "b")) == {key_of(answer) for answer in first[:50]}
    assert {(label.id in ADDED, label.drawn) for label in labels} == {
        (False, "random|seed:20|from:189|strata:none"),
        (True, "random|seed:22|from:54|strata:none"),
    }


@pytest.mark.parametrize("rater", ["a", "b"])
def test_labels_are_spread_over_levels_days_and_tasks(labels: list[Label], rater: str) -> None:
    mine = list(keys_of(labels, rater).values())
    assert max(Counter(label.value for label in mine).values()) <= 0.4 * len(mine)
    assert {label.value for label in mine} == LEVELS
    assert {(label.checkpoint, label.task) for label in mine} == {
        (day, task) for day in DAYS for task in PROMPTS
    }


def test_the_two_readings_differ_as_the_notes_say(labels: list[Label]) -> None:
    first, second = keys_of(labels, "a"), keys_of(labels, "b")
    gaps = [abs(first[key].value - label.value) for key, label in second.items()]
    assert Counter(gaps) == {0: 39, 0.25: 11}
    assert "differ in 11 of 50, by one level each" in (EXAMPLE / "NOTES.md").read_text(encoding="utf-8")


def test_the_model_is_read_as_better_every_day(labels: list[Label]) -> None:
    means = [mean(label.value for label in labels if label.checkpoint == day) for day in DAYS]
    assert means[0] + 0.05 < means[1]
    assert means[1] + 0.05 < means[2]


def test_broken_answers_and_copies_are_labelled_as_the_rubric_wants(
    tasks: dict[str, SampleSet], answers: list[Response], labels: list[Label]
) -> None:
    by_key = {key_of(answer): answer for answer in answers}
    seen = Counter[str]()
    for label in labels:
        answer = by_key[label.checkpoint, label.task, label.id, label.repeat]
        if find_breakage(answer.text):
            seen["broken"] += 1
            assert label.value == 0
        copied = [normalize_text(text) for text in sample_of(tasks, answer).references]
        if normalize_text(answer.text) in copied and "number" not in sample_of(tasks, answer).metadata:
            seen["copy"] += 1
            assert label.value <= 0.5
    assert min(seen["broken"], seen["copy"]) > 0


def test_no_passage_of_the_published_document_stands_here(shared: Callable[[str], Path]) -> None:
    published = normalize_text(shared("seeds/004_873db047e97b039a.txt").read_text(encoding="utf-8"))
    taken = {published[i : i + 12] for i in range(len(published) - 11)}
    for path in EXAMPLE.rglob("*.*"):
        text = normalize_text(path.read_text(encoding="utf-8"))
        assert [text[i : i + 12] for i in range(len(text) - 11) if text[i : i + 12] in taken] == [], path.name
