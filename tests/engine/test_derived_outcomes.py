"""Outcomes that are derived from a stored verdict, without another call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hengwen.engine.executor import execute
from hengwen.engine.job import Job, TaskJob, item_hash
from hengwen.engine.metered_backend import Committer
from hengwen.engine.recorder import MemoryLedger
from hengwen.protocols import EvaluationContext
from hengwen.records import Failure, Outcome, Response, Row, Run, Sample, Score, Verdict

SAMPLE = Sample(id="a", input="in a", task="t", cluster="song")
STORED = [
    Response(sample_id="a", text=text, task="t", checkpoint="c", repeat=repeat)
    for repeat, text in enumerate(("one", "two"), start=1)
]


async def evaluate(ledger: MemoryLedger, task: TaskJob, run: str = "r1", *, fresh: bool = False) -> list[Row]:
    """Run one task; return the rows of the run."""
    record = Run(id=run, plan="p", plan_hash="h", checkpoint="c")
    ledger.begin(record)
    await execute(Job(run=record, tasks=[task], fresh=fresh), ledger, Committer(ledger))
    return [row for row in ledger.rows if row.run_id == run]


@dataclass
class Deriving:
    """A judge whose final score follows from its level."""

    derived: str = "final|v:1"
    error: Exception | None = None
    calls: int = 0
    derivations: list[tuple[list[Outcome], str, str, list[str]]] = field(default_factory=list)
    names: tuple[str, ...] = ("x.level", "x.final")

    @property
    def signature(self) -> str:
        return self.derived

    @property
    def signatures(self) -> dict[str, str]:
        return {"x.level": "level|v:1", "x.final": self.derived}

    def level(self) -> Score:
        return Score(name="x.level", value=0.5, signature="level|v:1", kind="judge")

    def final(self) -> Score:
        return Score(name="x.final", value=1.0, signature=self.derived, kind="judge")

    async def judge(self, sample: Sample, response: Response, *, earlier: object = ()) -> Verdict:
        self.calls += 1
        return Verdict(outcomes=(self.level(), self.final()))

    def derive(
        self, outcomes: Sequence[Outcome], sample: Sample, response: Response, context: EvaluationContext
    ) -> list[Outcome]:
        self.derivations.append(
            (list(outcomes), sample.id, response.text, [response.text for response in context.earlier])
        )
        if self.error is not None:
            raise self.error
        return [self.final()]


def judged(judge: object) -> TaskJob:
    return TaskJob(name="t", samples=[SAMPLE], answers=lambda _: STORED, judges=[judge])


async def test_an_outcome_that_follows_from_a_stored_verdict_is_derived_without_a_call() -> None:
    ledger, old, new = MemoryLedger(), Deriving(), Deriving(derived="final|v:2")
    await evaluate(ledger, judged(old))
    rows = await evaluate(ledger, judged(new), "r2")
    assert (old.calls, old.derivations, new.calls) == (2, [], 0)
    assert sorted(new.derivations, key=repr) == [
        ([new.level()], "a", "one", []),
        ([new.level()], "a", "two", ["one"]),
    ]
    keys = [item_hash(SAMPLE, STORED[0]), item_hash(SAMPLE, STORED[1], STORED[:1])]
    assert sorted((row.repeat, row.item_hash, row.score.name, row.outcome.signature) for row in rows) == [
        (repeat, key, name, signature)
        for repeat, key in zip((1, 2), keys, strict=True)
        for name, signature in sorted(new.signatures.items())
    ]


async def test_a_fresh_run_derives_nothing_from_earlier_runs() -> None:
    ledger, new = MemoryLedger(), Deriving(derived="final|v:2")
    await evaluate(ledger, judged(Deriving()))
    await evaluate(ledger, judged(new), "r2", fresh=True)
    assert (new.calls, new.derivations) == (2, [])


async def test_a_fresh_run_that_resumes_derives_from_its_own_rows() -> None:
    ledger, new = MemoryLedger(), Deriving(derived="final|v:2")
    await evaluate(ledger, judged(Deriving()))
    await evaluate(ledger, judged(new), fresh=True)
    assert (new.calls, len(new.derivations)) == (0, 2)


async def test_a_derivation_that_raises_is_a_failure_of_every_name() -> None:
    ledger = MemoryLedger()
    await evaluate(ledger, judged(Deriving()))
    broken = Deriving(derived="final|v:2", error=KeyError("x"))
    rows = await evaluate(ledger, judged(broken), "r2")
    assert {row.outcome for row in rows if row.repeat == 1} == {
        Failure(name=name, status="scorer_error", message="KeyError: 'x'", signature=signature, kind="judge")
        for name, signature in broken.signatures.items()
    }


async def test_a_judge_that_cannot_derive_judges_again() -> None:
    class Plain(Deriving):
        derive = None  # type: ignore[assignment]

    ledger, new = MemoryLedger(), Plain(derived="final|v:2")
    await evaluate(ledger, judged(Plain()))
    await evaluate(ledger, judged(new), "r2")
    assert new.calls == 2
