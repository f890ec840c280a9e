"""Shapes of training files, evidence of leakage at its limits, and repeats found by the hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from rows import each_row

from hengwen import registry
from hengwen.objective import TrainingSet, near_duplicates
from hengwen.objective.duplicates.minhash_index import candidates, rows_for
from hengwen.objective.duplicates.similarity import similarity
from hengwen.objective.duplicates.training_set import read_answers, with_particles
from hengwen.records import Response, Sample


@pytest.mark.parametrize("key", ["output", "label", "response", "completion", "answer", "chosen"])
def test_each_key_of_an_answer_is_read(tmp_path: Path, key: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"instruction": "x", key: "答"}), "utf-8")
    assert read_answers([str(path)])[0] == ["答"]


@pytest.mark.parametrize(
    ("turns", "role", "text"), [("conversations", "from", "value"), ("messages", "role", "content")]
)
@pytest.mark.parametrize("speaker", ["assistant", "gpt", "model", "bot"])
def test_each_name_of_the_assistant_is_read(
    tmp_path: Path, turns: str, role: str, text: str, speaker: str
) -> None:
    path = tmp_path / "train.jsonl"
    row = {
        turns: [
            {role: "user", text: "问"},
            {role: speaker, text: "一"},
            "no turn",
            {role: speaker},
            {role: speaker, text: 7},
            {role: speaker, text: "二"},
        ]
    }
    path.write_text(json.dumps(row), "utf-8")
    assert read_answers([str(path)])[0] == ["一", "二"]


def test_all_answers_of_a_row_and_of_all_files_are_read_in_order(tmp_path: Path) -> None:
    rows = tmp_path / "a.jsonl"
    row = {
        "chosen": "四",
        "output": "三",
        "messages": [{"role": "assistant", "content": "二"}],
        "conversations": [{"from": "gpt", "value": "一"}],
        "label": 7,
    }
    rows.write_bytes(b"\xef\xbb\xbf" + json.dumps(row).encode() + b'\n \n{"messages": null, "label": "x"}\n')
    lines = tmp_path / "b.txt"
    lines.write_text("五\n\n  \n 六 \n", "utf-8")
    answers, digest = read_answers([str(rows), str(lines)])
    assert answers == ["一", "二", "三", "四", "x", "五", " 六 "]
    assert digest == hashlib.sha256(rows.read_bytes() + lines.read_bytes()).hexdigest()[:12]


def test_a_list_may_stand_after_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text('\n [{"output": "一"},\n {"output": "二"}]', "utf-8")
    assert read_answers([str(path)])[0] == ["一", "二"]


@each_row(("near", "kind"), [(0.8, "near"), (5 / 6, "near"), (0.8334, "none"), (1, "none"), (0.01, "near")])
def test_a_near_copy_has_at_least_the_containment(near: float, kind: str) -> None:
    match = TrainingSet(["晚上好，今天的月亮很圆"], near=near).find("晚上好，今天的月亮很大")
    assert (match.kind, match.of, match.containment) == (kind, 0, 5 / 6)


def test_the_default_containment_is_four_in_five() -> None:
    train = TrainingSet(["一二三四五六七八九"])
    assert train.find("一二三四五六七八十").kind == "near"
    assert (
        train.find("一二三四五六七壹十") == ("none", 0, 0.6)
        or train.find("一二三四五六七壹十").kind == "none"
    )


def test_the_earliest_of_equally_close_turns_is_named() -> None:
    train = TrainingSet(["……", "我们一起去远方", "我们一起去远山", "我们一起去看海的地方", "我们一起去远方"])
    assert train.find("我们一起去远处").of == 1
    assert train.find("我们一起去看海").of == 3
    assert train.find("我们一起去远方！") == train.find("我们一起去远方")
    assert train.find("我们一起去远方").of == 1


def test_a_text_of_five_letters_can_be_contained_and_one_of_four_cannot() -> None:
    train = TrainingSet(["甲乙丙丁戊己"])
    assert (train.find("甲乙丙丁戊").kind, train.find("甲乙丙丁戊").containment) == ("near", 1.0)
    assert (train.find("甲乙丙丁").kind, train.find("甲乙丙丁").of) == ("none", None)


def test_a_repeated_part_of_an_answer_counts_once() -> None:
    match = TrainingSet(["一二三四五六"]).find("一二三四五一二三四五")
    assert match.containment == pytest.approx(1 / 5)


def test_letters_marks_and_digits_are_kept_with_particles() -> None:
    assert with_particles("好的呀~ e\u0301१２ 走吧！\u200d") == "好的呀é१2走吧"
    assert with_particles("ก็X_+") == "ก็X"


def test_leakage_takes_several_files_and_its_limit(tmp_path: Path) -> None:
    for number, text in enumerate(("晚上好，今天的月亮很圆", "我想吃鱼")):
        (tmp_path / f"{number}.txt").write_text(text, "utf-8")
    paths = [str(tmp_path / "0.txt"), str(tmp_path / "1.txt")]
    answer = Response(sample_id="1", text="晚上好，今天的月亮很大")
    digest = read_answers(paths)[1]
    for near, kind in ((0.8, "near"), (0.9, "none")):
        scorer = registry.build("scorers", "leakage", {"corpus": paths, "near": near})
        (score,) = scorer.score(Sample(id="1"), answer)
        assert scorer.signature == f"leakage|corpus:{digest}|near:{near}|gram:5|v:1"
        assert (score.value, score.details) == (5 / 6, {"kind": kind, "of": 0})
        assert score.reason == f"{kind}, closest to answer 1 of the corpus"
    (score,) = scorer.score(Sample(id="1"), Response(sample_id="1", text="我想吃鱼"))
    assert score.details == {"kind": "exact", "of": 1}
    assert registry.build("scorers", "leakage", {"corpus": paths}).near == 0.8


@each_row(
    ("jaccard", "hashes", "recall", "rows"),
    [
        (0.38, 600, 0.95, 4),
        (0.85, 130, 0.99, 8),
        (1.0, 600, 0.95, 12),
        (0.0, 600, 0.95, 1),
        (0.5, 2, 0.75, 1),
        (0.5, 1, 0.5, 1),
        (0.1, 10, 0.99, 1),
    ],
)
def test_as_many_rows_as_the_recall_allows(jaccard: float, hashes: int, recall: float, rows: int) -> None:
    assert rows_for(jaccard, hashes, recall) == rows
    expected = [r for r in range(1, 13) if 1 - (1 - jaccard**r) ** (hashes // r) >= recall]
    assert rows == max(expected, default=1)


def test_the_hashes_find_all_pairs_of_equal_bigrams() -> None:
    texts = ["ab", "哈哈", "哈哈哈", "好", "\ud800a", "\ud800ab", "a", "b", "abc" * 30, "bca" * 30]
    lists = [[list(numbers) for numbers in parts] for parts in candidates(texts, 0.85)]
    assert any(8 in numbers for numbers in lists[9])
    assert all(number < index for index, numbers in enumerate(lists) for part in numbers for number in part)
    assert lists[0] == []


def test_texts_in_several_chunks_are_indexed_like_few() -> None:
    texts = [
        f"{chr(0x4E00 + number)}{chr(0x5E00 + number)}{chr(0x6E00 + number)}" * 4 for number in range(2100)
    ]
    texts += [texts[number] + "好" for number in (0, 1999, 2000, 2099)]
    duplicates = near_duplicates(texts, exact=False)
    assert duplicates[:2100] == [None] * 2100
    assert [match and match.of for match in duplicates[2100:]] == [0, 1999, 2000, 2099]
    assert all(
        match.similarity == similarity(texts[match.of], texts[match.of] + "好") for match in duplicates[2100:]
    )
