"""What a plan can detect: the runs it is estimated from, costs, wrong numbers, and the real lyrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from score_rows import row_of

from hengwen import Store, compare_runs, open_store, plan_power, run_plan
from hengwen.errors import ConfigError
from hengwen.importers.muchin import import_muchin
from hengwen.monitoring.power.plan_power import PlanPower
from hengwen.monitoring.power.score_power import ScorePower
from hengwen.prompts import load_rubric
from hengwen.records import Attempt, Score, Usage
from hengwen.stats.power import power_of_t

from .study import BACKEND, JUDGED, Study, numbers

pytestmark = pytest.mark.slow


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """An empty store beside the folder of a plan."""
    with open_store(tmp_path / "x.db") as store:
        yield Study(tmp_path, store)


@pytest.fixture
def plan_of_two(study: Study) -> Callable[[], Path]:
    """A function that runs checkpoints a and b, and returns the plan of b."""

    def run() -> Path:
        study.run("a", numbers(1))
        return study.run("b", numbers(2))

    return run


def only(result: PlanPower) -> ScorePower:
    (score,) = result.scores
    return score


def test_two_checkpoints_give_the_variance_of_their_differences(
    study: Study, plan_of_two: Callable[[], Path]
) -> None:
    result = plan_power(study.store, plan_of_two(), trust=True)
    score = only(result)
    assert (result.baseline.checkpoint, result.other.checkpoint, result.tests) == ("b", "a", 1)
    assert (score.address, score.basis, score.data_prompts) == ("t/tenths.value", "two checkpoints", 20)
    first, second = numbers(2), numbers(1)
    differences = first.mean(axis=1) - second.mean(axis=1)
    within = (first.var(axis=1, ddof=1).mean() + second.var(axis=1, ddof=1).mean()) / 2
    assert score.variance.repeat == pytest.approx(within)
    assert score.variance.of_prompt(3.0) == pytest.approx(differences.var(ddof=1))
    assert (score.present.prompts, score.present.repeats) == (20, 3)
    comparison = compare_runs(study.store, "a", "b").headline[0]
    assert score.present.smallest_difference == pytest.approx(comparison.detectable, rel=0.01)


def test_default_differences_are_the_smallest_detectable_one_half_and_a_quarter(
    study: Study, plan_of_two: Callable[[], Path]
) -> None:
    score = only(plan_power(study.store, plan_of_two(), trust=True))
    smallest = score.present.smallest_difference
    differences = [requirement.difference for requirement in score.requirements]
    assert differences == pytest.approx([smallest, smallest / 2, smallest / 4])
    sizes = {size.repeats: size.prompts for size in score.requirements[0].sizes}
    assert sizes[3] == 20
    assert score.requirements[0].with_present_prompts.repeats == 3


def test_the_pinned_run_is_the_baseline_and_a_named_one_comes_first(
    study: Study, plan_of_two: Callable[[], Path]
) -> None:
    plan = plan_of_two()
    study.store.pin(study.store.find("a"), "2026-01-01T00:00:00+00:00")
    assert plan_power(study.store, plan, trust=True).baseline.checkpoint == "a"
    assert plan_power(study.store, plan, baseline="b", trust=True).baseline.checkpoint == "b"


def test_one_checkpoint_needs_an_assumed_correlation(study: Study) -> None:
    plan = study.run("a", numbers(1))
    cautious, paired = (
        only(plan_power(study.store, plan, correlation=correlation, trust=True)) for correlation in (0.0, 0.5)
    )
    assert cautious.basis == "one checkpoint"
    assert cautious.variance.prompt == pytest.approx(2 * paired.variance.prompt)
    assert cautious.variance.repeat == paired.variance.repeat
    assert cautious.present.smallest_difference > paired.present.smallest_difference


def test_a_second_run_with_other_settings_is_not_used(study: Study) -> None:
    study.run("a", numbers(1))
    plan = study.run("b", numbers(2), scorers=[{"tenths.py:Tenths": {"version": 2}}])
    score = only(plan_power(study.store, plan, trust=True))
    assert score.basis == "one checkpoint"
    assert score.conflict == "signatures differ: v:2 (b); v:1 (a)"


def test_a_second_run_on_other_prompts_is_not_used(study: Study) -> None:
    study.run("a", numbers(1, prompts=10))
    plan = study.run("b", numbers(2))
    assert plan_power(study.store, plan, trust=True).other is None


def test_headline_scores_share_the_level(study: Study, plan_of_two: Callable[[], Path]) -> None:
    plan = plan_of_two()
    result = plan_power(study.store, plan, scores=["t/tenths.half", "t/tenths.value"], trust=True)
    assert [score.address for score in result.scores] == ["t/tenths.half", "t/tenths.value"]
    assert (result.tests, result.is_joint) == (2, True)
    alone = only(plan_power(study.store, plan, trust=True))
    # one score is half of the other: two tests that always agree are one
    assert result.scores[0].level == result.scores[1].level == pytest.approx(0.05, rel=1e-3)
    assert result.scores[1].present.smallest_difference == pytest.approx(
        alone.present.smallest_difference, rel=1e-3
    )


def test_scores_of_one_checkpoint_count_as_independent(study: Study) -> None:
    plan = study.run("a", numbers(1))
    result = plan_power(study.store, plan, scores=["t/tenths.half", "t/tenths.value"], trust=True)
    assert (result.tests, result.is_joint) == (2, False)
    assert result.scores[0].level == pytest.approx(1 - 0.95**0.5)


def test_one_answer_a_prompt_leaves_repeats_unknown(study: Study) -> None:
    study.run("a", numbers(1, repeats=1))
    score = only(plan_power(study.store, study.run("b", numbers(2, repeats=1)), trust=True))
    assert (score.variance.repeat, score.infinite_repeats) == (None, None)
    assert [size.repeats for size in score.requirements[1].sizes] == [1.0]
    assert score.requirements[1].with_present_prompts is None


def test_clusters_have_their_design_effect(study: Study) -> None:
    clusters = [f"c{index // 4}" for index in range(20)]
    shift = np.repeat(np.random.default_rng(4).normal(0, 0.1, 5), 4)[:, None]
    study.run("a", numbers(1), clusters=clusters)
    plan = study.run("b", np.clip(numbers(2) + shift, 0, 1), clusters=clusters)
    score = only(plan_power(study.store, plan, trust=True))
    assert (score.data_clusters, score.variance.cluster_size) == (5, 4.0)
    assert score.variance.cluster > 0
    assert score.present.smallest_difference is None  # five clusters are below the floor of the test
    assert score.requirements[0].sizes[0].prompts >= 24


def test_constant_scores_have_an_unknown_variance(study: Study) -> None:
    values = np.full((10, 2), 0.5)
    study.run("a", values)
    score = only(plan_power(study.store, study.run("b", values + 0.25), trust=True))
    assert (score.problem, score.present, score.requirements) == ("constant", None, ())


def test_two_prompts_are_too_few(study: Study) -> None:
    score = only(plan_power(study.store, study.run("a", numbers(1, prompts=2)), trust=True))
    assert (score.problem, score.data_prompts) == ("too few", 2)


def test_a_score_of_a_group_has_no_values_by_prompt(study: Study) -> None:
    plan = study.run("a", numbers(1), scorers=["distinct_n"])
    result = plan_power(study.store, plan, trust=True)
    assert {score.problem for score in result.scores} == {"group score"}
    assert result.tests == 0


def test_a_judge_costs_its_calls_at_the_prices_of_the_plan(
    study: Study, plan_of_two: Callable[[], Path]
) -> None:
    plan_of_two()
    plan = study.write("b", numbers(2), backends={"judge": BACKEND}, **JUDGED)
    score = only(plan_power(study.store, plan, scores=["t/tenths.value"], budget=1.0, trust=True))
    assert (score.present.answers, score.present.calls) == (60, 60)
    assert score.present.cost > 60 * 400 * 10 / 1e6  # 400 tokens a verdict, and its prompt
    size = score.affordable
    assert size.cost <= 1.0 < size.cost * (size.prompts + 1) / size.prompts
    assert size.smallest_difference < score.requirements[0].difference


def test_the_tokens_of_the_baseline_replace_the_estimates(
    study: Study, plan_of_two: Callable[[], Path]
) -> None:
    plan_of_two()
    plan = study.write("b", numbers(2), backends={"judge": BACKEND}, **JUDGED)
    ledger = study.store.ledger()
    usage = Usage(calls=10, input_tokens=10_000, output_tokens=1_000)
    ledger.record_attempt(
        Attempt(
            call_key="k",
            cache_scope="",
            attempt_no=1,
            status="ok",
            run_id=study.store.find("b").id,
            role="judge",
            request={"messages": []},
            raw="",
            usage=usage,
        )
    )
    ledger.commit()
    present = only(plan_power(study.store, plan, trust=True)).present
    assert present.cost == pytest.approx(60 * (1000 * 2 + 100 * 10) / 1e6)


def test_samples_of_a_judge_have_a_variance_of_their_own(
    study: Study, plan_of_two: Callable[[], Path]
) -> None:
    plan_of_two()
    plan = study.write("b", numbers(2), backends={"judge": BACKEND}, **JUDGED)
    levels = load_rubric("persona_generic").labels
    best, second = list(levels)[:2]
    rng, ledger = np.random.default_rng(6), study.store.ledger()
    for run in study.store.runs():
        rows = []
        for number in range(20):
            for repeat in (1, 2):
                labels = rng.choice([best, second], 2).tolist()
                score = Score(
                    name="persona_generic.level",
                    value=sum(levels[label] for label in labels) / 2,
                    signature="judge",
                    kind="judge",
                    details={"labels": labels, "method": "samples"},
                )
                name = f"p{number}"
                rows.append(row_of(run.id, "t", run.checkpoint, name, repeat, name, score))
        ledger.record_rows(rows)
    ledger.commit()
    planned = only(plan_power(study.store, plan, scores=["t/persona_generic.level"], trust=True))
    variance = (levels[best] - levels[second]) ** 2 / 4
    assert planned.judge_variance == pytest.approx(variance / 2, rel=0.3)  # two samples an answer
    assert planned.variance is not None
    assert planned.judge_variance <= planned.variance.repeat == pytest.approx(variance / 2, rel=0.3)


def test_generated_answers_cost_a_call_each_and_repeats_are_those_of_the_plan(
    study: Study, plan_of_two: Callable[[], Path]
) -> None:
    plan_of_two()
    unpriced = {name: value for name, value in BACKEND.items() if name != "price"}
    plan = study.write(
        "b",
        numbers(2),
        backends={"judge": BACKEND, "subject": unpriced},
        checkpoints=[{"name": "b", "backend": "subject"}],
        repeats=5,
        **JUDGED,
    )
    present = only(plan_power(study.store, plan, trust=True)).present
    assert (present.repeats, present.answers, present.calls, present.cost) == (5, 100, 200, None)
    with pytest.raises(ConfigError, match="a budget needs prices: backend 'subject' has none; add price"):
        plan_power(study.store, plan, budget=1.0, trust=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"differences": [0.0]}, "a difference to detect must be above 0, got 0"),
        ({"differences": [float("nan")]}, "a difference to detect must be above 0, got nan"),
        ({"differences": [1.5]}, "a difference of 1.5 is larger than the scale of t/tenths.value, 0 to 1"),
        ({"power": 0.05}, "power must lie between 0.05 and 1, got 0.05"),
        ({"correlation": 1.0}, r"correlation must lie in \[0, 1\), got 1"),
        ({"budget": 0.0}, "budget must be above 0, got 0"),
        ({"budget": 1.0}, "a budget needs calls: a run of this plan makes none"),
        ({"baseline": "c"}, "no run or checkpoint 'c' of plan 'p'"),
        ({"other": "b"}, "and the baseline are runs of 'b'; name another checkpoint"),
        ({"scores": ["t/tenths.valeu"]}, "no score 't/tenths.valeu' to plan for; did you mean"),
    ],
)
def test_wrong_arguments_are_named(
    study: Study, plan_of_two: Callable[[], Path], changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        plan_power(study.store, plan_of_two(), trust=True, **changes)


def test_a_plan_without_runs_is_named(study: Study) -> None:
    plan = study.write("a", numbers(1))
    with pytest.raises(ConfigError, match=r"no runs of plan 'p' in .*x\.db; see: hengwen run"):
        plan_power(study.store, plan, trust=True)


def test_runs_of_other_tasks_have_nothing_to_plan(study: Study) -> None:
    study.run("a", numbers(1))
    plan = study.write("a", numbers(1), name="u")
    with pytest.raises(ConfigError, match="a: no scores of the plan's tasks"):
        plan_power(study.store, plan, trust=True)


@pytest.fixture
def lyrics(shared: Callable[[str], Path], tmp_path: Path):
    """A store with the real lyrics of six checkpoints, scored by the rules of the document, and its plan."""
    imported = import_muchin(shared("data/muchin-checkpoints.jsonl"), tmp_path / "plan")
    with open_store(tmp_path / "x.db") as store:
        run_plan(imported.plan, store=store)
        yield store, imported.plan


def test_the_figures_of_the_real_lyrics(lyrics: tuple[Store, Path]) -> None:
    store, plan = lyrics
    rest = {"baseline": "ckpt1001", "other": "ckpt3001", "scores": ["lyrics/lyric.total"]}
    score = only(plan_power(store, plan, **rest))
    assert score.present.prompts == 26
    assert score.present.smallest_difference == pytest.approx(7.8, abs=0.05)
    error = sqrt(score.variance.of_prompt(score.variance.repeats) / 26)
    assert power_of_t(2.0, error, 25, sides=1) == pytest.approx(0.18, abs=0.005)
    assert power_of_t(2.0, error * sqrt(26 / 300), 299, sides=1) == pytest.approx(0.8, abs=0.02)


def test_noninferiority_of_the_real_lyrics_by_simulation(lyrics: tuple[Store, Path]) -> None:
    from scipy import stats

    store, plan = lyrics
    rest = {"baseline": "ckpt1001", "other": "ckpt3001", "scores": ["lyrics/lyric.total"]}
    score = only(plan_power(store, plan, **rest))
    spread = sqrt(score.variance.of_prompt(score.variance.repeats))
    rng = np.random.default_rng(5)
    for prompts, power in ((26, 0.18), (300, 0.81)):
        differences = rng.normal(0, spread, (20_000, prompts))
        rejected = stats.ttest_1samp(differences, -2.0, axis=1, alternative="greater").pvalue <= 0.05
        assert rejected.mean() == pytest.approx(power, abs=0.01)
