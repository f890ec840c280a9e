"""Small parts that the engine is tried on: they score, judge and answer in memory."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field

import pytest

from hengwen.engine.executor import execute
from hengwen.engine.job import Job, TaskJob
from hengwen.engine.limits import Limiter
from hengwen.engine.metered_backend import CallContext, Committer, LedgerBackend
from hengwen.engine.recorder import MemoryLedger
from hengwen.errors import BackendError
from hengwen.records import Reply, Request, Response, Run, Sample, Score, Usage, Verdict


@dataclass
class Length:
    """Scores the number of characters; refuses the word ``boom``."""

    seen: list[str] = field(default_factory=list)
    signature: str = "length|v:1"
    names: tuple[str, ...] = ("length.total",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        self.seen.append(f"{sample.id}/{response.repeat}")
        if response.text == "boom":
            raise ValueError("the text goes boom")
        return [Score(name="length.total", value=len(response.text), signature=self.signature)]


@dataclass
class Asking:
    """A judge that asks a backend for a number."""

    backend: object
    signature: str = "asking|v:1"
    names: tuple[str, ...] = ("asking.level",)

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        prompt = f"{sample.id}/{response.repeat}: {response.text}"
        request = Request(messages=(("user", prompt),), signature=self.signature)
        reply = await self.backend.complete(request)  # type: ignore[attr-defined]
        return Verdict(
            outcomes=(
                Score(name="asking.level", value=float(reply.text), signature=self.signature, kind="judge"),
            )
        )


@dataclass
class Oracle:
    """A backend that answers by a function; counts its calls and those in flight."""

    answer: Callable[[int, Request], str] = lambda number, request: "1"
    delay: float = 0.0
    turns: int = 0
    """Further turns of the event loop that an answer takes; unlike seconds the same on every machine."""
    calls: int = 0
    in_flight: int = 0
    most: int = 0
    closed: bool = False
    signature: str = "oracle|temp:0"
    endpoint: str = "oracle"

    async def complete(self, request: Request) -> Reply:
        self.calls += 1
        number = self.calls
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
            for _ in range(self.turns):
                await asyncio.sleep(0)
            text = self.answer(number, request)
        finally:
            self.in_flight -= 1
        return Reply(text=text, model="m", usage=Usage(calls=1, input_tokens=10, output_tokens=2))

    async def close(self) -> None:
        self.closed = True


class Bench:
    """Runs task jobs on a ledger in memory."""

    Length = Length
    Asking = Asking
    Oracle = Oracle

    def __init__(self) -> None:
        self.ledger = MemoryLedger()
        self.meter: CallContext | None = None

    @staticmethod
    def wrap(meter: CallContext, backend: object, role: str, slots: int = 4, **more: object) -> LedgerBackend:
        """A backend under a meter with a limiter of its own."""
        return LedgerBackend(meter, backend, role, Limiter(slots), **more)

    def run(self, name: str = "r1") -> Run:
        return Run(id=name, plan="p", plan_hash="h", checkpoint="c")

    async def weigh(
        self,
        make: Callable[[CallContext], TaskJob],
        *,
        run: str = "r1",
        concurrency: int = 4,
    ) -> dict[tuple[str | None, int | None, str], object]:
        """Weigh one task; return the outcomes of the run by place."""
        committer = Committer(self.ledger)
        self.meter = CallContext(self.ledger, committer, run)
        self.ledger.begin(self.run(run))
        job = Job(run=self.run(run), tasks=[make(self.meter)])
        await execute(job, self.ledger, committer, concurrency=concurrency)
        return {
            (row.sample_id, row.repeat, row.score.name): row.outcome
            for row in self.ledger.rows
            if row.run_id == run
        }

    @staticmethod
    def samples(*names: str) -> list[Sample]:
        return [Sample(id=name, input=f"in {name}", task="t") for name in names]

    @staticmethod
    def answers(**texts: str | list[str]) -> Callable[[str], list[Response]]:
        found = {
            name: [
                Response(sample_id=name, text=text, task="t", checkpoint="c", repeat=repeat)
                for repeat, text in enumerate([given] if isinstance(given, str) else given, start=1)
            ]
            for name, given in texts.items()
        }
        return lambda sample_id: found.get(sample_id, [])

    @staticmethod
    def refuse(**how: object) -> Callable[[int, Request], str]:
        def answer(number: int, request: Request) -> str:
            raise BackendError("no", **how)

        return answer


@pytest.fixture
def bench() -> Bench:
    return Bench()


class InstantSelector(selectors.SelectSelector):
    """Advances the clock of the loop instead of sleeping."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class InstantLoop(asyncio.SelectorEventLoop):
    """A loop with a simulated clock, on which sleeping takes no real time."""

    def __init__(self) -> None:
        self.selector = InstantSelector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.now


@pytest.fixture
def instantly() -> Callable[[Coroutine[None, None, None]], float]:
    """Run a coroutine on a simulated clock and return the seconds that passed on it."""

    def run(work: Coroutine[None, None, None]) -> float:
        with asyncio.Runner(loop_factory=InstantLoop) as runner:
            start = runner.get_loop().time()
            runner.run(work)
            return runner.get_loop().time() - start

    return run
