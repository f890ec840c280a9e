"""A plan is run in rounds of batches until no call is missing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from batch_server import answered, completion, good, verdict

from hengwen import BackendError, BatchOptions, Failure, RunOptions, Score, open_store, run_plan


def is_repair(request) -> bool:
    """A repair call quotes the reply that could not be parsed."""
    return "earlier_reply" in request["body"]["messages"][-1]["content"]


def unparseable(request, number):
    return answered(request, completion("no verdict at all"))


def attempts_of(store, run):
    return sorted(
        (replace(attempt, latency=0.0, run_id="", request={}) for attempt in store.attempts(run)),
        key=lambda attempt: (attempt.call_key, attempt.attempt_no),
    )


@pytest.mark.slow
def test_a_run_in_one_round_gives_the_scores_of_an_ordinary_run(judged, run, store, batch_server) -> None:
    plan = judged(5)
    (stored,) = run(plan).runs
    assert stored.status == "finished"
    rows = list(store.rows([stored]))
    assert len(rows) == 5 * 6
    assert all(isinstance(row.outcome, Score) for row in rows)
    assert batch_server.chats == 0
    assert len(batch_server.sent) == len(set(batch_server.sent)) == 5
    assert run_plan(plan, store=store).runs[0].id == stored.id
    assert batch_server.chats == 0


@pytest.mark.slow
def test_calls_are_recorded_as_an_ordinary_run_records_them(
    judged, run, store, batch_server, tmp_path: Path
) -> None:
    plan = judged(4)
    (batched,) = run(plan).runs
    with open_store(tmp_path / "online.db") as other:
        (online,) = run_plan(plan, store=other).runs
        expected = attempts_of(other, online)
        scores = {(row.sample_id, row.score.name): row.outcome for row in other.rows([online])}
        usage = other.usage([online])
    assert batch_server.chats == 4
    assert attempts_of(store, batched) == expected
    assert {(row.sample_id, row.score.name): row.outcome for row in store.rows([batched])} == scores
    assert store.usage([batched]) == usage
    sent = {request["custom_id"]: request for request in batch_server.inputs[0]}
    assert set(sent) == {attempt.call_key for attempt in expected}
    for attempt in store.attempts(batched):  # the prompt as it was sent, with its random fence
        messages = [
            (message["role"], message["content"]) for message in sent[attempt.call_key]["body"]["messages"]
        ]
        assert [tuple(message) for message in attempt.request["messages"]] == messages


@pytest.mark.slow
def test_a_reply_without_a_verdict_is_repaired_in_a_second_smaller_batch(
    judged, run, store, batch_server
) -> None:
    batch_server.line_of = lambda request, number: (
        good(request, number) if number != 1 or is_repair(request) else unparseable(request, number)
    )
    (stored,) = run(judged(3)).runs
    assert [len(batch) for batch in batch_server.inputs] == [3, 1]
    assert is_repair(batch_server.inputs[1][0])
    statuses = Counter(attempt.status for attempt in store.attempts(stored))
    assert statuses == {"ok": 3, "parse_error": 1}
    details = [
        row.outcome.details["attempt"] for row in store.rows([stored]) if row.score.name.endswith("level")
    ]
    assert Counter(details) == {"first": 2, "repair": 1}


@pytest.mark.slow
def test_an_answer_without_any_verdict_fails_and_is_asked_again_by_the_next_run(
    judged, run, store, batch_server
) -> None:
    batch_server.line_of = unparseable
    plan = judged(1)
    result = run(plan)
    assert [len(batch) for batch in batch_server.inputs] == [1, 1, 1]  # first, repair, first again
    assert result.failures == {"parse_error": 1}
    assert "no verdict in 3 calls" in result.first_messages["parse_error"]
    batch_server.line_of = good
    (stored,) = run(plan).runs
    assert [len(batch) for batch in batch_server.inputs] == [1, 1, 1, 1]
    assert all(isinstance(row.outcome, Score) for row in store.rows([stored]))


@pytest.mark.slow
def test_several_verdicts_of_one_judge_are_one_round(judged, run, batch_server) -> None:
    run(judged(2, judge={"options": {"samples": 3}}))
    assert [len(batch) for batch in batch_server.inputs] == [6]


@pytest.mark.slow
def test_a_file_has_the_calls_of_one_model_and_of_all_checkpoints(judged, run, batch_server) -> None:
    other = {"provider": "openai", "model": "other", "base_url": batch_server.url}
    judge = {"backend": None, "panel": ["judge", "second"]}
    plan = judged(2, judge=judge, checkpoints=("a", "b"))
    text = json.loads(plan.read_text("utf-8"))
    text["backends"]["second"] = other
    plan.write_text(json.dumps(text), "utf-8")
    result = run(plan)
    models = [{request["body"]["model"] for request in batch} for batch in batch_server.inputs]
    assert sorted(models, key=str) == [{"other"}, {"tiny"}]
    assert [len(batch) for batch in batch_server.inputs] == [4, 4]
    for batch in batch_server.batches.values():
        assert set(batch["metadata"]) == {"hengwen_batch", "hengwen_run", "hengwen_shard"}
        assert batch["metadata"]["hengwen_run"].split(",") == [stored.id for stored in result.runs]
    assert sorted(batch["metadata"]["hengwen_shard"] for batch in batch_server.batches.values()) == ["1", "2"]


@pytest.mark.slow
def test_groups_are_scored_when_the_last_reply_is_there(judged, run, store, batch_server) -> None:
    plan = judged(3)
    text = json.loads(plan.read_text("utf-8"))
    text["tasks"][0]["scorers"] = ["distinct_n"]
    plan.write_text(json.dumps(text), "utf-8")
    (stored,) = run(plan).runs
    groups = [row for row in store.rows([stored]) if row.sample_id is None]
    assert groups
    assert all(isinstance(row.outcome, Score) for row in groups)


@pytest.mark.slow
def test_answers_are_generated_in_one_round_and_judged_in_the_next(judged, run, store, batch_server) -> None:
    plan = judged(2)
    text = json.loads(plan.read_text("utf-8"))
    text["backends"]["subject"] = {"provider": "openai", "model": "under-test", "base_url": batch_server.url}
    text["checkpoints"] = [{"name": "a", "backend": "subject"}]
    text["tasks"][0]["repeats"] = 2
    plan.write_text(json.dumps(text), "utf-8")

    def line(request, number):
        if request["body"]["model"] == "under-test":
            return answered(request, completion(f"回答{number}"))
        return good(request, number)

    batch_server.line_of = line
    (stored,) = run(plan).runs
    assert [batch[0]["body"]["model"] for batch in batch_server.inputs] == ["under-test", "tiny"]
    assert [len(batch) for batch in batch_server.inputs] == [4, 4]
    assert stored.status == "finished"
    assert len(list(store.rows([stored]))) == 4 * 6


@pytest.fixture
def anchored(judged, tmp_path: Path):
    """Return a function that writes a plan with one anchor, which equals the answer of checkpoint a."""

    def write(count: int, **options):
        anchor = {
            "task": "t",
            "id": "q0",
            "checkpoint": "a",
            "input": "第0个问题",
            "output": "这是a的第0个回答。",
            "score": "persona_generic.level",
            "value": 1,
        }
        (tmp_path / "anchors.jsonl").write_text(json.dumps(anchor, ensure_ascii=False) + "\n", "utf-8")
        return judged(count, more={"anchors": "anchors.jsonl"}, **options)

    return write


@pytest.mark.slow
def test_anchors_are_judged_once_for_each_run_with_ids_of_their_own(
    anchored, run, store, batch_server
) -> None:
    plan = anchored(1)
    for _ in range(2):
        (stored,) = run(plan).runs
        names = {row.score.name for row in store.rows([stored])}
        assert "anchor.persona_generic.level" in names
    # the first run judges the answer and the anchor, which are equal; the second run only the anchor
    assert [len(batch) for batch in batch_server.inputs] == [2, 1]
    assert len(set(batch_server.sent)) == 3


@pytest.mark.slow
def test_all_judges_of_an_anchor_are_one_round(anchored, run, batch_server) -> None:
    plan = anchored(1)
    text = json.loads(plan.read_text("utf-8"))
    text["tasks"][0]["judges"].append({"rubric": "relevance", "backend": "judge"})
    plan.write_text(json.dumps(text), "utf-8")
    run(plan)
    assert [len(batch) for batch in batch_server.inputs] == [4]


@pytest.mark.slow
def test_later_rounds_do_not_judge_the_anchors_of_a_finished_checkpoint_again(
    anchored, run, store, batch_server
) -> None:
    lines = iter([unparseable])
    batch_server.line_of = lambda request, number: next(lines, good)(request, number)
    plan = anchored(1, checkpoints=("a", "b"))
    batch_server.on_request = lambda method, path: b"" if len(batch_server.batches) > 2 else None
    result = run(plan)
    assert [stored.status for stored in result.runs] == ["finished", "finished"]
    assert [len(batch) for batch in batch_server.inputs] == [4, 1]


@pytest.mark.slow
def test_a_backend_that_opts_out_is_called_at_once(judged, run, batch_server) -> None:
    plan = judged(2, judge={"backend": None, "panel": ["judge", "second"]})
    text = json.loads(plan.read_text("utf-8"))
    second = {"provider": "openai", "model": "other", "base_url": batch_server.url, "batch": False}
    text["backends"]["second"] = second
    plan.write_text(json.dumps(text), "utf-8")
    run(plan)
    assert batch_server.chats == 2
    assert [len(batch) for batch in batch_server.inputs] == [2]


@pytest.mark.slow
@pytest.mark.parametrize(("online_below", "chats", "batches"), [(2, 1, [3]), (1, 0, [3, 1])])
def test_a_small_round_is_sent_at_once_if_the_user_says_so(
    judged, run, store, batch_server, online_below: int, chats: int, batches: list[int]
) -> None:
    batch_server.line_of = lambda request, number: (
        good(request, number) if number != 1 or is_repair(request) else unparseable(request, number)
    )
    (stored,) = run(judged(3), online_below=online_below).runs
    assert batch_server.chats == chats
    assert [len(batch) for batch in batch_server.inputs] == batches
    assert all(isinstance(row.outcome, Score) for row in store.rows([stored]))


@pytest.mark.slow
def test_calls_of_a_small_round_are_not_counted_twice_in_the_budget(judged, run, batch_server) -> None:
    plan = judged(4, price={"input": 0, "output": 1e6}, params={"max_tokens": 20})
    result = run(plan, online_below=9, budget=80)  # 10 for each call in a file, 20 for each single call
    assert (batch_server.chats, result.out_of_budget, result.failures) == (4, False, {})


@pytest.mark.slow
def test_an_ordinary_run_is_refused_while_a_batch_is_open(judged, run, store, batch_server, clock) -> None:
    plan = judged(2)

    def lose_the_state(method, path):
        clock[0] += 400.0
        return b"" if method == "GET" and path.startswith("/batches/") else None

    batch_server.on_request = lose_the_state
    with pytest.raises(Exception, match="no usable answer"):
        run(plan)
    with pytest.raises(
        ValueError, match=r"plan 'p' has 1 open batches with 2 calls; collect them with: hengwen batch submit"
    ):
        run_plan(plan, store=store)
    batch_server.on_request = lambda method, path: None
    assert run(plan).runs[0].status == "finished"
    assert len(batch_server.sent) == 2
    assert batch_server.chats == 0


@pytest.mark.slow
def test_a_plan_without_a_batch_endpoint_is_refused(judged, run) -> None:
    with pytest.raises(ValueError, match="no backend of the plan has a batch endpoint"):
        run(judged(1, batch=False))


@pytest.mark.slow
def test_a_changed_rubric_asks_anew_and_the_old_replies_stay_for_the_old_one(
    judged, run, store, batch_server
) -> None:
    plan = judged(2)
    batch_server.on_request = lambda method, path: b"" if path.endswith("/content") else None
    with pytest.raises(Exception, match="no usable answer"):
        run(plan)
    batch_server.on_request = lambda method, path: None
    old = plan.read_text("utf-8")
    changed = json.loads(old)
    changed["tasks"][0]["judges"][0]["task_instruction"] = "Be strict."
    plan.write_text(json.dumps(changed), "utf-8")
    run(plan)
    assert len(batch_server.sent) == 4
    plan.write_text(old, "utf-8")
    (stored,) = run(plan).runs
    assert len(batch_server.sent) == 4
    assert all(isinstance(row.outcome, Score) for row in store.rows([stored]))


def test_nothing_is_left_beside_the_store(judged, run, tmp_path: Path) -> None:
    run(judged(2))
    assert not list(tmp_path.glob("*.batches"))


@pytest.mark.slow
def test_files_that_a_crash_left_elsewhere_are_found_again(
    judged, batch_server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    plan, batch = judged(1, retries=0), BatchOptions(poll_seconds=0)
    with open_store("sqlite://") as store:  # a store without a file
        batch_server.on_request = lambda method, path: b""
        with pytest.raises(BackendError):
            run_plan(plan, store=store, options=RunOptions(batch=batch))
        assert len(list((tmp_path / "tmp").glob("hengwen-*.batches/*.jsonl"))) == 1
        batch_server.on_request = lambda method, path: None
        assert run_plan(plan, store=store, options=RunOptions(batch=batch)).runs[0].status == "finished"
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.slow
def test_a_verdict_of_the_server_fits_the_schema(judged, run, store, batch_server) -> None:
    batch_server.line_of = lambda request, number: answered(request, completion(verdict(request, "A")))
    (stored,) = run(judged(1)).runs
    assert {row.outcome.details["label"] for row in store.rows([stored])} == {"A"}
    assert not any(isinstance(row.outcome, Failure) for row in store.rows([stored]))
