"""Logs of other tools become runs with their answers; what cannot be read is said."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hengwen import import_scores, open_store
from hengwen.errors import DataError
from hengwen.records import Failure


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def whole(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), "utf-8")
    return path


def scored(store, result) -> list[tuple[str, str, str | None, int | None, object]]:
    """Return checkpoint, score, prompt, repeat and value of each score; of a failure, its status."""
    return [
        (
            row.checkpoint,
            row.score.address,
            row.sample_id,
            row.repeat,
            row.outcome.status if isinstance(row.outcome, Failure) else row.outcome.value,
        )
        for row in store.rows(result.runs)
    ]


def answers(store, result) -> list[tuple[str, str, str]]:
    kept = [answer for run in result.runs for answer in store.answers(run)]
    return [(answer.sample_id, answer.input, answer.text) for answer in kept]


SAMPLE: dict[str, Any] = {
    "id": "q1",
    "epoch": 1,
    "input": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}],
    "target": "So.",
    "output": {"choices": [{"message": {"role": "assistant", "content": "attachment://9f"}}]},
    "attachments": {"9f": "Because."},
    "events": [],
    "scores": {
        "match": {"value": "C", "explanation": "equal"},
        "grade": {"value": float("nan"), "explanation": "no grade"},
        "parts": {"value": {"tone": 3, "plot": "P"}},
        "listed": {"value": [1, 2]},
    },
}


def inspect_log(path: Path, method: int, *samples: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        header = {"eval": {"model": "m", "task": "t", "scorers": [{"name": "match"}]}, "status": "success"}
        archive.writestr("header.json", json.dumps(header))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93], ids=["zip", "zstd"])
def test_a_log_of_inspect_has_answers_scores_and_failures(store, tmp_path: Path, method: int) -> None:
    if method == 93:
        pytest.importorskip("zipfile_zstd")
    failed = {**SAMPLE, "id": "q2", "scores": None, "error": {"message": "the sandbox died"}}
    log = inspect_log(tmp_path / "a.eval", method, SAMPLE, {**SAMPLE, "epoch": 2}, failed)
    result = import_scores(log, store)
    values = {row[1:4]: row[4] for row in scored(store, result)}
    assert {name: value for (name, *sample), value in values.items() if sample == ["q1", 1]} == {
        "t/match": 1.0,
        "t/grade": "parse_error",
        "t/parts.tone": 3.0,
        "t/parts.plot": 0.5,
    }
    assert values["t/match", "q2", 1] == "scorer_error"
    assert answers(store, result) == [("q1", "Why?", "Because.")] * 2 + [("q2", "Why?", "Because.")]
    assert result.notes[:2] == (
        "read as a log of inspect",
        "left out: 2 values of 'listed', which are lists",
    )
    assert result.unused == ("target", "events")


def test_a_header_that_unpacks_to_more_than_the_limit_is_an_error(store, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("hengwen.importers.logs.MAX_MEMBER", 1 << 20)
    with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t" * (1 << 20)}}))
    with pytest.raises(DataError, match=r"a\.eval.*header\.json is larger than 1 MiB"):
        import_scores(tmp_path / "a.eval", store)


def test_a_file_that_is_no_log_of_inspect_is_an_error(store, tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(b"PK no zip")
    with pytest.raises(DataError, match=r"a\.eval: no log of inspect that can be read"):
        import_scores(tmp_path / "a.eval", store)


def test_an_encrypted_log_of_inspect_is_an_error(store, tmp_path: Path) -> None:
    log = inspect_log(tmp_path / "a.eval", zipfile.ZIP_STORED, SAMPLE)
    data = bytearray(log.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(mark, at + 1)
    log.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.eval: no log of inspect that can be read: .*encrypted"):
        import_scores(log, store)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epoch": "first"}, "epoch: Input should be a valid integer.*, got 'first'"),
        ({"epoch": 10**20}, "epoch: Input should be less than or equal to"),
        ({"scores": [1]}, "scores: Input should be a valid dictionary"),
        ({"id": None}, "id: Input should be a valid string"),
    ],
)
def test_a_sample_that_is_not_as_inspect_writes_it_is_an_error_with_its_key(
    store, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    log = inspect_log(tmp_path / "a.eval", zipfile.ZIP_DEFLATED, {**SAMPLE, **change})
    with pytest.raises(DataError, match=rf"a\.eval:1: samples/.*json: {message}"):
        import_scores(log, store)


@pytest.mark.parametrize("column", ["step", "repeat"])
def test_a_step_or_repeat_of_twenty_digits_is_an_error_with_its_line(
    store, tmp_path: Path, column: str
) -> None:
    file = lines(tmp_path / "t.jsonl", {"model": "a", "id": 1, "score": 3, column: 10**19})
    with pytest.raises(DataError, match=r"t\.jsonl:1: .*100000"):
        import_scores(file, store)


def test_a_pipe_is_an_error(store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")
    with pytest.raises(DataError, match="not a regular file"):
        import_scores(tmp_path / "t.jsonl", store)


def test_samples_of_lm_eval_are_read_once_for_each_filter(store, tmp_path: Path) -> None:
    row = {
        "doc_id": 3,
        "doc": {"q": "2+2"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "2+2=", "arg_1": {"until": []}}},
        "resps": [["4."]],
        "filtered_resps": ["4"],
        "filter": "strict",
        "metrics": ["exact_match"],
        "doc_hash": "x",
        "exact_match": 0.0,
    }
    file = tmp_path / "org__model" / "samples_gsm8k_2026-11-01T00-00-00.000.jsonl"
    result = import_scores(lines(file, row, {**row, "filter": "flexible", "exact_match": 1.0}, row), store)
    assert sorted(scored(store, result)) == [
        ("org__model", "gsm8k/exact_match.flexible", "3", 1, 1.0),
        ("org__model", "gsm8k/exact_match.strict", "3", 1, 0.0),
    ]
    assert answers(store, result) == [("3", "2+2=", "4.")]
    assert "left out: 1 rows that are given twice" in result.notes
    assert result.unused == ()


def test_errors_of_promptfoo_are_failures_and_failed_assertions_are_scores(store, tmp_path: Path) -> None:
    graded = {"pass": False, "score": 0, "reason": "no JSON", "assertion": {"type": "llm-rubric"}}
    row = {
        "testIdx": 0,
        "promptIdx": 0,
        "provider": {"id": "openai:m", "label": "m"},
        "prompt": {"raw": "Say hi"},
        "response": {"output": "bye"},
        "failureReason": 1,
        "error": "Expected hi",
        "gradingResult": {
            "pass": False,
            "score": 0.5,
            "componentResults": [
                {"pass": False, "score": 0, "reason": "Expected hi", "assertion": {"type": "contains"}},
                {**graded, "metadata": {"graderError": True}},
            ],
        },
    }
    dead = {**row, "testIdx": 1, "failureReason": 2, "error": "API error"}
    dead |= {"gradingResult": None, "response": None}
    file = whole(tmp_path / "out.json", {"evalId": "e", "results": {"version": 3, "results": [row, dead]}})
    result = import_scores(file, store)
    assert sorted((row[1], row[4]) for row in scored(store, result)) == [
        ("promptfoo/contains", 0.0),
        ("promptfoo/llm-rubric", "scorer_error"),
        ("promptfoo/score", "scorer_error"),
    ]
    assert [text for _, _, text in answers(store, result)] == ["bye"]


def test_reviews_of_evalscope_whose_judge_failed_are_failures(store, tmp_path: Path) -> None:
    def review(index: int, score: dict[str, Any]) -> dict[str, Any]:
        messages = [{"role": "user", "content": f"Q{index}"}, {"role": "assistant", "content": "A"}]
        of = {"score": {"prediction": "A", **score}, "sample_id": index, "group_id": index}
        return {"index": index, "target": ["4"], "messages": messages, "sample_score": of}

    file = tmp_path / "reviews" / "qwen" / "arc_easy.jsonl"
    lost = {"value": {}, "status": "parse_error", "main_score_name": "acc"}
    result = import_scores(lines(file, review(0, {"value": {"acc": 1.0}}), review(1, lost)), store)
    assert scored(store, result) == [
        ("qwen", "arc_easy/acc", "0", 1, 1.0),
        ("qwen", "arc_easy/acc", "1", 1, "parse_error"),
    ]
    assert answers(store, result)[0] == ("0", "Q0", "A")


def test_a_json_list_is_a_table(store, tmp_path: Path) -> None:
    rows = [{"model": "a", "id": 1, "score": 3}, {"model": "a", "id": 2, "score": float("nan")}]
    result = import_scores(whole(tmp_path / "t.json", rows), store)
    assert [row[4] for row in scored(store, result)] == [3.0, "parse_error"]


@pytest.mark.parametrize(
    "text", ['[{"a": 1}', '[{"a": 1},]', '{"results": {"results": [{]}}', "[" * 5000, '[{"a": "\\ud8']
)
def test_json_that_is_cut_or_hostile_is_an_error_of_the_file(store, tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.json"
    file.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"t\.json"):
        import_scores(file, store)
