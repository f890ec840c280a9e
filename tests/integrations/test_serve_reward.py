"""Rewards over HTTP, requested as LLaMA-Factory and OpenRLHF request them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from hengwen import RunOptions, open_store, report_document, run_plan
from hengwen.documents.render.write import to_json
from hengwen.errors import ConfigError
from hengwen.integrations.serve_reward import AnswerMarks, RewardServer, plan_reward, serving
from hengwen.plans.plan import load_plan

PLAN = """\
name: p
tasks:
  - name: short
    samples: s.jsonl
    scorers: [{length: {least: 2, most: 4}}]
    judges: [{rubric: persona_generic}]
checkpoints: [{name: a, responses: a.jsonl}]
"""


@pytest.fixture
def rewarded(tmp_path: Path) -> Path:
    (tmp_path / "plan.yaml").write_text(
        PLAN + "rewards: [short/length.within, short/persona_generic.level]\n", "utf-8"
    )
    (tmp_path / "s.jsonl").write_text('{"id": "1", "input": "?"}\n', "utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": "1", "output": "abc"}\n', "utf-8")
    return tmp_path / "plan.yaml"


async def post(server: RewardServer, body: object, token: str = "t") -> tuple[int, object]:
    async with (
        serving(server) as port,
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{port}/{token}", json=body) as reply,
    ):
        text = await reply.text()
        return reply.status, json.loads(text) if text[:1] == "{" else text


async def test_llama_factory_and_openrlhf_get_the_scores_of_the_plan(rewarded: Path) -> None:
    with open_store("sqlite://") as store:
        async with plan_reward(load_plan(rewarded), store, "short/length.within") as score:
            server = RewardServer(score, "raise", "t", AnswerMarks("assistant\n", "<|im_end|>"))
            texts = ["user\n?\nassistant\nabc<|im_end|>", "user\n?\nassistant\nabcdefgh<|im_end|>"]
            assert await post(server, {"model": "model", "messages": texts}) == (200, {"scores": [1.0, 0.0]})
            server = RewardServer(score, "raise", "t")
            body = {"query": ["?abc", "?abcdefgh"], "prompts": ["?", "?"], "labels": ["", ""]}
            assert await post(server, body) == (
                200,
                {"rewards": [1.0, 0.0], "scores": [1.0, 0.0], "extra_logs": {"failed": [0.0, 0.0]}},
            )
            assert (await post(server, body, token="u"))[0] == 403
            assert (await post(server, {"query": "?abc"}))[0] == 400
            assert (await post(server, ["?"]))[0] == 400


async def test_a_judge_of_the_plan_can_be_the_reward(rewarded: Path) -> None:
    with open_store("sqlite://") as store:
        async with plan_reward(load_plan(rewarded), store, "short/persona_generic.level") as score:
            status, reply = await post(RewardServer(score, "raise", "t"), {"messages": ["我在。", ""]})
    assert status == 200
    assert reply["scores"][0] > reply["scores"][1]


class Fails:
    """A scorer that has no score for empty answers."""

    signature, names = "fails|v:1", ("fails",)

    def score(self, sample, response):
        from hengwen.records import Score

        if not response.text:
            raise ValueError("empty")
        return [Score(name="fails", value=len(response.text), signature=self.signature)]


async def test_a_failure_is_an_error_a_mean_or_a_number_never_0_by_itself() -> None:
    from hengwen.integrations.rewards import TextScorer

    body = {"query": ["pab", "pabcd", "p"], "prompts": ["p", "p", "p"]}
    for policy, rewards in (("mean", [2.0, 4.0, 3.0]), (-1.0, [2.0, 4.0, -1.0])):
        status, reply = await post(RewardServer(TextScorer(Fails()), policy, "t"), body)
        assert (status, reply["rewards"], reply["extra_logs"]) == (200, rewards, {"failed": [0.0, 0.0, 1.0]})
    status, reply = await post(RewardServer(TextScorer(Fails()), "raise", "t"), body)
    assert (status, reply) == (422, "fails: scorer_error: ValueError: empty")


@pytest.mark.parametrize(
    ("rewards", "address", "message"),
    [
        ([], "short/length.within", r"no rewards; add rewards: \[short/length.within\]"),
        (
            ["short/length.within"],
            "short/length.witin",
            "no reward 'short/length.witin'; did you mean 'short",
        ),
        (["short/size"], None, "no score of single answers is 'short/size'"),
        (
            ["short/length.within", "short/persona_generic.level"],
            None,
            "name one of the plan's rewards: short/",
        ),
    ],
)
async def test_only_a_reward_of_the_plan_is_served(rewarded: Path, rewards, address, message) -> None:
    plan = load_plan(rewarded).model_copy(update={"rewards": rewards})
    with open_store("sqlite://") as store, pytest.raises(ConfigError, match=message):
        async with plan_reward(plan, store, address):
            pass


def test_later_reports_mark_the_score_that_was_a_reward(rewarded: Path, hengwen) -> None:
    with open_store("s.db") as store:
        result = run_plan(rewarded, store=store, options=RunOptions(workers=1))
        record = json.loads(to_json(report_document(store, result.runs)))
        rewarded.write_text(PLAN, "utf-8")
        assert "rewards" not in json.loads(
            to_json(
                report_document(store, run_plan(rewarded, store=store, options=RunOptions(fresh=True)).runs)
            )
        )
    assert record["rewards"] == ["short/length.within", "short/persona_generic.level"]
    shown = hengwen("report", result.runs[0].id, "--store", "s.db")
    assert "length.within (reward): the model was trained on it." in shown.out
    assert "Character (reward)" in shown.out


@pytest.mark.slow
def test_gates_judge_drift_and_peer_review_name_the_rewards_that_they_use(rewarded: Path, hengwen) -> None:
    first = "{name: a, responses: a.jsonl}"
    second = first.replace("name: a", "name: b")
    rewarded.write_text(rewarded.read_text("utf-8").replace(first, f"{first}, {second}"), "utf-8")
    with open_store("s.db") as store:
        run_plan(rewarded, store=store, options=RunOptions(workers=1))
    reward = "length.within (reward): the model was trained on it."
    judged = "character (reward)"
    summary = rewarded.parent / "summary.md"
    gates = ("--gate", "short/length.within >= 0", "--summary", str(summary))
    gate = hengwen("gate", str(rewarded), *gates, "--store", "s.db")
    assert reward in " ".join(gate.out.split())
    assert judged not in gate.out
    assert "length.within (reward)" in summary.read_text("utf-8").replace("\\", "")
    assert json.loads(hengwen("gate", str(rewarded), *gates[:2], "--store", "s.db", "--json").out)[
        "rewards"
    ] == ["short/length.within"]
    assert judged in hengwen("judge-drift", str(rewarded), "--store", "s.db").out
    assert judged in hengwen("peer-review", "s.db").out


@pytest.mark.slow
def test_the_command_prints_an_address_that_serves(rewarded: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "hengwen",
        "serve-reward",
        str(rewarded),
        "--score",
        "short/length.within",
    ]
    environment = {**os.environ, "HENGWEN_REWARD_TOKEN": "t", "HENGWEN_STORE": str(rewarded.parent / "s.db")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert address.endswith("/t")
        from urllib.request import Request, urlopen

        request = Request(
            address, data=b'{"messages": ["abc"]}', headers={"Content-Type": "application/json"}
        )
        with urlopen(request, timeout=60) as reply:
            assert json.load(reply) == {"scores": [1.0]}
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
