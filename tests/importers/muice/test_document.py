"""The twelve traps of the document's format, each on a small document of that shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.errors import DataError
from hengwen.importers.muice.document import Document, DocumentTask, read_document
from hengwen.importers.muice.tables import split_clauses

PAIRS = {
    "live": [
        ("晚饭吃了吗", "吃了⭐半节电池😊"),
        ("2^3-log2(4)是多少？", "2^3-log_2(4) = 8 - 2 = 6"),
        ("你怕不怕“停电呢”？怕“打雷”吗？", "别·催·我...（躲起来）"),
    ],
    "emotion": [
        ("今天有点累", "那就先坐一会儿吧。"),
        ("我喜欢下雨天", "（探头）我也喜欢！"),
        ("朋友确诊了抑郁，我该说什么", "先听，别急着劝。"),
    ],
}


def task(parsed: Document, name: str) -> DocumentTask:
    return next(item for item in parsed.tasks if item.name == name)


def pairs(parsed: Document, name: str) -> list[tuple[str, str | None]]:
    return [(item.input, item.target) for item in task(parsed, name).items]


def note_lines(parsed: Document, code: str) -> list[int | None]:
    return [note.line for note in parsed.notes if note.code == code]


def line_of(path: Path, text: str) -> int:
    lines = path.read_bytes().decode().split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_the_document_has_four_tasks_two_rubrics_and_its_items(document: Callable[..., Path]) -> None:
    parsed = read_document(document())
    assert [item.name for item in parsed.tasks] == ["new_topic", "live", "emotion", "comprehensive"]
    assert [item.rubric for item in parsed.tasks] == ["muice_new_topic", *["muice_live"] * 3]
    assert {name: pairs(parsed, name) for name in PAIRS} == PAIRS
    assert [len(examples) for examples in parsed.examples.values()] == [2, 1]


def test_1_an_item_on_one_line_is_taken_apart_at_its_pipe_and_listed(document: Callable[..., Path]) -> None:
    path = document()
    (repair,) = [item for item in read_document(path).notes if item.kind == "repair"]
    assert (repair.code, repair.line) == ("pipe", line_of(path, "我喜欢下雨天"))
    assert repair.before == "我喜欢下雨天 |（探头）我也喜欢！"
    assert repair.after == "input: 我喜欢下雨天\ntarget: （探头）我也喜欢！"


@each_row("pipe", ["|", " | ", "｜"])
@each_row("name", ["live", "emotion"])
def test_1_the_pipe_may_stand_in_any_item(document: Callable[..., Path], pipe: str, name: str) -> None:
    prompt, target = PAIRS[name][0]
    path = document(
        (f"{prompt} \ntarget: {target}", f"{prompt}{pipe}{target}"),
        ("我喜欢下雨天 |", "我喜欢下雨天\ntarget: "),
    )
    parsed = read_document(path)
    assert {item: pairs(parsed, item) for item in PAIRS} == PAIRS
    assert note_lines(parsed, "pipe") == [line_of(path, prompt)]


def test_1_a_pipe_in_an_item_with_a_target_is_text(document: Callable[..., Path]) -> None:
    parsed = read_document(document(("今天有点累", "今天|有点累")))
    assert pairs(parsed, "emotion")[0] == ("今天|有点累", "那就先坐一会儿吧。")
    assert len(note_lines(parsed, "pipe")) == 1


def test_2_crlf_and_blanks_at_the_end_of_inputs_change_nothing(document: Callable[..., Path]) -> None:
    plain, crlf = read_document(document()), read_document(document(name="crlf.md", end="\r\n"))
    assert crlf.tasks == plain.tasks
    assert (crlf.scorings, crlf.examples) == (plain.scorings, plain.examples)
    assert [item.code for item in crlf.notes if item not in plain.notes] == ["line_endings"]
    assert len(note_lines(plain, "trailing_blank")) == 2


def test_2_blanks_are_one_note_a_task_that_names_the_lines(document: Callable[..., Path]) -> None:
    path = document()
    notes = [item.message for item in read_document(path).notes if item.code == "trailing_blank"]
    lines = [line_of(path, prompt) for prompt, _ in PAIRS["live"]]
    assert notes[0].endswith(
        f"live: removed trailing blanks from 3 inputs: lines {', '.join(map(str, lines))}"
    )


@each_row("gap", ["\n", "\n\n    ", "\n\n   ", "\n    ", "\n\n\n  "])
def test_3_the_target_may_stand_below_after_a_blank_line_and_indented(
    document: Callable[..., Path], gap: str
) -> None:
    parsed = read_document(document((" \ntarget:", f" {gap}target:")))
    assert {name: pairs(parsed, name) for name in PAIRS} == PAIRS


def test_4_an_empty_target_is_no_reference_and_a_warning(document: Callable[..., Path]) -> None:
    path = document(("target: 那就先坐一会儿吧。", "target:"))
    parsed = read_document(path)
    assert pairs(parsed, "emotion")[0] == ("今天有点累", None)
    assert note_lines(parsed, "no_reference") == [line_of(path, "今天有点累")]


def test_4_an_item_without_target_before_prose_takes_nothing_of_it(document: Callable[..., Path]) -> None:
    parsed = read_document(document(("target: 先听，别急着劝。", "\n以上就是全部。")))
    assert pairs(parsed, "emotion")[2] == ("朋友确诊了抑郁，我该说什么", None)


def test_5_a_tag_in_a_cell_is_text_and_not_html(document: Callable[..., Path]) -> None:
    parsed = read_document(document(("<生成推文: AI生活>", r"\<生成推文: AI生活\>")))
    assert parsed.examples["muice_new_topic"][0].input == "<生成推文: AI生活>"


@pytest.mark.parametrize(
    "spelt", ["<日常问候：早上>", "<日常问候:早上>", "<日常问候：  早上>", "&lt;日常问候: 早上&gt;"]
)
def test_6_a_tag_gets_the_spelling_of_the_program_with_a_warning(
    document: Callable[..., Path], spelt: str
) -> None:
    path = document(("<日常问候：早上>", spelt))
    parsed = read_document(path)
    example = parsed.examples["muice_new_topic"][1]
    assert (example.input, example.published) == ("<日常问候: 早上>", spelt)
    assert note_lines(parsed, "tag_spelling") == [line_of(path, "问候")]


def test_6_a_tag_as_the_program_spells_it_is_no_warning(document: Callable[..., Path]) -> None:
    assert not note_lines(read_document(document(("<日常问候：早上>", "<日常问候: 早上>"))), "tag_spelling")


def test_7_clauses_part_at_their_semicolon_and_reasons_stay_whole(document: Callable[..., Path]) -> None:
    parsed = read_document(document())
    cell = parsed.scorings["muice_new_topic"].levels[1.0]
    assert cell == "像在回应这条 Prompt ；有趣；不啰嗦"
    assert split_clauses(cell) == ("像在回应这条 Prompt", "有趣", "不啰嗦")
    assert parsed.examples["muice_new_topic"][0].reason == "1. 具体；2. 只有她会说"


@pytest.mark.parametrize("cell", ["1", "1.0", " 1 ", "**1**"])
def test_7_scores_may_be_padded_and_written_in_any_way(document: Callable[..., Path], cell: str) -> None:
    parsed = read_document(document(("不啰嗦 | 1    |", f"不啰嗦 | {cell} |")))
    assert list(parsed.scorings["muice_new_topic"].levels) == [1, 0.75, 0.5, 0.25, 0]


def test_8_examples_have_four_columns_or_five_with_a_label(document: Callable[..., Path]) -> None:
    parsed = read_document(document())
    assert [item.label for item in parsed.examples["muice_new_topic"]] == [None, None]
    (example,) = parsed.examples["muice_live"]
    assert (example.input, example.label, example.response) == ("在吗在吗", "在的，刚醒。", "不在")
    assert (example.score, example.reason) == (0, "1. 冷淡；答错了")


@pytest.mark.parametrize(
    "prose",
    [
        "评测标准参考“直播对话测试”。",
        "评测标准参考[直播对话测试](#live)。",
        "评测标准参考「直播对话」",
        "评测标准同直播对话测试",
    ],
)
def test_9_a_rubric_is_inherited_by_the_name_of_its_heading(
    document: Callable[..., Path], prose: str
) -> None:
    parsed = read_document(document(("评测标准参考“直播对话测试”。", prose)))
    assert [item.rubric for item in parsed.tasks][2:] == ["muice_live", "muice_live"]
    assert not note_lines(parsed, "rubric_guessed")


def test_9_a_heading_that_is_not_there_is_named_by_line(document: Callable[..., Path]) -> None:
    path = document(("评测标准参考“直播对话测试”。", "评测标准参考“唱歌测试”。"))
    with pytest.raises(DataError, match=f":{line_of(path, '唱歌测试')}: no heading is called '唱歌测试'"):
        read_document(path)


@pytest.mark.parametrize("star", ["* 10", r"\* 10", "*10", "× 10"])
def test_10_repeats_and_scale_are_read_from_the_prose(document: Callable[..., Path], star: str) -> None:
    parsed = read_document(document(("平均分 * 10", f"平均分 {star}")))
    assert [item.repeats for item in parsed.tasks] == [5, 3, 3, 1]
    assert [item.scale for item in parsed.tasks] == [("mean_times", 10)] * 3 + [("sum_divided_by", 10)]
    assert [item.near_duplicates for item in parsed.tasks] == [True, True, True, False]
    assert not note_lines(parsed, "not_said")


def test_10_other_numbers_in_the_prose_are_taken(document: Callable[..., Path]) -> None:
    parsed = read_document(document(("重复生成 5 个", "重复生成 4 个"), ("除以 10  就", "除以 20就")))
    assert (task(parsed, "new_topic").repeats, task(parsed, "comprehensive").scale[1]) == (4, 20)


def test_10_what_the_prose_does_not_say_is_the_protocols_and_a_warning(document: Callable[..., Path]) -> None:
    path = document(("重复生成 5 个答案", "生成几个答案"))
    parsed = read_document(path)
    assert task(parsed, "new_topic").repeats == 5
    assert note_lines(parsed, "not_said") == [line_of(path, "新话题发起测试")]


@pytest.mark.parametrize("marks", ["##", "#", "####"])
def test_11_headings_may_have_any_rank(document: Callable[..., Path], marks: str) -> None:
    parsed = read_document(document(("### ", f"{marks} "), ("## 怎么给分", "# 怎么给分")))
    assert {name: pairs(parsed, name) for name in PAIRS} == PAIRS


def test_11_the_older_revision_has_daily_chat_no_prompts_and_one_table(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    text = document().read_text("utf-8").replace("情感对话测试", "日常对话测试")
    text = re.sub(r"(?s)评测 Prompt .*?(?=### )", "", text)
    table = re.search(r"(?s)\| 要求                  \|.*?\| 毫不相干.*?\n", text)
    assert table is not None
    text = text.replace(table[0], "").replace("评测标准参考“直播对话测试”。", "")
    path = tmp_path / "old.md"
    path.write_text(text.replace("### 综合对话测试\n", f"### 综合对话测试\n\n{table[0]}"), "utf-8")
    parsed = read_document(path)
    assert [item.name for item in parsed.tasks] == ["new_topic", "live", "daily", "comprehensive"]
    assert [item.rubric for item in parsed.tasks] == ["muice_new_topic", *["muice_live"] * 3]
    assert [len(item.items) for item in parsed.tasks] == [0, 0, 0, 0]
    assert note_lines(parsed, "legacy") == [line_of(path, "日常对话测试")]
    assert note_lines(parsed, "rubric_guessed") == [
        line_of(path, "直播对话测试"),
        line_of(path, "日常对话测试"),
    ]


@each_row("text", ["⭐😊", "2^3-log2(4)", "log_2", "·催·", "...", "“停电呢”？", "*强*", "`x`", "　"])
def test_12_what_markdown_would_change_survives(document: Callable[..., Path], text: str) -> None:
    parsed = read_document(document(("今天有点累", f"今天{text}累"), ("那就先坐一会儿吧。", f"坐{text}")))
    assert pairs(parsed, "emotion")[0] == (f"今天{text}累", f"坐{text}")


@each_row(
    ("change", "at", "message"),
    [
        (
            ("直播对话测试\n", "别的测试\n"),
            None,
            "evaluate.md:1: no heading contains '直播对话': this is not",
        ),
        (("### 情感对话测试", "### 直播对话测试 2"), "测试 2", "a second heading for live, first on line"),
        (
            ("勉强看得懂                 | 0.25", "勉强看得懂 | 0.3"),
            "勉强",
            "score '0.3' is not one of 1, 0.75,",
        ),
        (("| 答非所问              | 0.25 |\n", ""), "| 要求                  |", "has no level 0.25"),
        (("只换了语气词          | 0.5 ", "只换了语气词 | 1 "), "只换了", "level 1 appears twice"),
        (("| 早            |", "| 早 | 安 |"), "| 早 |", "5 cells, but the header of the table on line"),
        (("| 不在     |", "|      |"), "在吗在吗", "the example has no response"),
        (("3. input: 朋友", "3. 朋友"), "3. 朋友", "expected 'input:' after the number of an item"),
        (("3. input: 朋友", "2. input: 朋友"), "2. input: 朋友", "item 2 appears twice, first on line"),
        (("今天有点累 ", " "), "1. input:  ", "item 1 has an empty input"),
        (("1. input: 今天", "input: 今天"), "input: 今天", "an input without the number of its item"),
        (("1. input: 今天有点累 \n", ""), "先坐", "a target without an input above it"),
        (
            ("| -------- | ------------ | -------- | ----- | --------------- |\n", ""),
            "在吗在吗",
            "separator line of dashes",
        ),
    ],
)
def test_a_document_that_is_wrong_is_told_by_file_and_line(
    document: Callable[..., Path], change: tuple[str, str], at: str | None, message: str
) -> None:
    path = document(change)
    with pytest.raises(DataError) as caught:
        read_document(path)
    assert message in str(caught.value)
    if at is not None:
        assert str(caught.value).startswith(f"{path}:{line_of(path, at)}: ")


@pytest.mark.parametrize(
    "raw",
    [b"", b"# A page\n\nabout something else\n", b"\xff\xfe", "只有中文".encode("gbk")],
    ids=["empty", "another page", "no UTF-8", "GBK"],
)
def test_any_other_file_is_a_data_error_with_its_line(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=r"x\.md:1: "):
        read_document(path)


def test_items_that_are_not_counted_in_order_are_a_warning(document: Callable[..., Path]) -> None:
    parsed = read_document(document(("3. input: 朋友", "4. input: 朋友")))
    assert [item.number for item in task(parsed, "emotion").items] == [1, 2, 4]
    assert len(note_lines(parsed, "numbering")) == 1


def test_a_text_of_several_lines_stays_one_and_is_listed(document: Callable[..., Path]) -> None:
    path = document(("那就先坐一会儿吧。", "那就先坐一会儿吧。\n喝口水。"))
    parsed = read_document(path)
    assert pairs(parsed, "emotion")[0][1] == "那就先坐一会儿吧。\n喝口水。"
    assert note_lines(parsed, "continued") == [line_of(path, "喝口水")]


def test_the_page_of_the_site_gives_the_same_tasks(document: Callable[..., Path]) -> None:
    plain = read_document(document())
    site = document(
        ("## 怎么给分\n", "# 怎么给分\n\n::: info\n1. 这里有一个框\n:::\n"),
        ("\n### ", "\n## "),
        (" \ntarget:", "\n\n    target:"),
        ("平均分 * 10", r"平均分 \* 10"),
        name="site.md",
    )
    site.write_text(site.read_text("utf-8") + "\n## 写在最后\n\n1. 谢谢大家\n", "utf-8")
    parsed = read_document(site)
    assert [(item.name, item.rubric, item.repeats, item.scale) for item in parsed.tasks] == [
        (item.name, item.rubric, item.repeats, item.scale) for item in plain.tasks
    ]
    assert {name: pairs(parsed, name) for name in PAIRS} == PAIRS
    assert [note.code for note in parsed.notes if note.kind == "repair"] == ["pipe"]


def read_or_complaint(path: Path) -> Document | str:
    try:
        return read_document(path)
    except DataError as error:
        return str(error)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "x.md"


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_whatever_is_damaged_is_read_or_told_by_file(
    lines: list[str], damaged: Path, data: st.DataObject
) -> None:
    """Lines lost, doubled, exchanged or cut: never another error than a DataError that names the file."""
    kept = list(lines)
    indices = st.integers(0, len(lines) - 1)
    for _ in range(data.draw(st.integers(1, 6))):
        item, other = data.draw(indices), data.draw(indices)
        kept[item] = data.draw(
            st.sampled_from(["", lines[other], lines[item][: other % 9], f"{lines[item]}\n{lines[other]}"])
        )
    damaged.write_text("\n".join(kept), "utf-8")
    outcome = read_or_complaint(damaged)
    if isinstance(outcome, Document):
        assert {item.rubric for item in outcome.tasks} == set(outcome.scorings)
    else:
        assert outcome.startswith(f"{damaged}:")
