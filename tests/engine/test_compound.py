"""Scorers that read earlier answers, and judges whose outcomes have several signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hengwen.engine.job import TaskJob
from hengwen.protocols import NO_CONTEXT, EvaluationContext
from hengwen.records import Failure, Outcome, Response, Sample, Score, Verdict


@dataclass
class Counting:
    """Scores how many answers came before."""

    signature: str = "before|v:1"
    names: tuple[str, ...] = ("before.count",)

    reads: tuple[str, ...] = ("earlier",)

    def score(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> list[Outcome]:
        assert [answer.repeat for answer in context.earlier] == list(range(1, response.repeat))
        return [Score(name=self.names[0], value=len(context.earlier), signature=self.signature)]


@dataclass
class Two:
    """A judge with a raw and a derived score; either may be left out."""

    derived: str = "derived|v:1"
    gives: tuple[str, ...] = ("two.level", "two.final")
    judged: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ("two.level", "two.final")

    @property
    def signature(self) -> str:
        return self.derived

    @property
    def signatures(self) -> dict[str, str]:
        return {"two.level": "raw|v:1", "two.final": self.derived}

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        self.judged.append(sample.id)
        if response.text == "boom":
            raise ValueError("the text goes boom")
        scores = [
            Score(name=name, value=1, signature=self.signatures[name], kind="judge") for name in self.gives
        ]
        return Verdict(outcomes=tuple(scores))


def task(bench, *judges: Two, text: str = "x", **more: object) -> TaskJob:
    return TaskJob(
        name="t",
        samples=bench.samples("a"),
        answers=bench.answers(a=text),
        judges=list(judges),
        **more,
    )


async def test_a_history_scorer_gets_the_earlier_answers(bench) -> None:
    job = TaskJob(
        name="t",
        samples=bench.samples("a", "b"),
        answers=bench.answers(a=["x", "y", "z"], b="x"),
        scorers=[Counting()],
    )
    outcomes = await bench.weigh(lambda meter: job)
    assert {key[:2]: outcome.value for key, outcome in outcomes.items()} == {
        ("a", 1): 0,
        ("a", 2): 1,
        ("a", 3): 2,
        ("b", 1): 0,
    }


async def test_an_answer_is_scored_again_when_an_earlier_one_changes(bench) -> None:
    scorer = Counting()
    for first in ("x", "y"):
        job = TaskJob(
            name="t", samples=bench.samples("a"), answers=bench.answers(a=[first, "z"]), scorers=[scorer]
        )
        await bench.weigh(lambda meter, job=job: job, run=f"run {first}")
    hashes = {(row.run_id, row.repeat): row.item_hash for row in bench.ledger.rows}
    assert hashes["run x", 2] != hashes["run y", 2]


async def test_outcomes_completed_under_all_signatures_are_adopted(
    bench,
) -> None:
    judge = Two()
    await bench.weigh(lambda meter: task(bench, judge))
    outcomes = await bench.weigh(lambda meter: task(bench, judge), run="r2")
    assert judge.judged == ["a"]
    assert {name: outcome.signature for (_, _, name), outcome in outcomes.items()} == judge.signatures


async def test_an_item_is_judged_again_if_one_signature_is_new(bench) -> None:
    old, new = Two(), Two(derived="derived|v:2")
    await bench.weigh(lambda meter: task(bench, old))
    outcomes = await bench.weigh(lambda meter: task(bench, new), run="r2")
    assert new.judged == ["a"]
    assert {name: outcome.signature for (_, _, name), outcome in outcomes.items()} == new.signatures


async def test_a_missing_outcome_fails_under_its_own_signature_and_is_tried_again(bench) -> None:
    judge = Two(gives=("two.level",))
    outcomes = await bench.weigh(lambda meter: task(bench, judge))
    failure = outcomes["a", 1, "two.final"]
    assert isinstance(failure, Failure)
    assert (failure.signature, failure.message) == ("derived|v:1", "no outcome was given for this name")
    judge.gives = judge.names
    outcomes = await bench.weigh(lambda meter: task(bench, judge))
    assert judge.judged == ["a", "a"]
    assert outcomes["a", 1, "two.final"].value == 1


async def test_an_exception_fails_every_name_under_its_own_signature(bench) -> None:
    judge = Two()
    outcomes = await bench.weigh(lambda meter: task(bench, judge, text="boom"))
    assert {name: (outcome.status, outcome.signature) for (_, _, name), outcome in outcomes.items()} == {
        "two.level": ("scorer_error", "raw|v:1"),
        "two.final": ("scorer_error", "derived|v:1"),
    }


async def test_a_missing_answer_is_missing_under_both_signatures(bench) -> None:
    job = TaskJob(name="t", samples=bench.samples("a"), judges=[Two()])
    outcomes = await bench.weigh(lambda meter: job)
    assert {name: (outcome.status, outcome.signature) for (_, _, name), outcome in outcomes.items()} == {
        "two.level": ("missing", "raw|v:1"),
        "two.final": ("missing", "derived|v:1"),
    }


async def test_anchors_have_both_scores_under_names_of_their_own(bench) -> None:
    judge = Two()
    anchor = (bench.samples("z")[0], bench.answers(z="x")("z")[0])
    outcomes = await bench.weigh(lambda meter: task(bench, anchors=[anchor], anchor_judges=[judge]))
    assert {name for _, _, name in outcomes} == {"anchor.two.level", "anchor.two.final"}
    await bench.weigh(lambda meter: task(bench, anchors=[anchor], anchor_judges=[judge]))
    assert judge.judged == ["z"]
