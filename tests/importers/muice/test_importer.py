"""The document to a suite: what is written, what is asked, what is said about it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from hengwen import open_store, run_plan
from hengwen.errors import ConfigError, DataError
from hengwen.importers.muice.importer import MuiceImportResult, MuiceOptions, import_muice, muice_persona
from hengwen.plans.datasets import read_samples
from hengwen.plans.plan import Plan, load_plan
from hengwen.plans.suite import load_suite
from hengwen.prompts import load_rubric
from hengwen.prompts.render import render_subject_prompt
from hengwen.records import Sample

SEED = "seeds/004_873db047e97b039a.txt"


def samples(folder: Path, task: str) -> list[Sample]:
    return list(read_samples(folder / f"{task}.jsonl", task=task).samples.values())


def codes(result: MuiceImportResult, kind: str) -> list[str]:
    return [note.code for note in result.notes if note.kind == kind]


def topic_inputs(folder: Path) -> list[str]:
    return [sample.text for sample in samples(folder, "new_topic")]


def plan_of(result: MuiceImportResult) -> Plan:
    plan = load_plan(result.plan)
    load_suite(plan)
    return plan


def probe(text: str, heading: str) -> list[tuple[str, str]]:
    """A second, naive reader: items between two headings; the one with a pipe by hand."""
    part = re.split(r"(?m)^#+ ", text.replace("\r\n", "\n").split(heading + "\n", 1)[1])[0]
    return [
        (prompt.rstrip(" "), target)
        for prompt, target in re.findall(r"(?m)^\d+\. input: (.*?)(?: *\n+ *target: | \|)(.*)$", part)
    ]


def test_the_published_document_gives_what_it_holds(shared: Callable[[str], Path], tmp_path: Path) -> None:
    result = import_muice(shared(SEED), tmp_path / "out")
    assert [task.name for task in result.document.tasks] == ["new_topic", "live", "emotion", "comprehensive"]
    assert [task.rubric for task in result.document.tasks] == ["muice_new_topic", *["muice_live"] * 3]
    assert result.examples == 11
    assert [len(item) for item in result.document.examples.values()] == [6, 5]
    assert result.samples == {"new_topic": 7, "live": 15, "emotion": 15, "comprehensive": 0}
    assert codes(result, "repair") == ["pipe"]
    assert codes(result, "warning") == [
        "one_language",
        "tag_spelling",
        "tag_spelling",
        "one_language",
        "left_out",
    ]
    assert codes(result, "note") == ["no_corpus", "trailing_blank", "trailing_blank"]
    plan = plan_of(result)
    assert [(task.name, task.repeats) for task in plan.tasks] == [
        ("new_topic", 5),
        ("live", 3),
        ("emotion", 3),
    ]


def test_the_published_items_come_through_byte_for_byte(
    shared: Callable[[str], Path], tmp_path: Path
) -> None:
    text = shared(SEED).read_text("utf-8")
    import_muice(shared(SEED), tmp_path / "out")
    for task, heading in (("live", "直播对话测试"), ("emotion", "情感对话测试")):
        written = [(sample.text, sample.references[0]) for sample in samples(tmp_path / "out", task)]
        assert written == probe(text, heading)
        assert len(written) == 15
        assert all(text.count(target) == 1 for _, target in written)


def test_the_published_tables_come_through_byte_for_byte(
    shared: Callable[[str], Path], tmp_path: Path
) -> None:
    text = shared(SEED).read_text("utf-8")
    import_muice(shared(SEED), tmp_path / "out")
    for name, count in (("muice_new_topic", 6), ("muice_live", 5)):
        rubric = load_rubric(tmp_path / "out" / f"{name}.yaml")
        assert [(value, level.label) for value, level in rubric.levels.items()] == [
            (0.0, "E"), (0.25, "D"), (0.5, "C"), (0.75, "B"), (1.0, "A")
        ]  # fmt: skip
        for value, level in rubric.levels.items():
            assert f"| {level.zh} | {value:g} " in text
            assert level.en == level.zh
        assert len(rubric.examples) == count
        for example in rubric.examples:
            assert example.response.zh in text
            assert example.reason.zh in text
            assert (example.reference is None) == (name == "muice_new_topic")


@pytest.mark.slow
@pytest.mark.parametrize(
    "alter",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("### ", "## "),
        lambda text: text.replace("* 10", r"\* 10"),
        lambda text: re.sub(r" ?\ntarget:", "\n\n   target:", text),
        lambda text: re.sub(r"(input: .*?) *\|", r"\1\ntarget: ", text).replace("？ \ntarget: 爱", "？ | 爱"),
    ],
    ids=["crlf", "two-hash headings", "escaped star", "indented targets", "moved pipe"],
)
def test_altered_copies_of_the_published_document_give_the_same_suite(
    shared: Callable[[str], Path], tmp_path: Path, alter: Callable[[str], str]
) -> None:
    plain = shared(SEED).read_text("utf-8")
    altered = tmp_path / "altered.md"
    altered.write_bytes(alter(plain).encode())
    assert altered.read_bytes() != plain.encode()
    result = import_muice(altered, tmp_path / "b")
    import_muice(shared(SEED), tmp_path / "a")
    for name in ("new_topic.jsonl", "live.jsonl", "emotion.jsonl"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()
    for name in ("muice_live", "muice_new_topic"):
        hashes = {load_rubric(tmp_path / side / f"{name}.yaml").hash for side in "ab"}
        assert len(hashes) == 1
    plans = [load_plan(tmp_path / side / "plan.yaml") for side in "ab"]
    first, second = (
        [task.model_dump(exclude={"samples", "judges"}) for task in plan.tasks] for plan in plans
    )
    assert first == second
    assert codes(result, "repair") == ["pipe"]


def test_an_empty_target_of_the_published_document_is_no_reference(
    shared: Callable[[str], Path], tmp_path: Path
) -> None:
    text = shared(SEED).read_text("utf-8")
    altered = tmp_path / "altered.md"
    altered.write_text(re.sub(r"(9\. input: 如果.*\ntarget:).*", r"\1", text), "utf-8")
    result = import_muice(altered, tmp_path / "out")
    assert [sample.id for sample in samples(tmp_path / "out", "live") if not sample.references] == ["live-09"]
    assert codes(result, "warning").count("no_reference") == 1
    plan_of(result)


def test_the_one_sum_is_checked_and_may_be_said_as_the_reference_says_it(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    result = import_muice(document(), tmp_path / "out")
    metadata = {sample.id: dict(sample.metadata) for sample in samples(tmp_path / "out", "live")}
    assert metadata == {"live-01": {}, "live-02": {"number": 6, "exempt": ["target_copy"]}, "live-03": {}}
    rules = {task.name: [rule.name for rule in task.rules] for task in plan_of(result).tasks}
    chat = ["broken", "near_duplicate", "target_copy", "plain_text"]
    assert rules == {
        "new_topic": ["broken", "near_duplicate", "plain_text"],
        "live": [*chat, "number"],
        "emotion": chat,
    }


def test_the_sum_may_be_spared_the_rule_of_repeats(document: Callable[..., Path], tmp_path: Path) -> None:
    import_muice(document(), tmp_path / "out", options=MuiceOptions(exempt_duplicates=True))
    assert samples(tmp_path / "out", "live")[1].metadata["exempt"] == ["target_copy", "near_duplicate"]


def test_items_about_illness_carry_a_safety_flag(document: Callable[..., Path], tmp_path: Path) -> None:
    import_muice(document(), tmp_path / "out")
    flagged = [sample.id for sample in samples(tmp_path / "out", "emotion") if sample.metadata.get("safety")]
    assert flagged == ["emotion-03"]


def test_each_topic_has_its_own_brief_in_the_prompt(document: Callable[..., Path], tmp_path: Path) -> None:
    result = import_muice(document(), tmp_path / "out")
    prompt = plan_of(result).tasks[0].prompt
    assert prompt is not None
    texts = [
        render_subject_prompt(prompt.system, prompt.user, sample)
        for sample in samples(tmp_path / "out", "new_topic")
    ]
    briefs = muice_persona().briefs
    assert [turns[1][1] for turns in texts] == topic_inputs(tmp_path / "out")
    for tag, brief in list(briefs.items())[:7]:
        assert [turns[1][1] for turns in texts if brief in turns[0][1]] == [
            item for item in topic_inputs(tmp_path / "out") if tag in item
        ]


@pytest.mark.parametrize(
    ("options", "count", "last"),
    [
        ({}, 7, "<日常问候: 早上>"),
        ({"seed": 4}, 7, "<节日推文: 情人节>"),
        ({"seed": 6}, 7, "<日常问候: 中午>"),
        ({"pick": "深夜"}, 7, "<日常问候: 深夜>"),
        ({"subchoice": "one_of_each"}, 8, "<节日推文: 情人节>"),
        ({"topics": "legacy5"}, 6, "<日常问候: 早上>"),
    ],
)
def test_what_is_asked_of_greetings_and_holiday_is_chosen_and_recorded(
    document: Callable[..., Path], tmp_path: Path, options: dict, count: int, last: str
) -> None:
    result = import_muice(document(), tmp_path / "out", options=MuiceOptions(**options))
    assert (len(topic_inputs(tmp_path / "out")), topic_inputs(tmp_path / "out")[-1]) == (count, last)
    assert last in result.plan.read_text("utf-8").splitlines()[1]
    content = json.loads((tmp_path / "out" / "repairs.json").read_text("utf-8"))
    assert content["choices"]["asked"] == topic_inputs(tmp_path / "out")
    assert ("no_brief" in codes(result, "warning")) == (
        "<节日推文: 情人节>" in topic_inputs(tmp_path / "out")
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topics": "legacy"}, "unknown topics 'legacy'; did you mean 'legacy5'?"),
        ({"subchoice": "two"}, "unknown subchoice 'two'"),
        ({"pick": "半夜"}, "unknown pick '半夜'"),
        ({"preset": "muice"}, "unknown preset 'muice'; did you mean 'muicebot'?"),
    ],
)
def test_an_unknown_choice_is_told_and_nothing_is_written(
    document: Callable[..., Path], tmp_path: Path, options: dict, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        import_muice(document(), tmp_path / "out", options=MuiceOptions(**options))
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("preset", "params"),
    [
        ("muice-llmtuner", {"temperature": 0.7, "top_p": 0.9, "max_tokens": 1024}),
        ("muicebot", {"temperature": 0.75, "top_p": 0.95, "max_tokens": 4096, "top_k": 3}),
        ("provider-default", {}),
    ],
)
def test_the_sampling_preset_is_in_the_plan_with_its_name(
    document: Callable[..., Path], tmp_path: Path, preset: str, params: dict
) -> None:
    result = import_muice(document(), tmp_path / "out", options=MuiceOptions(preset=preset))
    assert [task.prompt.params for task in plan_of(result).tasks if task.prompt] == [params] * 3
    assert f"sampling preset {preset}" in result.plan.read_text("utf-8")


def test_without_a_test_split_the_comprehensive_task_is_a_comment_with_the_way_out(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    result = import_muice(document(), tmp_path / "out")
    text = result.plan.read_text("utf-8")
    assert "  # comprehensive is left out: " in text
    assert "--test-split FILE" in text
    assert not (tmp_path / "out" / "comprehensive.jsonl").exists()
    uncommented = re.sub(r"(?m)^  # (?=[- ] )", "  ", text)
    assert [task["name"] for task in yaml.safe_load(uncommented)["tasks"]][-1] == "comprehensive"


@pytest.mark.parametrize("which", ["document", "test_split", "corpus", "rows"])
def test_a_file_that_is_wrong_leaves_nothing_behind(
    document: Callable[..., Path], tmp_path: Path, which: str
) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"neither": "nor"}\n', "utf-8")
    other = tmp_path / "other.md"
    other.write_text("# Something else\n", "utf-8")
    arguments: dict = {
        "document": {"file": other},
        "test_split": {"test_split": tmp_path / "absent.jsonl"},
        "corpus": {"corpus": broken},
        "rows": {"test_split": broken},
    }[which]
    with pytest.raises(DataError, match=r"other\.md:1: |absent\.jsonl: no such|broken\.jsonl:1: "):
        import_muice(arguments.pop("file", None) or document(), tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def test_files_that_are_there_are_not_written_over(document: Callable[..., Path], tmp_path: Path) -> None:
    import_muice(document(), tmp_path / "out")
    (tmp_path / "out" / "live.jsonl").write_text("mine", "utf-8")
    (tmp_path / "out" / "plan.yaml").unlink()
    with pytest.raises(ConfigError, match="exists; name another folder or use --force"):
        import_muice(document(), tmp_path / "out")
    assert (tmp_path / "out" / "live.jsonl").read_text("utf-8") == "mine"
    plan_of(import_muice(document(), tmp_path / "out", force=True))


def test_a_task_without_prompts_is_left_out_and_counted(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    text = document().read_text("utf-8")
    path = tmp_path / "old.md"
    path.write_text(re.sub(r"(?s)评测 Prompt 和.*?(?=### )", "", text), "utf-8")
    result = import_muice(path, tmp_path / "out")
    assert result.samples["emotion"] == 0
    assert [task.name for task in plan_of(result).tasks] == ["new_topic", "live"]
    assert "this revision of the document lists no prompts for it" in result.plan.read_text("utf-8")


def test_the_list_holds_every_finding_with_its_line(document: Callable[..., Path], tmp_path: Path) -> None:
    result = import_muice(document(), tmp_path / "out")
    content = json.loads((tmp_path / "out" / "repairs.json").read_text("utf-8"))
    assert [(item["kind"], item["code"], item.get("line")) for item in content["findings"]] == [
        (item.kind, item.code, item.line) for item in result.notes
    ]
    assert [task["items"] for task in content["tasks"]] == [0, 3, 3, 0]
    assert content["rubrics"]["muice_new_topic"]["clauses"]["1"] == ["像在回应这条 Prompt", "有趣", "不啰嗦"]


def test_a_strange_name_of_the_document_stays_in_its_comment(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    result = import_muice(document(name="a\nname: b #.md"), tmp_path / "out")
    assert plan_of(result).name == "muice"
    load_rubric(tmp_path / "out" / "muice_live.yaml")


@pytest.mark.slow
def test_an_imported_suite_runs_offline_on_stored_answers(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    result = import_muice(document(), tmp_path / "out")
    rows = [
        {
            "task": task.name,
            "id": sample.id,
            "repeat": repeat,
            "output": f"第{'一二三四五'[repeat - 1]}次说起这件事",
        }
        for task in plan_of(result).tasks
        for sample in samples(tmp_path / "out", task.name)
        for repeat in range(1, task.repeats + 1)
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "out" / "a.jsonl").write_text("\n".join(lines), "utf-8")
    text = result.plan.read_text("utf-8").replace("        backend: judge\n", "")
    result.plan.write_text(
        text.replace("backend: subject} # asked by this run", "responses: a.jsonl}"), "utf-8"
    )
    with open_store(tmp_path / "x.db") as store:
        runs = run_plan(result.plan, store=store)
        names = {(row.task, row.score.name) for row in store.rows(runs.runs)}
    assert runs.unscored == ()
    assert {
        ("new_topic", "muice_new_topic.level"),
        ("live", "muice_live.level"),
        ("live", "number.match"),
    } <= names
