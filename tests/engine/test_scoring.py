"""Worker processes give the outcomes that the main process gives, and a crash is a Failure of one answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hengwen._internal.plugins import import_file
from hengwen.engine import scoring
from hengwen.engine.evaluate import GroupEvaluator, JudgeEvaluator, ScorerEvaluator
from hengwen.engine.executor import execute
from hengwen.engine.job import Job, TaskJob
from hengwen.engine.metered_backend import Committer
from hengwen.engine.recorder import MemoryLedger
from hengwen.engine.scoring import ScoringPool, Unit
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.judge import RulesJudge
from hengwen.judges.rules.rule import RuleScorer, RuleSet
from hengwen.judges.rules.text_rules import NearDuplicate
from hengwen.objective.checks import Length
from hengwen.objective.diversity.scorers import DistinctN, SelfBleu
from hengwen.prompts import load_rubric
from hengwen.records import Failure, Response, Row, Run, Score

pytestmark = [pytest.mark.slow, pytest.mark.untraced]

SCORERS = """
import os
from hengwen.records import Score

class Process:
    signature, names = "process|v:1", ("process.id",)
    def score(self, sample, response):
        return [Score(name="process.id", value=os.getpid(), signature=self.signature)]

class Fragile:
    signature, names = "fragile|v:1", ("fragile.total",)
    def score(self, sample, response):
        if "boom" in response.text:
            os._exit(3)
        return [Score(name="fragile.total", value=1, signature=self.signature)]

class Odd:
    signature, names = "odd|v:1", ("odd.total",)
    def score(self, sample, response):
        details = {"f": (i for i in ())}
        return [Score(name="odd.total", value=1, signature=self.signature, details=details)]

class Large(Process):
    signature, names = "large|v:1", ("process.id",)
    def __init__(self):
        self.index = b"x" * 20_000_000
"""

TEXTS = ("boom!", "boom boom")


@pytest.fixture
def scorers(tmp_path: Path) -> Any:
    """Module of a file with scorers, which worker processes import, too."""
    (tmp_path / "scorers.py").write_text(SCORERS, "utf-8")
    return import_file(tmp_path / "scorers.py")


async def evaluate(task: TaskJob, *, workers: int = 0, ledger: MemoryLedger | None = None) -> list[Row]:
    """Run a task and return its rows; ``workers=0`` uses no pool."""
    ledger, run = ledger or MemoryLedger(), Run(id="r1", plan="p", plan_hash="h", checkpoint="c")
    ledger.begin(run)
    pool = None
    if workers:
        evaluators = [
            *map(ScorerEvaluator, task.scorers),
            *(GroupEvaluator(scorer) for scorer in task.set_scorers if scorer.scope == "repeats"),
            *(evaluator for evaluator in map(JudgeEvaluator, task.judges) if evaluator.is_local),
        ]
        pool = ScoringPool({task.name: evaluators}, workers)
    try:
        await execute(Job(run=run, tasks=[task]), ledger, Committer(ledger), pool=pool)
    finally:
        if pool is not None:
            pool.close()
    return ledger.rows


def by_key(rows: Sequence[Row]) -> dict[tuple[str | None, int | None, str], Row]:
    return {(row.sample_id, row.repeat, row.score.name): row for row in rows}


def outcomes(rows: Sequence[Row], name: str) -> list[Score | Failure]:
    return [row.outcome for row in rows if row.score.name == name]


def process_ids(rows: Sequence[Row]) -> set[float]:
    return {score.value for score in outcomes(rows, "process.id") if isinstance(score, Score)}


def mixed_task(bench, *more: Any) -> TaskJob:
    """A task with every kind of evaluator that worker processes can have, and others."""
    names = [f"s{number}" for number in range(120)]
    texts = {
        name: [f"第{name}行，风吹过山岗。", f"第{name}行，风吹过山岗！", "雨" * 40] for name in names[:-1]
    }
    rules = RuleSet((NearDuplicate(),))
    rubric = load_rubric("lyric_craft")
    return TaskJob(
        name="t",
        samples=bench.samples(*names),
        answers=bench.answers(**texts),
        scorers=[Length(), RuleScorer(NearDuplicate()), bench.Length(), *more],
        set_scorers=[SelfBleu(), DistinctN(scope="repeats"), DistinctN()],
        judges=[RulesJudge(rubric=rubric), CappedJudge(RulesJudge(rubric=rubric, name="capped"), rules)],
    )


async def test_worker_processes_give_the_outcomes_of_the_main_process(bench) -> None:
    task = mixed_task(bench)
    rows = by_key(await evaluate(task))
    assert by_key(await evaluate(task, workers=2)) == rows
    assert {row.outcome.status for row in rows.values() if isinstance(row.outcome, Failure)} == {
        "missing",
        "not_applicable",
    }


async def test_scorers_of_files_are_used_in_worker_processes(bench, scorers: Any) -> None:
    task = mixed_task(bench, scorers.Process())
    assert process_ids(await evaluate(task)) == {os.getpid()}
    assert os.getpid() not in process_ids(await evaluate(task, workers=1))


async def test_completed_outcomes_are_not_evaluated_again_by_worker_processes(bench, scorers: Any) -> None:
    task, ledger = mixed_task(bench, scorers.Process()), MemoryLedger()
    first = await evaluate(task, workers=1, ledger=ledger)
    assert await evaluate(task, workers=1, ledger=ledger) == first  # another process would have another id


async def test_a_crash_is_a_failure_of_the_scorer_and_the_answer_that_caused_it(bench, scorers: Any) -> None:
    texts = {f"s{number}": ["fine", "boom" if number in (2, 120) else "good"] for number in range(150)}
    task = TaskJob(
        name="t",
        samples=bench.samples(*texts),
        answers=bench.answers(**texts),
        scorers=[Length(), scorers.Fragile()],
    )
    rows = await evaluate(task, workers=2)
    failures = {key: row.outcome for key, row in by_key(rows).items() if isinstance(row.outcome, Failure)}
    assert set(failures) == {("s2", 2, "fragile.total"), ("s120", 2, "fragile.total")}
    assert {(failure.status, failure.message) for failure in failures.values()} == {
        ("scorer_error", "the worker process that scored it died: exit code 3")
    }
    assert len(rows) == 3 * 2 * len(texts)  # three scores of two answers


async def test_a_scorer_that_always_crashes_is_given_up(
    bench, scorers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "MAX_CRASHES", 2)
    texts = {f"s{number}": "boom" for number in range(14)}
    task = TaskJob(
        name="t",
        samples=bench.samples(*texts),
        answers=bench.answers(**texts),
        scorers=[Length(), scorers.Fragile()],
    )
    monkeypatch.setattr("hengwen.engine.executor.BATCH_SAMPLES", 1)
    rows = await evaluate(task, workers=1)
    failures = outcomes(rows, "fragile.total")
    assert {failure.status for failure in failures if isinstance(failure, Failure)} == {"scorer_error"}
    assert len(failures) == len(texts)
    assert "not tried, because it crashed at 2 answers" in failures[-1].message
    assert len(rows) == 3 * len(texts)
    assert all(isinstance(row.outcome, Score) for row in rows if row.outcome not in failures)


async def test_outcomes_stay_with_their_answers_when_a_second_scorer_is_given_up(
    bench, scorers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "MAX_CRASHES", 2)
    fragile, length = ScorerEvaluator(scorers.Fragile()), ScorerEvaluator(bench.Length())
    pool = ScoringPool({"first": [fragile], "second": [fragile, length]}, 1)
    (sample,) = bench.samples("s")
    responses = [Response(sample_id="s", text=text, task="t", repeat=n) for n, text in enumerate(TEXTS)]
    evaluations = [(index, number) for index in range(len(TEXTS)) for number in range(2)]
    try:
        await pool.evaluate([Unit("first", sample, tuple(responses), ((0, 0), (1, 0)))])
        ((*outcomes,),) = await pool.evaluate([Unit("second", sample, tuple(responses), tuple(evaluations))])
    finally:
        pool.close()
    (first,), (length_of_first,), (second,), (length_of_second,) = outcomes
    assert [type(first), type(second)] == [Failure, Failure]
    assert [length_of_first.value, length_of_second.value] == [len(text) for text in TEXTS]


def lambda_scorer(score: Callable[..., Any]) -> Any:
    scorer = type("Local", (), {"signature": "local|v:1", "names": ("local.total",)})()
    scorer.score = score
    return scorer


async def test_a_scorer_that_cannot_be_pickled_is_used_in_the_main_process(bench) -> None:
    scorer = lambda_scorer(
        lambda sample, response: [Score(name="local.total", value=1, signature="local|v:1")]
    )
    task = mixed_task(bench, scorer)
    rows = by_key(await evaluate(task))
    assert by_key(await evaluate(task, workers=2)) == rows


async def test_a_large_scorer_is_used_in_the_main_process(bench, scorers: Any) -> None:
    pool = ScoringPool({"t": [ScorerEvaluator(scorers.Large()), ScorerEvaluator(Length())]}, 1)
    assert pool.number_of("t", ScorerEvaluator(scorers.Large())) is None
    assert pool.number_of("t", ScorerEvaluator(Length())) == 0


async def test_outcomes_that_cannot_be_pickled_are_computed_in_the_main_process(bench, scorers: Any) -> None:
    task = TaskJob(
        name="t", samples=bench.samples("a"), answers=bench.answers(a="x"), scorers=[scorers.Odd(), Length()]
    )
    rows = await evaluate(task, workers=1)
    assert [type(row.outcome) for row in rows] == [Score] * 3


async def test_without_processes_the_main_process_scores(bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    task = mixed_task(bench)
    assert by_key(await evaluate(task, workers=2)) == by_key(await evaluate(task))
