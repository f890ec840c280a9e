"""Calls are exported to files for another program, and its replies are imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from batch_server import answered, completion, good, verdict

from hengwen import Score, StoreError, run_plan
from hengwen.runs.batch.queue import BatchQueue


@pytest.fixture
def exported(judged, run, tmp_path: Path):
    """Export the calls of four answers; return the plan and the file."""
    plan = judged(4)
    result = run(plan, action="export", folder=tmp_path / "out")
    (path,) = result.exported
    assert result.pending_calls == 4
    return plan, path


def requests_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write(path: Path, lines: list) -> Path:
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")
    return path


@pytest.mark.slow
def test_an_export_has_the_lines_of_the_batch_api_and_sends_nothing(exported, batch_server) -> None:
    _, path = exported
    requests = requests_of(path)
    assert len({request["custom_id"] for request in requests}) == 4
    for request in requests:
        assert (request["method"], request["url"]) == ("POST", "/v1/chat/completions")
        assert request["body"]["model"] == "tiny"
        assert len(request["custom_id"]) == 64
    assert batch_server.requests == []


def test_a_folder_that_cannot_be_written_stops_the_export(judged, run, store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match=r"file/out/judge-.*\.jsonl: "):
        run(judged(2), action="export", folder=tmp_path / "file" / "out")
    assert store.batches("p").files() == []


@pytest.mark.slow
def test_an_export_that_is_stopped_leaves_no_file(
    judged, run, store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, out = BatchQueue.add, tmp_path / "out"

    def stop_at_the_third(queue, *arguments):
        if queue.collected == 2:
            raise StoreError("the database is gone")
        add(queue, *arguments)

    monkeypatch.setattr(BatchQueue, "add", stop_at_the_third)
    with pytest.raises(StoreError, match="the database is gone"):
        run(judged(3), action="export", folder=out, max_requests=1)
    assert list(out.iterdir()) == []
    assert store.batches("p").files() == []


def test_imported_replies_give_the_scores(exported, run, store, batch_server, tmp_path: Path) -> None:
    plan, path = exported
    replies = write(tmp_path / "replies.jsonl", [good(request, 0) for request in requests_of(path)[::-1]])
    result = run(plan, action="import", files=(replies,))
    assert result.runs[0].status == "finished"
    assert all(isinstance(row.outcome, Score) for row in store.rows(result.runs))
    assert (result.pending_calls, batch_server.requests) == (0, [])
    assert store.batches("p").files() == []
    assert run_plan(plan, store=store).runs[0].id == result.runs[0].id
    assert batch_server.chats == 0


@pytest.mark.slow
def test_replies_can_come_in_parts_and_an_export_writes_only_the_rest(
    exported, run, store, tmp_path: Path
) -> None:
    plan, path = exported
    requests = requests_of(path)
    part = write(tmp_path / "part.jsonl", [good(request, 0) for request in requests[:3]])
    assert run(plan, action="import", files=(part,)).pending_calls == 1
    again = run(plan, action="export", folder=tmp_path / "again")
    assert [request["custom_id"] for request in requests_of(again.exported[0])] == [requests[3]["custom_id"]]
    rest = write(tmp_path / "rest.jsonl", [good(request, 0) for request in requests])
    result = run(plan, action="import", files=(part, rest))
    assert result.runs[0].status == "finished"
    assert len(list(store.rows(result.runs))) == 4 * 6


@pytest.mark.slow
def test_a_call_that_failed_elsewhere_and_a_repair_are_exported_next(
    exported, run, store, tmp_path: Path
) -> None:
    plan, path = exported
    requests = requests_of(path)
    # the form in which vllm run-batch writes an error
    refused = {**answered(requests[1], None, 500), "error": {"message": "out of memory", "code": 500}}
    lines = [answered(requests[0], completion("?")), refused, *(good(request, 0) for request in requests[2:])]
    replies = write(tmp_path / "replies.jsonl", lines)
    assert run(plan, action="import", files=(replies,)).pending_calls == 2
    again = run(plan, action="export", folder=tmp_path / "again")
    (second,) = again.exported
    assert {request["custom_id"] for request in requests_of(second)} & {
        request["custom_id"] for request in requests
    } == {requests[1]["custom_id"]}
    replies = write(tmp_path / "more.jsonl", [good(request, 0) for request in requests_of(second)])
    assert run(plan, action="import", files=(replies,)).runs[0].status == "finished"


@pytest.mark.slow
def test_an_export_remembers_what_was_refused_in_an_earlier_one(
    judged, run, store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hengwen.runs.batch.queue.CALLS_PER_COMMIT", 1)
    plan = judged(3, retries=0)
    (path,) = run(plan, action="export", folder=tmp_path / "out").exported
    requests = requests_of(path)
    messages = ["response_format json_schema is not supported", "prompt too long"]
    lines = [
        answered(request, {"error": {"message": message}}, 400)
        for request, message in zip(requests, messages, strict=False)
    ]
    replies = write(tmp_path / "replies.jsonl", lines)
    assert run(plan, action="import", files=(replies,)).pending_calls == 2
    for name in ("second", "third"):
        result = run(plan, action="export", folder=tmp_path / name)
        assert result.failures == {"rejected": 1}
        (path,) = result.exported
        sent = {
            request["custom_id"]: request["body"]["response_format"]["type"] for request in requests_of(path)
        }
        assert sent == dict.fromkeys([requests[0]["custom_id"], requests[2]["custom_id"]], "json_object")


def test_a_file_of_another_plan_is_refused(exported, run, tmp_path: Path) -> None:
    plan, _ = exported
    stranger = {"custom_id": "f" * 64, "body": {}}
    replies = write(tmp_path / "replies.jsonl", [answered(stranger, {}, 200)])
    with pytest.raises(ValueError, match="the files hold no reply to an exported call of this plan"):
        run(plan, action="import", files=(replies,))


@pytest.mark.slow
def test_exported_files_must_be_imported_or_given_up_before_a_batch_is_sent(
    exported, run, batch_server
) -> None:
    plan, _ = exported
    with pytest.raises(ValueError, match=r"plan 'p' has 1 exported files; import the replies"):
        run(plan)
    assert run(plan, action="cancel").runs == ()
    assert run(plan).runs[0].status == "finished"


@pytest.mark.slow
def test_an_ordinary_run_after_an_export_makes_its_calls_at_once(exported, store, batch_server) -> None:
    plan, _ = exported
    result = run_plan(plan, store=store)
    assert result.runs[0].status == "finished"
    assert batch_server.chats == 4


@pytest.mark.slow
def test_an_ordinary_run_uses_replies_that_are_already_paid_for(
    exported, run, store, batch_server, tmp_path: Path
) -> None:
    plan, path = exported
    replies = write(tmp_path / "replies.jsonl", [good(request, 0) for request in requests_of(path)[:3]])
    run(plan, action="import", files=(replies,))
    assert run_plan(plan, store=store).runs[0].status == "finished"
    assert batch_server.chats == 1


def test_a_verdict_may_come_from_any_model(exported, run, store, tmp_path: Path) -> None:
    plan, path = exported
    lines = [answered(request, completion(verdict(request, "A"))) for request in requests_of(path)]
    result = run(plan, action="import", files=(write(tmp_path / "r.jsonl", lines),))
    assert {row.outcome.details["model"] for row in store.rows(result.runs)} == {"tiny-1"}
