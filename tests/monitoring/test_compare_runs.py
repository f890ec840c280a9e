"""Runs of a store compared: what is common, what is refused, and the real lyrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hengwen import Store, compare_runs, open_store, run_plan
from hengwen.errors import ConfigError
from hengwen.importers.muchin import import_muchin
from hengwen.monitoring.run_comparison import RunComparison, ScoreComparison
from hengwen.records import Run
from hengwen.results.decide import Decision, decide_runs

SCORER = """\
from dataclasses import dataclass
from hengwen import Scale, Score


@dataclass(frozen=True)
class Tenths:
    version: int = 1
    names = ("tenths.value", "tenths.half")

    @property
    def signature(self) -> str:
        return f"tenths|v:{self.version}"

    def score(self, sample, response):
        value = int(response.text.split()[0]) / 10
        rest = {"signature": self.signature, "scale": Scale(low=0, high=1)}
        values = zip(self.names, (value, value / 2))
        return [Score(name=name, value=value, **rest) for name, value in values]
"""
Answers = Mapping[str, Sequence[str]]
"""The repeats of the answer to each prompt."""


def answers(tenths: Sequence[int], repeats: int = 1) -> Answers:
    return {f"p{index}": [f"{value} 字" for _ in range(repeats)] for index, value in enumerate(tenths)}


LOW, HIGH = answers([1] * 10), answers([5] * 9 + [7])


def evaluate(folder: Path, store: Store, checkpoint: str, given: Answers, **changes: Any) -> None:
    """Run a plan with one checkpoint and the answers given."""
    folder.mkdir(exist_ok=True)
    (folder / "tenths.py").write_text(SCORER, "utf-8")
    references = changes.pop("references", {})
    samples = [
        {"id": name, "input": name, **({"references": [references[name]]} if name in references else {})}
        for name in changes.pop("prompts", given)
    ]
    rows = [
        {"id": name, "output": text, "repeat": repeat}
        for name, texts in given.items()
        for repeat, text in enumerate(texts, start=1)
    ]
    for file, lines in (("samples", samples), ("answers", rows)):
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    plan = {
        "name": changes.pop("plan", "p"),
        "tasks": [{"name": "t", "samples": "samples.jsonl", "scorers": ["tenths.py:Tenths"], **changes}],
        "checkpoints": [{"name": checkpoint, "responses": "answers.jsonl"}],
    }
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), "utf-8")
    run_plan(folder / "plan.yaml", store=store, trust=True)


@pytest.fixture
def store(tmp_path: Path):
    with open_store(tmp_path / "x.db") as opened:
        evaluate(tmp_path / "a", opened, "a", LOW)
        yield opened


def only(comparison: RunComparison) -> ScoreComparison:
    (score,) = comparison.headline
    return score


def test_the_first_score_of_a_scorer_is_the_headline_and_the_others_are_breakdowns(
    store: Store, tmp_path: Path
) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH)
    comparison = compare_runs(store, "a", "b")
    assert [score.address for score in comparison.headline] == ["t/tenths.value"]
    assert [score.address for score in comparison.breakdown] == ["t/tenths.half"]
    assert only(comparison).outcome == "better"
    assert only(comparison).test.difference == pytest.approx(0.42)
    assert (comparison.tests("headline"), comparison.tests("breakdown")) == (1, 1)
    assert compare_runs(store, "b", "a").headline[0].outcome == "worse"


def test_named_scores_are_the_headline_family(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH)
    comparison = compare_runs(store, "a", "b", scores=["t/tenths.half", "t/tenths.half"])
    assert [score.address for score in comparison.scores] == ["t/tenths.half"]
    assert comparison.tests("headline") == 1
    with pytest.raises(ConfigError, match=r"no score 't/tenth' to compare; did you mean 't/tenths\.\w+'\?"):
        compare_runs(store, "a", "b", scores=["t/tenth"])


def test_unequal_repeats_are_subsampled_and_not_refused(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", answers([1] * 10, repeats=3))
    score = only(compare_runs(store, "a", "b"))
    assert (score.outcome, score.subsampled, score.test.difference) == ("no difference seen", 10, 0.0)


def test_missing_answers_are_missing_scores(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", dict(list(HIGH.items())[:8]), prompts=LOW)
    score = only(compare_runs(store, "a", "b"))
    assert (score.outcome, score.coverage, score.test.prompts) == ("missing scores", (1.0, 0.8), 8)


def test_edited_references_are_refused_by_name(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH, references={"p3": "新"})
    with pytest.raises(
        ConfigError,
        match=r"a and b are not comparable: references differ: \w{12} \(a\), \w{12} \(b\) "
        r"\(t/tenths.value, and 1 more\); run both with the same settings, or compare what is equal",
    ):
        compare_runs(store, "a", "b")


def test_common_takes_the_prompts_that_are_equal(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH, references={"p3": "新"})
    comparison = compare_runs(store, "a", "b", common=True)
    assert (comparison.left_out_prompts, only(comparison).test.prompts) == (1, 9)
    assert only(comparison).outcome == "better"


def test_common_takes_the_prompts_that_both_runs_have(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", dict(list(HIGH.items())[:7]))
    with pytest.raises(ConfigError, match="samples differ"):
        compare_runs(store, "a", "b")
    score = only(compare_runs(store, "a", "b", common=True))
    assert (score.outcome, score.test.prompts, score.coverage) == ("better", 7, (1.0, 1.0))


def test_no_common_prompt_is_said(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", {"q": ["5"]})
    assert only(compare_runs(store, "a", "b", common=True)).problem == "no common prompts"


def test_another_version_of_a_scorer_is_refused_also_with_common(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH, scorers=[{"tenths.py:Tenths": {"version": 2}}])
    for common in (False, True):
        with pytest.raises(ConfigError, match=r"signatures differ: v:1 \(a\); v:2 \(b\)"):
            compare_runs(store, "a", "b", common=common)


def test_common_leaves_out_the_scores_that_differ(tmp_path: Path) -> None:
    with open_store("sqlite://") as store:
        for name, version in (("a", 1), ("b", 2)):
            scorers = ["length", {"tenths.py:Tenths": {"version": version}}]
            evaluate(tmp_path / name, store, name, LOW, scorers=scorers)
        scores = {score.address: score for score in compare_runs(store, "a", "b", common=True).scores}
        assert scores["t/tenths.value"].problem == "keys"
        assert scores["t/tenths.value"].detail == "signatures differ: v:1 (a); v:2 (b)"
        assert any(score.outcome == "no difference seen" for score in scores.values())


def test_a_score_of_one_run_only_is_not_scored_in_the_other(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH, scorers=["tenths.py:Tenths", "length"])
    problems = {score.address: score.problem for score in compare_runs(store, "a", "b").scores}
    assert problems["t/tenths.value"] == ""
    assert "not scored" in problems.values()


def test_a_score_of_a_group_of_answers_has_no_values_by_prompt(tmp_path: Path) -> None:
    with open_store("sqlite://") as store:
        for name in "ab":
            evaluate(tmp_path / name, store, name, LOW, scorers=["distinct_n"])
        assert {score.problem for score in compare_runs(store, "a", "b").headline} == {"group score"}


def test_one_run_is_not_compared_with_itself(store: Store) -> None:
    with pytest.raises(
        ConfigError, match=r"'a' and 'a' are one run \(.*\); name two, see: hengwen runs list"
    ):
        compare_runs(store, "a", "a")
    with pytest.raises(ConfigError, match="no run or checkpoint 'b' of plan 'p'"):
        compare_runs(store, "a", "b", plan="p")


def test_the_earlier_run_is_by_default_the_pinned_one(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH)
    with pytest.raises(ConfigError, match="plan 'p' has no baseline: name two runs, or pin one"):
        compare_runs(store, None, "b")
    store.pin(store.find("a"), "now")
    assert compare_runs(store, None, "b").before.checkpoint == "a"
    with pytest.raises(ConfigError, match="'a' is the pinned baseline itself"):
        compare_runs(store, None, "a")


def test_runs_without_scores_have_nothing_to_compare(store: Store) -> None:
    ledger = store.ledger()
    for name in ("u", "v"):
        ledger.begin(Run(id=name, plan="p", plan_hash="", checkpoint=name))
    ledger.commit()
    with pytest.raises(ConfigError, match="u and v have no scores to compare"):
        compare_runs(store, "u", "v")


def test_a_run_of_an_older_version_is_named(store: Store, tmp_path: Path) -> None:
    evaluate(tmp_path / "b", store, "b", HIGH)
    runs = {run.checkpoint: run for run in store.runs()}
    from sqlalchemy import update

    from hengwen.store import tables

    with store._engine.begin() as connection:
        connection.execute(update(tables.run).where(tables.run.c.id == runs["b"].id).values(facts="{}"))
    assert compare_runs(store, "a", "b").unchecked == ("b",)


def test_the_lengths_of_the_answers_are_taken_out(tmp_path: Path) -> None:
    with open_store("sqlite://") as store:
        short = {f"p{i}": [f"{1 + i % 3} 字"] for i in range(12)}
        long = {f"p{i}": [f"{2 + i % 4} {'字' * (1 + 9 * (i % 4))}"] for i in range(12)}
        evaluate(tmp_path / "a", store, "a", short)
        evaluate(tmp_path / "b", store, "b", long)
        equal = only(compare_runs(store, "a", "b")).equal_length
    assert equal.length_ratio > 1.5
    assert equal.difference is not None


def test_wrong_weights_are_refused(store: Store) -> None:
    with pytest.raises((ConfigError, TypeError), match="weights"):
        compare_runs(store, "a", "b", weights="none")


@pytest.fixture
def lyrics(shared: Callable[[str], Path], tmp_path: Path):
    """A store with the real lyrics of six checkpoints, scored by the rules of the document."""
    imported = import_muchin(shared("data/muchin-checkpoints.jsonl"), tmp_path / "plan")
    with open_store(tmp_path / "x.db") as store:
        run_plan(imported.plan, store=store)
        yield store


TOTAL = ["lyrics/lyric.total"]


@pytest.mark.slow
def test_prompts_and_not_repeats_of_the_real_lyrics_are_compared(lyrics: Store) -> None:
    score = only(compare_runs(lyrics, "ckpt1001", "ckpt3001", scores=TOTAL, weights="precision"))
    assert (score.test.prompts, score.test.clusters, score.outcome) == (26, 26, "mean undecided")
    assert score.test.difference == pytest.approx(5.73, abs=0.005)
    assert score.test.p == pytest.approx(0.044, abs=0.0005)
    assert score.detectable == pytest.approx(7.89, abs=0.01)
    assert (score.effects.wins, score.effects.losses, score.effects.ties) == (17, 9, 0)
    plain, weighted = score.interval.bounds, score.weighted.interval
    assert weighted[1] - weighted[0] < 0.94 * (plain[1] - plain[0])


@pytest.mark.slow
def test_a_fall_of_the_real_lyrics_has_its_interval(lyrics: Store) -> None:
    score = only(compare_runs(lyrics, "ckpt2001", "ckpt3_2001", scores=TOTAL))
    assert score.outcome == "worse"
    assert score.test.difference == pytest.approx(-7.90, abs=0.005)
    assert score.interval.t == pytest.approx((-12.58, -3.22), abs=0.005)
    assert score.interval.bounds == pytest.approx((-12.51, -2.52), abs=0.005)  # two of weight 2/3
    assert score.interval.t_p == pytest.approx(0.0019, abs=0.00005)
    assert score.test.p == pytest.approx(0.0016, abs=0.00005)  # all 2^26 sign patterns


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "verdict"),
    [(HIGH, "ship"), (answers([1, 2] * 5), "undecided"), (dict(list(HIGH.items())[:7]), "none")],
    ids=["better", "no difference", "missing answers"],
)
def test_the_decision_is_that_of_a_report_of_both_runs(
    store: Store, tmp_path: Path, given: Answers, verdict: str
) -> None:
    evaluate(tmp_path / "b", store, "b", given, prompts=list(LOW))
    runs = [replace(store.find(name), step=step) for step, name in enumerate("ab")]
    decision = compare_runs(store, "a", "b").decision
    assert decision.verdict == verdict
    assert rounded(decision) == rounded(decide_runs(runs, store.table(runs)))


def rounded(decision: Decision) -> object:
    return json.loads(json.dumps(asdict(decision)), parse_float=lambda text: round(float(text), 9))
