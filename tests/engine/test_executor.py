"""Every answer is evaluated once, and every failure is typed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hengwen.engine.job import Target, TaskJob
from hengwen.errors import StoreError
from hengwen.objective.diversity.scorers import DistinctN
from hengwen.records import Failure, Response, Sample, Score


async def test_every_repeat_of_every_sample_is_scored(bench) -> None:
    task = TaskJob(
        name="t",
        samples=bench.samples("a", "b"),
        answers=bench.answers(a=["x", "xx"], b="xxx"),
        scorers=[bench.Length()],
    )
    outcomes = await bench.weigh(lambda meter: task)
    assert {key: outcome.value for key, outcome in outcomes.items()} == {
        ("a", 1, "length.total"): 1,
        ("a", 2, "length.total"): 2,
        ("b", 1, "length.total"): 3,
    }


async def test_an_exception_of_a_scorer_becomes_a_failure_and_the_run_continues(bench) -> None:
    task = TaskJob(
        name="t",
        samples=bench.samples("a", "b"),
        answers=bench.answers(a="boom", b="ok"),
        scorers=[bench.Length()],
    )
    outcomes = await bench.weigh(lambda meter: task)
    failure = outcomes[("a", 1, "length.total")]
    assert (failure.status, failure.message) == ("scorer_error", "ValueError: the text goes boom")
    assert outcomes[("b", 1, "length.total")].value == 2


async def test_a_sample_without_an_answer_is_missing_in_every_score(bench) -> None:
    def make(meter) -> TaskJob:
        judge = bench.Asking(bench.wrap(meter, bench.Oracle(), "judge"))
        return TaskJob(name="t", samples=bench.samples("a"), scorers=[bench.Length()], judges=[judge])

    outcomes = await bench.weigh(make)
    assert {outcome.status for outcome in outcomes.values()} == {"missing"}
    assert {name for _, _, name in outcomes} == {"length.total", "asking.level"}


@dataclass
class Liar:
    """Promises one name and returns the scores of its field."""

    scores: list[Score]
    signature: str = "liar|v:1"
    names: tuple[str, ...] = ("liar.total",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        return self.scores


@pytest.mark.parametrize(
    "names", [[], ["liar.other"], ["liar.total", "liar.total"]], ids=["none", "other", "twice"]
)
async def test_a_scorer_that_breaks_its_promise_fails_and_never_scores_zero(bench, names: list[str]) -> None:
    scorer = Liar([Score(name=name, value=1, signature="liar|v:1") for name in names])
    task = TaskJob(name="t", samples=bench.samples("a"), answers=bench.answers(a="x"), scorers=[scorer])
    (outcome,) = (await bench.weigh(lambda meter: task)).values()
    assert isinstance(outcome, Failure)
    assert (outcome.name, outcome.status) == ("liar.total", "scorer_error")


async def test_a_completed_outcome_is_not_evaluated_again(bench) -> None:
    scorer, oracle = bench.Length(), bench.Oracle()

    def make(meter) -> TaskJob:
        return TaskJob(
            name="t",
            samples=bench.samples("a", "b"),
            answers=bench.answers(a="x", b="xx"),
            scorers=[scorer],
            judges=[bench.Asking(bench.wrap(meter, oracle, "judge"))],
        )

    first = await bench.weigh(make)
    assert await bench.weigh(make) == first
    assert (len(scorer.seen), oracle.calls) == (2, 2)


async def test_a_new_run_of_the_series_adopts_unchanged_outcomes_and_evaluates_the_rest(bench) -> None:
    scorer = bench.Length()

    def task(**texts: str) -> TaskJob:
        return TaskJob(
            name="t", samples=bench.samples(*texts), answers=bench.answers(**texts), scorers=[scorer]
        )

    await bench.weigh(lambda meter: task(a="x", b="xx"))
    outcomes = await bench.weigh(lambda meter: task(a="x", b="changed", c="new"), run="r2")
    assert scorer.seen == ["a/1", "b/1", "b/1", "c/1"]
    assert {key[0]: outcome.value for key, outcome in outcomes.items()} == {"a": 1, "b": 7, "c": 3}


async def test_a_failed_outcome_is_tried_again_by_the_next_call(bench) -> None:
    oracle = bench.Oracle(answer=lambda number, request: "no number" if number == 1 else "0.5")

    def make(meter) -> TaskJob:
        return TaskJob(
            name="t",
            samples=bench.samples("a"),
            answers=bench.answers(a="x"),
            judges=[bench.Asking(bench.wrap(meter, oracle, "judge", cache_scope=f"{oracle.calls}"))],
        )

    assert isinstance((await bench.weigh(make))[("a", 1, "asking.level")], Failure)
    assert (await bench.weigh(make))[("a", 1, "asking.level")].value == 0.5


async def test_anchors_are_judged_again_in_every_run_and_named_apart(bench) -> None:
    oracle = bench.Oracle()

    def make(meter) -> TaskJob:
        (sample,), answers = bench.samples("a"), bench.answers(a="x")
        return TaskJob(
            name="t",
            samples=[sample],
            answers=answers,
            judges=[bench.Asking(bench.wrap(meter, oracle, "judge"))],
            anchors=[(sample, answers("a")[0])],
            anchor_judges=[bench.Asking(bench.wrap(meter, oracle, "judge", cache_scope=meter.run_id))],
        )

    outcomes = await bench.weigh(make)
    assert {name for _, _, name in outcomes} == {"asking.level", "anchor.asking.level"}
    assert oracle.calls == 2
    await bench.weigh(make, run="r2")
    assert oracle.calls == 3  # the answer is adopted, the anchor is not


@pytest.mark.slow
@pytest.mark.parametrize(("scope", "key"), [("repeats", ("a", None)), ("checkpoint", (None, None))])
async def test_a_group_scorer_gets_the_group_of_its_scope(bench, scope: str, key: tuple) -> None:
    task = TaskJob(
        name="t",
        samples=bench.samples("a"),
        answers=bench.answers(a=["风吹过", "风吹来"]),
        set_scorers=[DistinctN(scope=scope)],
    )
    outcomes = await bench.weigh(lambda meter: task)
    assert {position: outcome.value for position, outcome in outcomes.items()} == {
        (*key, f"distinct_2.{scope}"): 0.75
    }


async def test_a_target_answers_each_sample_once_per_repeat(bench) -> None:
    oracle = bench.Oracle(answer=lambda number, request: request.messages[-1][1] * request.repeat)

    def make(meter) -> TaskJob:
        backend = bench.wrap(meter, oracle, "subject")
        target = Target(backend=backend, signature="s", system=None, user="{{ input }}", repeats=2)
        return TaskJob(name="t", samples=bench.samples("a"), target=target, scorers=[bench.Length()])

    outcomes = await bench.weigh(make)
    assert {key[1]: outcome.value for key, outcome in outcomes.items()} == {1: 4, 2: 8}
    assert [response.text for response in bench.ledger.responses] == ["in a", "in ain a"]
    await bench.weigh(make, run="r2")
    assert oracle.calls == 2  # answers that were paid for are used again


async def test_a_target_without_a_reply_is_a_failure_of_every_score(bench) -> None:
    oracle = bench.Oracle(answer=bench.refuse(status="refused"))

    def make(meter) -> TaskJob:
        target = Target(
            backend=bench.wrap(meter, oracle, "subject"), signature="s", system=None, user="{{ input }}"
        )
        return TaskJob(name="t", samples=bench.samples("a"), target=target, scorers=[bench.Length()])

    (outcome,) = (await bench.weigh(make)).values()
    assert (outcome.status, outcome.message) == ("refused", "no answer: no")


@pytest.mark.slow
@pytest.mark.parametrize(("concurrency", "in_work"), [(1, 1), (8, 8), (16, 17), (32, 34)])
async def test_samples_are_prefetched_but_calls_in_flight_stay_within_the_limit(
    bench, concurrency: int, in_work: int
) -> None:
    oracle = bench.Oracle(turns=200)
    begun: set[str] = set()
    most = 0

    def answers(sample_id: str) -> list[Response]:
        nonlocal most
        begun.add(sample_id)
        most = max(most, len(begun) - len({row.sample_id for row in bench.ledger.rows}))
        return [Response(sample_id=sample_id, text="x", task="t", checkpoint="c")]

    def make(meter) -> TaskJob:
        judge = bench.Asking(bench.wrap(meter, oracle, "judge", slots=concurrency))
        names = [f"s{number}" for number in range(80)]
        return TaskJob(name="t", samples=bench.samples(*names), answers=answers, judges=[judge])

    outcomes = await bench.weigh(make, concurrency=concurrency)
    assert (len(outcomes), oracle.calls) == (80, 80)
    assert (oracle.most, most) == (concurrency, in_work)


async def test_a_ledger_that_fails_stops_the_run_with_its_own_error(
    bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise StoreError("disk full")

    monkeypatch.setattr(bench.ledger, "commit", full)
    task = TaskJob(
        name="t",
        samples=bench.samples(*"abcdefgh"),
        answers=bench.answers(**dict.fromkeys("abcdefgh", "x")),
        scorers=[bench.Length()],
    )
    with pytest.raises(StoreError, match="disk full"):
        await bench.weigh(lambda meter: task, concurrency=2)
