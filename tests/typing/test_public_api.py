"""The types of the public API as a user's type checker sees them; checked under strict mypy and executed."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal, assert_type

import pytest
from rows import each_row

import hengwen
from hengwen import judges, objective, peer_review, prompts, relevance_metrics
from hengwen.judges.calibration.joining import JudgedAnswer
from hengwen.judges.calibration.means import CorrectedMean
from hengwen.judges.rules.rule import RuleSet
from hengwen.judges.trust.admission_report import AdmissionReport
from hengwen.judges.trust.biases import FamilyBias, LengthBias
from hengwen.objective.duplicates.similarity import Duplicate
from hengwen.objective.duplicates.training_set import LeakMatch
from hengwen.objective.overlap.chrf import Chrf
from hengwen.objective.overlap.ter import Ter
from hengwen.objective.rhyme import RhymeClass
from hengwen.protocols import Backend, Judge
from hengwen.records import Reply, Request

PUBLIC = [hengwen, objective, relevance_metrics, judges, prompts, peer_review]
PLAN = """\
name: p
tasks: [{name: poem, samples: poem.jsonl, judges: [{rubric: muice_live, judge: rules}]}]
checkpoints: [{name: day-1, responses: day-1.jsonl}]
"""
TEMPLATE = "(verse)\ncccR\ncccR"
LYRIC = "(verse)\n明月光\n在家乡"


@each_row("package", PUBLIC)
def test_every_public_name_is_used_here(package: ModuleType) -> None:
    short_name = package.__name__.rpartition(".")[2]
    used = {
        node.attr
        for node in ast.walk(ast.parse(Path(__file__).read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == short_name
    }
    assert set(dir(package)) - used == set()


def signatures(value: object) -> Iterator[tuple[str, str]]:
    """Yield the name and the annotation of each parameter, result and field of a public name."""
    functions = [value] if inspect.isfunction(value) else []
    if isinstance(value, type):
        members = {name: inspect.getattr_static(value, name) for name in vars(value)}
        functions += [
            getattr(member, "fget", None) or getattr(member, "__func__", None) or member
            for name, member in members.items()
            if not name.startswith("_") or name in ("__init__", "__call__", "__getitem__")
        ]
        yield from ((name, str(text)) for name, text in vars(value).get("__annotations__", {}).items())
    for function in functions:
        if not getattr(function, "__module__", "hengwen").startswith("hengwen"):  # pydantic's
            continue
        yield from ((name, str(text)) for name, text in getattr(function, "__annotations__", {}).items())


@each_row("package", PUBLIC)
def test_no_public_signature_has_any(package: ModuleType) -> None:
    """``Any`` would switch off a user's type checker; pydantic's models keep it to themselves."""
    for name in dir(package):
        for parameter, text in signatures(getattr(package, name)):
            assert not re.search(r"\bAny\b", text), (name, parameter, text)


def test_records() -> None:
    scale = assert_type(hengwen.Scale(low=0, high=1, levels=(0, 1)), hengwen.Scale)
    score = hengwen.Score(name="x", value=1, signature="x|v:1", scale=scale)
    failure = hengwen.Failure(name="x", status="timeout", message="no reply", signature="x|v:1")
    outcomes: list[hengwen.Outcome] = [score, failure]
    values: list[float] = [outcome.value for outcome in outcomes if isinstance(outcome, hengwen.Score)]
    assert values == [1]
    verdict = hengwen.Verdict(outcomes=tuple(outcomes), usage=hengwen.Usage(calls=1))
    assert_type(verdict.outcomes, tuple[hengwen.Score | hengwen.Failure, ...])
    assert_type(verdict.usage + hengwen.Usage(), hengwen.Usage)
    sample = hengwen.Sample(id="a", input="晚安")
    assert_type(sample.text, str)
    assert_type(sample.references, tuple[str, ...])
    assert_type(hengwen.Response(sample_id=sample.id, text="好梦").metadata, Mapping[str, object])
    label = hengwen.Label(task="t", id="a", score="x", value=1)
    assert_type(label.answer_key, tuple[str, str, str, int])


def test_errors() -> None:
    errors: list[type[hengwen.HengwenError]] = [
        hengwen.BackendError,
        hengwen.ConfigError,
        hengwen.DataError,
        hengwen.JudgeError,
        hengwen.PluginError,
        hengwen.StoreBusyError,
        hengwen.StoreError,
        hengwen.TimeLimitError,
        hengwen.WorkerError,
    ]
    for error in errors:
        assert issubclass(error, hengwen.HengwenError)
    assert_type(hengwen.ConfigError("x").exit_code, int)


def test_every_error_of_the_package_is_public() -> None:
    from hengwen import errors

    names = {name for name, value in vars(errors).items() if isinstance(value, type) and "Error" in name}
    assert {name for name in names if issubclass(getattr(errors, name), Exception)} <= set(dir(hengwen))


def test_the_version_is_that_of_the_installed_package() -> None:
    from importlib.metadata import version

    assert assert_type(hengwen.__version__, str) == version("hengwen")


def test_scores_come_in_and_rows_go_out(tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    file.write_text("model,id,score\na,1,5\n", "utf-8")
    with hengwen.open_store("sqlite://") as store:
        imported = assert_type(hengwen.import_scores(file, store), hengwen.ImportedRuns)
        table = assert_type(hengwen.rows(store, imported.runs), hengwen.Rows)
        assert assert_type(table.to_dict(), dict[str, list[object]])["value"] == [5.0]
    assert_type(imported.failures, Mapping[str, int])
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("model_a,model_b,question,winner\na,b,1,a\n", "utf-8")
    assert assert_type(hengwen.import_verdicts(pairs, "sqlite://"), hengwen.ImportedRuns).scores == 2


@pytest.mark.slow
def test_a_plan_becomes_runs_a_table_and_a_report(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN, "utf-8")
    (tmp_path / "poem.jsonl").write_text('{"id": "a", "input": "晚安"}\n', "utf-8")
    (tmp_path / "day-1.jsonl").write_text('{"id": "a", "output": "晚安，做个好梦呀。"}\n', "utf-8")
    plan = assert_type(hengwen.load_plan(tmp_path / "plan.yaml"), hengwen.Plan)
    with assert_type(hengwen.open_store(tmp_path / "store.db"), hengwen.Store) as store:
        options = assert_type(hengwen.RunOptions(limit=8), hengwen.RunOptions)
        result = assert_type(hengwen.run_plan(plan, store=store, options=options), hengwen.RunResult)
        assert_type(result.decision, hengwen.Decision | None)
        assert_type(result.runs, tuple[hengwen.Run, ...])
        assert_type(result.failures, dict[str, int])
        awaited = asyncio.run(hengwen.arun_plan(plan, store="sqlite://"))
        assert_type(awaited, hengwen.RunResult)
        rows = assert_type(list(store.rows(result.runs)), list[hengwen.Row])
        assert_type(rows[0].outcome, hengwen.Score | hengwen.Failure)
        table = assert_type(store.table(result.runs), hengwen.ScoreTable)
        document = assert_type(hengwen.report_document(store, result.runs), hengwen.Document)
        assert_type(hengwen.write_document(document, tmp_path / "r.json"), Path)
        other = plan.model_copy(update={"name": "q"})
        later = hengwen.run_plan(other, store=store).runs[0]
        comparison = assert_type(
            hengwen.compare_runs(store, result.runs[0].id, later.id), hengwen.RunComparison
        )
        other.checkpoints.append(other.checkpoints[0].model_copy(update={"name": "day-2"}))
        hengwen.run_plan(other, store=store)
        assert_type(hengwen.rejudge(other, store=store), hengwen.RunResult)
        assert_type(hengwen.judge_drift(store), hengwen.JudgeDriftReport)
        assert_type(comparison.headline, tuple[hengwen.ScoreComparison, ...])
        report = assert_type(hengwen.drift_report(store, plan="q"), hengwen.DriftReport)
        assert_type(report.scores, tuple[hengwen.ScoreDrift, ...])
        gates = [f"{rows[0].task}/{rows[0].outcome.name} >= 0"]
        gate_report = assert_type(hengwen.evaluate_gates(store, plan, gates=gates), hengwen.GateReport)
        assert_type(gate_report.gates, tuple[hengwen.GateResult, ...])
        assert_type(gate_report.exit_code, int)
    assert_type(table, hengwen.ScoreTable)


def test_a_summary_may_have_no_mean() -> None:
    summary = hengwen.Summary(
        n=0, prompts=0, clusters=0, mean=None, interval=None, method="none", confidence=0.95, coverage=None
    )
    assert_type(summary.mean, float | None)
    assert_type(summary.interval, tuple[float, float] | None)


def test_lyrics_and_rhymes() -> None:
    rules = assert_type(objective.LyricRules(full=100), objective.LyricRules)
    score = assert_type(objective.score_lyric(LYRIC, TEMPLATE, rules=rules), objective.LyricScore)
    assert_type(score.total, float)
    assert_type(score.repairs, tuple[str, ...])
    assert_type(objective.score_lyrics([(LYRIC, TEMPLATE)]), list[objective.LyricScore])
    assert_type(objective.check_template(TEMPLATE), tuple[str, ...])
    assert_type(objective.to_msstr(LYRIC), str)
    assert_type(objective.rhyme_class("月光"), str | None)
    assert_type(objective.RHYME_CLASSES, Mapping[str, RhymeClass])


def test_overlap_with_references() -> None:
    texts, references = ["今晚月色真美"], ["今晚月色很美"]
    assert_type(objective.bleu(texts[0], references), objective.Bleu)
    assert_type(objective.corpus_bleu(texts, references), objective.Bleu)
    assert_type(objective.chrf(texts[0], references), Chrf)
    assert_type(objective.corpus_chrf(texts, references), Chrf)
    assert_type(objective.ter(texts[0], references), Ter)
    assert_type(objective.corpus_ter(texts, references), Ter)
    assert_type(objective.rouge(texts[0], references), objective.Rouge)


def test_diversity_and_duplicates() -> None:
    texts = ["风吹过山岗", "风吹过山谷"]
    assert_type(objective.distinct_n(texts), float)
    assert_type(objective.ngram_entropy(texts), float)
    assert_type(objective.repetition_rate(texts[0]), float)
    assert_type(objective.type_token_ratio(texts[0]), float)
    assert_type(objective.compression_ratio(texts), float)
    assert_type(objective.self_bleu(texts), float)
    assert_type(objective.near_duplicates(texts), list[Duplicate | None])
    assert_type(objective.TrainingSet(texts).find(texts[0]), LeakMatch)


def test_order_of_a_sequence() -> None:
    scores = [1, 3, 2, 4, 5, 6, 8, 7]
    counts = assert_type(relevance_metrics.count_inversions(scores), int)
    assert_type(relevance_metrics.count_inversions(scores, normalize="pairs"), float)
    length = assert_type(relevance_metrics.longest_increasing_subsequence(scores, strict=False), int)
    entropy = assert_type(relevance_metrics.permutation_entropy(scores, m=2, normalize=True), float)
    assert counts == 2
    assert length == 6
    assert 0 < entropy < 2
    assert_type(relevance_metrics.longest_increasing_indices(scores), list[int])
    assert_type(relevance_metrics.pattern_counts(scores), dict[tuple[int, ...], int])


def test_order_of_a_batch() -> None:
    import numpy as np
    from numpy.typing import NDArray

    rows = np.array([[1, 3, 2], [3, 2, 1]])
    entropies = relevance_metrics.permutation_entropy(rows, m=2, axis=1)
    assert_type(entropies, float | NDArray[np.float64])
    lengths = relevance_metrics.longest_increasing_subsequence(rows)
    assert_type(lengths, int | NDArray[np.int64])
    assert isinstance(lengths, np.ndarray)
    assert lengths.tolist() == [2, 1]


def test_inference_about_a_sequence() -> None:
    scores = [0.1, 0.3, 0.2, 0.5, 0.4, 0.6, 0.8, 0.7, 0.9, 1.0]
    test = assert_type(relevance_metrics.significance(scores, n_perm=99), relevance_metrics.PermutationTest)
    assert_type(test.z, float | None)


def test_summaries_of_a_sequence() -> None:
    scores = [0.1, 0.3, 0.2, 0.5, 0.4, 0.6, 0.8, 0.7, 0.9, 1.0]
    summary = assert_type(relevance_metrics.summarize(scores, n_perm=99), relevance_metrics.SequenceSummary)
    assert_type(summary.cin, relevance_metrics.MetricResult)
    assert_type(summary.pen, relevance_metrics.MetricResult | None)
    assert_type(relevance_metrics.rolling(scores, 5), relevance_metrics.Rolling)
    comparison = relevance_metrics.compare_rankings(scores, scores[::-1])
    assert_type(comparison, relevance_metrics.RankingComparison)


class Echo:
    """A backend as a user writes one: no base class."""

    @property
    def signature(self) -> str:
        return "echo"

    @property
    def endpoint(self) -> str:
        return "echo://"

    async def complete(self, request: Request) -> Reply:
        return Reply(text=request.messages[-1][1])

    async def close(self) -> None:
        return None


def test_judges() -> None:
    rubric = assert_type(prompts.load_rubric("muice_live"), prompts.Rubric)
    assert_type(rubric.scale, hengwen.Scale)
    backend: Backend = Echo()
    rules = judges.RulesJudge(rubric=rubric)
    members: Sequence[Judge] = [
        judges.Panel(judges=[rules, judges.RubricJudge(rubric=rubric, backend=backend)]),
        judges.CappedJudge(rules, RuleSet(())),
    ]
    sample, response = hengwen.Sample(id="a", input="晚安"), hengwen.Response(sample_id="a", text="好梦呀")
    for judge in members:
        assert_type(asyncio.run(judge.judge(sample, response)), hengwen.Verdict)
    assert_type(asyncio.run(judges.admission_test(rules, rubric, repeats=2)), AdmissionReport)


def test_calibration(tmp_path: Path) -> None:
    calibration = judges.calibrate(
        [], [JudgedAnswer(task="t", id="a", value=1)], score="x.level", levels=(0, 1)
    )
    assert_type(calibration, judges.Calibration)
    assert_type(calibration.decision, Literal["certified", "not certified", "insufficient"])
    assert_type(judges.is_stale(calibration, "s", "h"), tuple[str, ...])
    with pytest.raises(hengwen.DataError):
        assert_type(judges.read_calibrations(tmp_path / "none.json"), tuple[judges.Calibration, ...])
    mean = judges.ppi_mean([0, 1, 1, 0, 1], [0, 1, 1, 1, 1], [1, 1, 0])
    assert_type(mean, CorrectedMean)


def test_biases() -> None:
    assert_type(judges.length_bias([1, 2, 3], [0, 1, 1]), LengthBias)
    answer = judges.LabelledAnswer(target="m", judge=1, human=1, cluster="a")
    assert_type(judges.family_bias("m", [answer]), FamilyBias)


def test_battles_become_a_ranking(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,question,winner\nx,y,1,a\nx,y,2,a\ny,x,3,a\n", "utf-8")
    files = assert_type(peer_review.read_battles([path]), peer_review.BattleFiles)
    battles = assert_type(files.battles, peer_review.Battles)
    columns = peer_review.Battles.from_columns(model_a=["x"], model_b=["y"], winner=[1.0], turn=[1])
    assert_type(columns, peer_review.Battles)
    review = assert_type(peer_review.peer_review(battles, method="bradley-terry"), peer_review.PeerReview)
    assert_type(review.models, tuple[peer_review.ReviewedModel, ...])
    assert_type(review.judges, tuple[peer_review.ReviewedJudge, ...])
    assert_type(review.notes, tuple[peer_review.Note, ...])
    for without in assert_type(review.without, tuple[peer_review.RankingWithout, ...]):
        assert_type(without.models, tuple[peer_review.RankWithout, ...])
    assert_type(review.scores, dict[str, float])
    people = tmp_path / "people.csv"
    people.write_text("model,rank\nx,1\ny,2\n", "utf-8")
    human = assert_type(peer_review.read_human_ranking(people), dict[str, float])
    comparison = assert_type(peer_review.compare_with_human(review, human), peer_review.HumanComparison)
    assert comparison.ranking.cin == 0


def test_judges_compare_pairs() -> None:
    from hengwen.backends import ReplayBackend
    from hengwen.records import Response, Sample

    backend = ReplayBackend(model="m", replies=['{"reason": "", "winner": "tie"}'] * 2)
    judge = judges.PairJudge(rubric=prompts.load_rubric("persona_generic"), backend=backend)
    a, b = (Response(sample_id="1", text=text) for text in "ab")
    opinions = asyncio.run(judge.compare(Sample(id="1"), a, b))
    assert_type(opinions, tuple[judges.PairOpinion, judges.PairOpinion])


def test_power_needs_two_checkpoints() -> None:
    def power_of(store: hengwen.Store, plan: str) -> list[float | None]:
        power = assert_type(hengwen.plan_power(store, plan), hengwen.PlanPower)
        scores = assert_type(power.scores, tuple[hengwen.ScorePower, ...])
        return [score.smallest_difference for score in scores]

    with hengwen.open_store("sqlite://") as store, pytest.raises(hengwen.ConfigError, match="no such file"):
        power_of(store, "plan.yaml")
