"""Scorers as reward functions, called as the frameworks call them."""

from __future__ import annotations

import pytest

from hengwen.errors import ConfigError, DataError
from hengwen.integrations import as_reward
from hengwen.judges import RulesJudge
from hengwen.prompts import load_rubric
from hengwen.records import Failure, Scale, Score


class Digits:
    """Score the number in an answer; an answer without one fails, and ``boom`` raises."""

    signature = "digits|v:1"
    names = ("digits",)

    def __init__(self, *, higher: bool = True) -> None:
        self.scale = Scale(low=0, high=9, higher_is_better=higher)
        self.seen: list = []

    def score(self, sample, response):
        self.seen.append(sample)
        if response.text == "boom":
            raise ValueError("no")
        if not response.text.isdigit():
            return [Failure(name="digits", status="refused", message="no number", signature=self.signature)]
        return [Score(name="digits", value=float(response.text), signature=self.signature, scale=self.scale)]


def test_trl_gets_none_for_a_failure_and_a_metric() -> None:
    scorer = Digits()
    metrics: dict[str, float] = {}
    reward = as_reward(scorer)
    chat = [{"role": "user", "content": "Why?"}]
    answers = [[{"role": "assistant", "content": text}] for text in ("3", "x", "boom", "5")]
    values = reward(
        prompts=[chat] * 4,
        completions=answers,
        completion_ids=[[1], [2], [3], [4]],
        solution=["a", "b", "c", "d"],
        trainer_state=object(),
        log_extra=None,
        log_metric=metrics.__setitem__,
    )
    assert values == [3.0, None, None, 5.0]
    assert metrics == {"hengwen/digits/failures": 0.5}
    assert [sample.references for sample in scorer.seen] == [("a",), ("b",), ("c",), ("d",)]
    assert scorer.seen[0].input == "Why?"


def test_where_lower_is_better_the_reward_is_negative() -> None:
    assert as_reward(Digits(higher=False))(prompts=["?"], completions=["4"]) == [-4.0]


def test_swift_gives_a_failure_the_mean_of_its_siblings() -> None:
    orm = as_reward(Digits(), for_="swift")(args=None)
    messages = [[{"role": "user", "content": prompt}] for prompt in ("p", "p", "p", "q", "q")]
    assert orm(["2", "4", "x", "9", "x"], messages=messages) == [2.0, 4.0, 3.0, 9.0, 9.0]
    with pytest.raises(DataError, match="no answer of the batch has a score"):
        orm(["x", "y"])


def test_verl_gets_the_same_keys_for_every_answer_and_never_none() -> None:
    score = as_reward(Digits(), for_="verl", on_failure=-1.0)
    assert score(data_source="d", solution_str="4", ground_truth="g") == {"score": 4.0, "failed": 0.0}
    assert score(data_source="d", solution_str="x", ground_truth="g") == {"score": -1.0, "failed": 1.0}
    with pytest.raises(DataError, match="digits: refused: no number"):
        as_reward(Digits(), for_="verl")(data_source="d", solution_str="x", ground_truth="g")
    with pytest.raises(DataError, match="digits: scorer_error: ValueError: no"):
        as_reward(Digits(), for_="verl")(data_source="d", solution_str="boom", ground_truth="g")


def test_openrlhf_gets_the_reward_of_the_answer_after_the_prompt() -> None:
    reward = as_reward(Digits(), for_="openrlhf", on_failure=-1.0)
    assert reward(queries=["p: 4"], prompts=["p: "], labels=["g"]) == {
        "rewards": [4.0],
        "scores": [4.0],
        "extra_logs": {"failed": [0.0]},
    }
    assert reward(queries=["p: x"], prompts=["p: "], labels=["g"])["extra_logs"] == {"failed": [1.0]}


def test_a_judge_is_a_reward_too() -> None:
    judge = RulesJudge(rubric=load_rubric("persona_generic"))
    good, empty = as_reward(judge)(prompts=["?", "?"], completions=["我在。", ""])
    assert good > empty


@pytest.mark.parametrize(
    ("framework", "on_failure", "message"),
    [
        ("swift", "none", "does not mask"),
        ("verl", "none", "does not mask"),
        ("verl", "mean", "one answer at a time"),
        ("openrlhf", "mean", "one answer at a time"),
        ("trl", "zero", "on_failure is none, mean, raise or a number"),
        ("ppo", None, "no framework 'ppo'"),
    ],
)
def test_what_a_framework_cannot_do_is_refused(framework, on_failure, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        as_reward(Digits(), for_=framework, on_failure=on_failure)
