"""Missing calls are exported as files of the Batch API; the replies to them are imported for the next run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hengwen import Score, open_store


@pytest.fixture
def plan(suite, judge_server) -> Path:
    return judged(suite, judge_server, 4)


def judged(suite, judge_server, count: int, **more: Any) -> Path:
    judge = {"provider": "openai", "model": "tiny", "base_url": judge_server.url}
    task = {
        "name": "t",
        "samples": "prompts.jsonl",
        "judges": [{"rubric": "persona_generic", "backend": "judge"}],
    }
    return suite(count, tasks=[task], backends={"judge": judge}, **more)


@pytest.fixture
def export(program, tmp_path: Path) -> Callable[..., list[dict]]:
    """Return a function that exports the calls of a plan, and returns the requests."""

    def call(plan: Path, *more: object) -> list[dict]:
        code, out, err = program("batch", "export", plan, tmp_path / "out", "--json", *more)
        assert code == 0, err
        exported = json.loads(out)
        requests = [
            json.loads(line)
            for path in exported["exported"]
            for line in Path(path).read_text("utf-8").splitlines()
        ]
        assert len(requests) == exported["calls"]
        return requests

    return call


def reply(request: dict, text: str | None = None) -> dict:
    """Return a line of a file of replies."""
    if text is None:
        schema = request["body"]["response_format"]["json_schema"]["schema"]
        criteria = dict.fromkeys(schema["properties"]["criteria"]["properties"], "B")
        text = json.dumps({"reason": "读过了", "criteria": criteria, "level": "B"})
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    body = {"model": "tiny-1", "choices": [choice], "usage": usage}
    return {"id": "x", "custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}


def failed(request: dict, status: int = 500) -> dict:
    body = {"error": {"message": "out of memory"}}
    return {"custom_id": request["custom_id"], "response": {"status_code": status, "body": body}}


def write(path: Path, lines: list) -> Path:
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")
    return path


def test_an_export_has_the_lines_of_the_batch_api_and_sends_and_stores_nothing(
    export, program, plan: Path, judge_server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    requests = export(plan)
    assert [sorted(request) for request in requests] == [["body", "custom_id", "method", "url"]] * 4
    assert len({request["custom_id"] for request in requests}) == 4
    for request in requests:
        assert (request["method"], request["url"]) == ("POST", "/v1/chat/completions")
        assert (request["body"]["model"], len(request["custom_id"])) == ("tiny", 64)
    (path,) = (tmp_path / "out").iterdir()
    assert path.stat().st_mode & 0o77 == 0
    assert judge_server.prompts == []
    with open_store(tmp_path / "hengwen.db") as store:
        assert store.runs() == []


def test_a_run_finds_imported_replies_and_makes_no_call(
    export, program, plan: Path, judge_server, tmp_path: Path
) -> None:
    requests = export(plan)
    replies = write(tmp_path / "replies.jsonl", [reply(request) for request in requests[::-1]])
    code, out, _ = program("batch", "import", plan, replies, "--json")
    counts = {"schema": 1, "imported": 4, "failed": 0, "stored": 0, "unknown": 0, "missing": 0}
    assert (code, json.loads(out)) == (0, counts)
    code, out, _ = program("run", plan, "--json")
    level = json.loads(out)["runs"][0]["scores"]["t/persona_generic.level"]
    assert (code, level["n"], level["failures"], judge_server.prompts) == (0, 4, {}, [])
    with open_store(tmp_path / "hengwen.db") as store:
        (run,) = store.runs()
        assert run.status == "finished"
        assert all(isinstance(row.outcome, Score) for row in store.rows([run]))
        usage = store.usage([run])["judge"]
        assert (usage.calls, usage.input_tokens, usage.output_tokens) == (4, 400, 80)
    assert export(plan) == []
    code, out, _ = program("batch", "import", plan, replies, "--json")
    assert (code, json.loads(out)) == (0, {**counts, "imported": 0, "stored": 4})


def test_what_has_no_reply_is_exported_again_and_failures_are_named_and_not_stored(
    export, program, plan: Path, judge_server, tmp_path: Path
) -> None:
    requests = export(plan)
    expired = {"custom_id": requests[3]["custom_id"], "response": None, "error": {"code": "batch_expired"}}
    lines = [reply(requests[0]), failed(requests[1]), reply(requests[2], "?"), expired]
    code, _, err = program("batch", "import", plan, write(tmp_path / "r.jsonl", lines))
    assert code == 2
    assert f"{tmp_path}/r.jsonl:2: " in err
    assert "out of memory" in err
    assert "1 more lines without a reply; all other replies are in the store" in err
    missing = {request["custom_id"] for request in requests[1:]}
    assert {request["custom_id"] for request in export(plan)} == missing  # the third had no verdict
    code, out, _ = program("run", plan, "--json")
    level = json.loads(out)["runs"][0]["scores"]["t/persona_generic.level"]
    assert (code, level["n"], level["failures"], len(judge_server.prompts)) == (0, 4, {}, 3)


def test_a_good_line_counts_wherever_it_stands(export, program, plan: Path, tmp_path: Path) -> None:
    requests = export(plan)
    errors = write(tmp_path / "errors.jsonl", [failed(request) for request in requests])
    good = write(tmp_path / "good.jsonl", [reply(request) for request in requests])
    assert program("batch", "import", plan, errors, good)[0] == 0


def test_replies_may_come_in_parts_and_unknown_ones_are_counted(
    export, program, plan: Path, tmp_path: Path
) -> None:
    requests = export(plan)
    stranger = {**reply(requests[0]), "custom_id": "f" * 64}
    part = write(tmp_path / "part.jsonl", [stranger, *map(reply, requests[:3])])
    code, _, err = program("batch", "import", plan, part)
    assert code == 4
    assert "3 replies imported, 0 already stored; 1 calls have no reply yet" in err
    assert "1 replies to calls that this plan does not make are left out" in err
    assert program("batch", "import", plan, write(tmp_path / "rest.jsonl", [reply(requests[3])]))[0] == 0
    code, _, err = program("batch", "import", plan, write(tmp_path / "no.jsonl", [stranger]))
    assert code == 2
    assert "the files hold no reply to a call of this plan" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"custom_id": ', "Expecting value"),
        (b"\xff\xfe", "it is not UTF-8"),
        (b"[1]", "it is no JSON object"),
        (b'{"custom_id": 7, "response": {}}', "its custom_id is no text of 1 to 64 characters"),
        (b'{"custom_id": "a"}', "it has neither a response nor an error"),
        (b'{"custom_id": "a", "response": "ok"}', "it has neither a response nor an error"),
        (b"[" * 200_000, "no line of a batch's replies"),
        (b'{"x": "' + b"a" * (17 << 20) + b'"}', "the line is longer than 16,777,216 bytes"),
    ],
)
def test_a_damaged_line_is_named_by_file_and_row_and_the_others_are_imported(
    export, program, plan: Path, tmp_path: Path, line: bytes, message: str
) -> None:
    requests = export(plan)
    path = write(tmp_path / "r.jsonl", [reply(request) for request in requests])
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + line + b"\n" + b"".join(rest))
    code, _, err = program("batch", "import", plan, path)
    assert code == 2
    assert f"{path}:2: " in err
    assert message in err
    assert "Traceback" not in err
    assert "4 replies imported" in err


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        [],
        "text",
        {"choices": []},
        {"choices": [{"message": {"content": 7}}]},
        {"error": {"code": 1}},
    ],
)
def test_a_reply_without_a_text_is_a_failed_call(
    export, program, plan: Path, tmp_path: Path, body: object
) -> None:
    requests = export(plan)
    lines = [reply(request) for request in requests]
    lines[1]["response"]["body"] = body
    code, _, err = program("batch", "import", plan, write(tmp_path / "r.jsonl", lines))
    assert code == 2
    assert f"{tmp_path}/r.jsonl:2: " in err
    assert "3 replies imported" in err
    assert len(export(plan)) == 1


def test_generated_answers_are_judged_in_the_next_export(
    export, program, suite, judge_server, tmp_path: Path
) -> None:
    plan = judged(suite, judge_server, 2, checkpoints=[{"name": "a", "backend": "judge"}])
    for kind in ("answer", "verdict"):
        requests = export(plan)
        assert [("response_format" in request["body"]) for request in requests] == [kind == "verdict"] * 2
        replies = [
            reply(request, f"{kind} {i}" if kind == "answer" else None) for i, request in enumerate(requests)
        ]
        code, _, _ = program("batch", "import", plan, write(tmp_path / f"{kind}.jsonl", replies))
        assert code == (4 if kind == "answer" else 0)
    assert program("run", plan)[0] == 0
    assert judge_server.prompts == []


def test_calls_are_split_into_files_and_equal_calls_are_written_once(
    program, suite, judge_server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hengwen.runs.batch.MAX_REQUESTS", 3)
    twice = [{"name": name, "responses": "a.jsonl"} for name in ("a", "b")]
    plan = judged(suite, judge_server, 4, checkpoints=twice)
    code, out, _ = program("batch", "export", plan, tmp_path / "out", "--json")
    assert (code, json.loads(out)["calls"]) == (0, 4)
    lengths = [len(path.read_bytes().splitlines()) for path in sorted((tmp_path / "out").iterdir())]
    assert lengths == [3, 1]


def test_an_export_that_fails_leaves_no_file(
    program, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    code, _, err = program("batch", "export", plan, tmp_path / "file" / "out")
    assert code == 1
    assert "Not a directory" in err
    monkeypatch.setattr("hengwen.runs.batch.MAX_REQUESTS", 1)
    opened: list[object] = []

    def full(*arguments: Any) -> Any:
        opened.append(arguments)
        if len(opened) == 3:
            raise OSError(28, "No space left on device")
        return fdopen(*arguments)

    fdopen = os.fdopen
    monkeypatch.setattr("os.fdopen", full)
    code, _, err = program("batch", "export", plan, tmp_path / "out")
    assert code == 1
    assert "No space left on device" in err
    assert not [path for path in (tmp_path / "out").iterdir() if path.suffix == ".jsonl"]


def test_a_plan_that_another_process_runs_takes_no_replies(
    export, program, plan: Path, start, answered, judge_server, tmp_path: Path
) -> None:
    requests = export(plan)
    judge_server.hold_after = 1
    first = start(plan, tmp_path / "hengwen.db")
    answered(1, first)
    replies = write(tmp_path / "r.jsonl", [reply(request) for request in requests])
    code, _, err = program("batch", "import", plan, replies)
    assert code == 1
    assert "is being run by process" in err
    judge_server.hold_after = None
    assert first.wait(60) == 0
