"""Every field of recorded rows, failures and responses, and the inputs of scorers, judges and targets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from rows import each_row
from score_rows import row_of

from hengwen.engine.executor import execute
from hengwen.engine.job import Job, Target, TaskJob, item_hash
from hengwen.engine.metered_backend import CallContext, Committer
from hengwen.engine.recorder import MemoryLedger
from hengwen.errors import BackendError, JudgeError, StoreError
from hengwen.protocols import EvaluationContext
from hengwen.records import (
    Failure,
    Outcome,
    Request,
    Response,
    Row,
    Run,
    Sample,
    Score,
    Verdict,
    digest,
)

SAMPLES = [Sample(id="a", input="in a", task="t", cluster="song"), Sample(id="b", input="in b", task="t")]


@dataclass
class Part:
    """A scorer, group scorer and judge that notes its inputs and may raise."""

    name: str
    kind: str = "scorer"
    scope: str = "checkpoint"
    error: Exception | None = None
    inputs: list[Any] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        return (f"{self.name}.total",)

    @property
    def signature(self) -> str:
        return f"{self.name}|v:1"

    def outcome(self) -> Score:
        if self.error is not None:
            raise self.error
        return Score(name=self.names[0], value=1.0, signature=self.signature, kind=self.kind)

    reads = ("earlier",)

    def score(self, sample: Sample, response: Response, context: EvaluationContext) -> Sequence[Outcome]:
        self.inputs.append((sample.id, response.text, [response.text for response in context.earlier]))
        return [self.outcome()]

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        self.inputs.append([(sample.id, response.text) for sample, response in items])
        return [self.outcome()]

    async def judge(self, sample: Sample, response: Response, context: EvaluationContext) -> Verdict:
        self.inputs.append((sample.id, response.text, [response.text for response in context.earlier]))
        return Verdict(outcomes=(self.outcome(),))


class Ledger(MemoryLedger):
    """A ledger that notes the run and the sample of each recorded response."""

    def __init__(self) -> None:
        super().__init__()
        self.recorded: list[tuple[str, Sample, Response]] = []

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        super().record_response(run_id, sample, response)
        self.recorded.append((run_id, sample, response))


def response(sample: str, text: str, repeat: int = 1, **metadata: Any) -> Response:
    return Response(sample_id=sample, text=text, task="t", checkpoint="c", repeat=repeat, metadata=metadata)


STORED = {"a": [response("a", "one"), response("a", "two", 2)], "b": [response("b", "three")]}


async def evaluate(
    ledger: MemoryLedger, task: TaskJob, run: str = "r1", human_rows: Sequence[Row] = (), **options: Any
) -> list[Row]:
    """Run one task; return the rows of the run."""
    record = Run(id=run, plan="p", plan_hash="h", checkpoint="c")
    ledger.begin(record)
    job = Job(run=record, tasks=[task], human_rows=human_rows, fresh=options.pop("fresh", False))
    await execute(job, ledger, Committer(ledger), **options)
    return [row for row in ledger.rows if row.run_id == run]


def row(part: Part, sample: Sample | None, repeat: int | None, key: str, kind: str = "scorer") -> Row:
    return row_of(
        run_id="r1",
        task="t",
        checkpoint="c",
        sample_id=sample.id if sample else None,
        repeat=repeat,
        cluster=sample.cluster if sample else "t",
        outcome=Score(name=part.names[0], value=1.0, signature=part.signature, kind=kind),
        item_hash=key,
    )


async def test_rows_of_stored_answers_have_every_field() -> None:
    ledger, progress = Ledger(), []
    code, judge = Part("scorer"), Part("judge", "judge")
    repeats, whole = Part("repeats", scope="repeats"), Part("whole")
    task = TaskJob(
        name="t",
        samples=SAMPLES,
        answers=lambda sample_id: STORED[sample_id][::-1],  # in any order
        scorers=[code],
        judges=[judge],
        set_scorers=[repeats, whole],
    )
    rows = await evaluate(ledger, task, progress=lambda done, total: progress.append((done, total)))
    a, b = SAMPLES
    first, second, third = (
        item_hash(a, STORED["a"][0]),
        item_hash(a, STORED["a"][1], STORED["a"][:1]),
        item_hash(b, STORED["b"][0]),
    )
    of_a = digest([(a.hash, "one"), (a.hash, "two")])[:32]
    of_b = digest([(b.hash, "three")])[:32]
    of_all = digest([(a.hash, "one"), (a.hash, "two"), (b.hash, "three")])[:32]
    assert sorted(rows, key=repr) == sorted(
        [
            *(row(part, a, 1, first, part.kind) for part in (code, judge)),
            *(row(part, a, 2, second, part.kind) for part in (code, judge)),
            *(row(part, b, 1, third, part.kind) for part in (code, judge)),
            row(repeats, a, None, of_a),
            row(repeats, b, None, of_b),
            row(whole, None, None, of_all),
        ],
        key=repr,
    )
    inputs = [("a", "one", []), ("a", "two", ["one"]), ("b", "three", [])]
    assert sorted(code.inputs) == sorted(judge.inputs) == inputs
    assert sorted(repeats.inputs) == [[("a", "one"), ("a", "two")], [("b", "three")]]
    assert whole.inputs == [[("a", "one"), ("a", "two"), ("b", "three")]]
    assert progress == [(1, 2), (2, 2)]
    assert ledger.recorded == [
        ("r1", a, STORED["a"][0]),
        ("r1", a, STORED["a"][1]),
        ("r1", b, STORED["b"][0]),
    ]


async def test_a_group_is_not_scored_again_in_the_next_run() -> None:
    ledger, repeats, whole = Ledger(), Part("repeats", scope="repeats"), Part("whole")
    task = TaskJob(name="t", samples=SAMPLES, answers=STORED.__getitem__, set_scorers=[repeats, whole])
    first = await evaluate(ledger, task)
    second = await evaluate(ledger, task, "r2")
    assert (len(repeats.inputs), len(whole.inputs)) == (2, 1)
    assert [row._replace(run_id="r1") for row in second] == first
    await evaluate(ledger, task, "r3", fresh=True)
    assert (len(repeats.inputs), len(whole.inputs)) == (4, 2)


def failure(part: Part, sample: Sample | None, key: str = "", repeat: int | None = 1, **more: Any) -> Row:
    outcome = Failure(name=part.names[0], signature=part.signature, kind=part.kind, **more)
    return row(part, sample, repeat, key)._replace(outcome=outcome)


async def test_a_missing_answer_is_a_failure_with_every_field() -> None:
    code, judge = Part("scorer"), Part("judge", "judge")
    task = TaskJob(name="t", samples=SAMPLES[:1], scorers=[code], judges=[judge], set_scorers=[Part("whole")])
    message = "there is no stored answer to this sample"
    assert await evaluate(Ledger(), task) == [
        failure(part, SAMPLES[0], status="missing", message=message) for part in (code, judge)
    ]


@each_row(
    ("error", "status", "message", "raw"),
    [
        (ValueError("too short"), "scorer_error", "ValueError: too short", ""),
        (KeyError("x"), "scorer_error", "KeyError: 'x'", ""),
        (JudgeError("no verdict", status="parse_error", raw="<b>"), "parse_error", "no verdict", "<b>"),
        (JudgeError("odd", status="of another version"), "scorer_error", "odd", ""),
    ],
)
async def test_an_exception_of_a_part_becomes_a_failure_with_every_field(
    error: Exception, status: str, message: str, raw: str
) -> None:
    code, judge, whole = (
        Part("scorer", error=error),
        Part("judge", "judge", error=error),
        Part("whole", error=error),
    )
    a, stored = SAMPLES[0], STORED["a"][:1]
    task = TaskJob(
        name="t", samples=[a], answers=lambda _: stored, scorers=[code], judges=[judge], set_scorers=[whole]
    )
    words: dict[str, Any] = {"status": status, "message": message, "raw": raw}
    key = item_hash(a, stored[0])
    assert await evaluate(Ledger(), task) == [
        failure(code, a, key, **words),
        failure(judge, a, key, **words),
        failure(whole, None, digest([(a.hash, "one")])[:32], None, **words),
    ]


async def test_a_store_that_fails_while_a_judge_asks_is_no_failure_of_the_judge() -> None:
    judge = Part("judge", "judge", error=StoreError("the disk is full"))
    task = TaskJob(name="t", samples=SAMPLES, answers=STORED.__getitem__, judges=[judge])
    with pytest.raises(StoreError, match="the disk is full"):
        await evaluate(Ledger(), task)


@each_row("kind", ["scorer", "judge"])
@each_row("extra", [(), ("x.more",), ("x.total",)], ids=["none", "unknown", "twice"])
async def test_a_broken_promise_is_a_failure_of_every_name(kind: str, extra: tuple[str, ...]) -> None:
    class Broken(Part):
        names = ("x.total", "x.rest")

        def outcomes(self) -> list[Outcome]:
            return [
                Score(name=name, value=1, signature="x|v:1", kind=self.kind) for name in ("x.total", *extra)
            ]

        def score(self, sample: Sample, response: Response, context: EvaluationContext) -> list[Outcome]:
            return self.outcomes()

        async def judge(self, sample: Sample, response: Response, context: EvaluationContext) -> Verdict:
            return Verdict(outcomes=tuple(self.outcomes()))

    part = Broken("x", kind)
    parts: dict[str, Any] = {"scorers": [part]} if kind == "scorer" else {"judges": [part]}
    task = TaskJob(name="t", samples=SAMPLES[1:], answers=STORED.__getitem__, **parts)
    rows = await evaluate(Ledger(), task)
    message = (
        f"ValueError: x|v:1 gave {['x.total', *extra]}, but promised ['x.total', 'x.rest'], each once"
        if extra
        else "no outcome was given for this name"
    )
    failures = [row.outcome for row in rows if isinstance(row.outcome, Failure)]
    assert failures == [
        Failure(name=name, status="scorer_error", message=message, signature="x|v:1", kind=kind)
        for name in (part.names if extra else ("x.rest",))
    ]
    assert len(rows) == 2


def generated(bench, oracle: Any, repeats: int, **parts: Any) -> Any:
    def task(meter: CallContext) -> TaskJob:
        target = Target(
            backend=bench.wrap(meter, oracle, "subject"),
            signature="subject|oracle|v:1",
            system="Be brief.",
            user="Q: {{ input }}",
            params={"temperature": 0.5},
            repeats=repeats,
        )
        return TaskJob(name="t", samples=SAMPLES[:1], target=target, **parts)

    return task


async def test_a_target_gets_the_prompt_of_the_plan_and_its_answers_are_stored(bench) -> None:
    requests: list[Request] = []

    def answer(number: int, request: Request) -> str:
        requests.append(request)
        return f"answer {request.repeat}"

    bench.ledger, code = Ledger(), Part("scorer")
    await bench.weigh(generated(bench, bench.Oracle(answer=answer), 2, scorers=[code]))
    assert [
        (request.messages, dict(request.params), request.signature, request.repeat) for request in requests
    ] == [
        ((("system", "Be brief."), ("user", "Q: in a")), {"temperature": 0.5}, "subject|oracle|v:1", repeat)
        for repeat in (1, 2)
    ]
    assert bench.ledger.recorded == [
        ("r1", SAMPLES[0], response("a", f"answer {repeat}", repeat, model="m", finish="stop"))
        for repeat in (1, 2)
    ]
    assert code.inputs == [("a", "answer 1", []), ("a", "answer 2", ["answer 1"])]


async def test_a_refusal_of_a_target_is_a_failure_with_every_field(bench) -> None:
    def answer(number: int, request: Request) -> str:
        if request.repeat == 1:
            raise BackendError("the filter", status="refused")
        return "fine"

    code, judge = Part("scorer"), Part("judge", "judge")
    await bench.weigh(generated(bench, bench.Oracle(answer=answer), 2, scorers=[code], judges=[judge]))
    failures = [row for row in bench.ledger.rows if isinstance(row.outcome, Failure)]
    assert failures == [
        failure(part, SAMPLES[0], status="refused", message="no answer: the filter") for part in (code, judge)
    ]
    assert code.inputs == judge.inputs == [("a", "fine", [])]


async def test_repeats_run_concurrently_and_all_end_before_an_error_is_raised(bench) -> None:
    ended: list[int] = []

    class Failing:
        signature = endpoint = "failing"

        async def complete(self, request: Request) -> None:
            for _ in range(30 * request.repeat):
                await asyncio.sleep(0)
            ended.append(request.repeat)
            raise StoreError(f"disk {request.repeat}")

    def task(meter: CallContext) -> TaskJob:
        target = Target(backend=Failing(), signature="s", system=None, user="{{ input }}", repeats=3)
        return TaskJob(name="t", samples=SAMPLES[:1], target=target)

    with pytest.raises(StoreError, match="disk 1"):
        await bench.weigh(task)
    assert ended == [1, 2, 3]


async def test_rows_of_anchors_have_every_field_and_are_not_shared_with_answers() -> None:
    anchored, judge = Part("judge", "judge"), Part("judge", "judge")
    a, frozen = SAMPLES[0], STORED["a"][0]
    task = TaskJob(
        name="t",
        samples=[a],
        answers=lambda _: [frozen],
        judges=[judge],
        anchors=[(a, frozen)],
        anchor_judges=[anchored],
    )
    rows = await evaluate(Ledger(), task)
    plain, anchor = row(judge, a, 1, item_hash(a, frozen), "judge"), item_hash(a, frozen, namespace="anchor")
    assert rows == [plain, plain._replace(score=plain.score.about("anchor"), item_hash=anchor)]
    assert plain.item_hash != anchor
    assert anchored.inputs == [("a", "one", [])]


async def test_human_rows_are_recorded() -> None:
    human = row(Part("human"), SAMPLES[0], 1, "")
    assert await evaluate(Ledger(), TaskJob(name="t", samples=[]), human_rows=[human]) == [human]
