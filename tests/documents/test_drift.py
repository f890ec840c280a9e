"""A drift report as a document: the answers to both questions, what limits them, and the further tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_drifts import report as judge_report
from judge_drifts import score as judged_score
from printed import printed
from recorded_runs import record_run
from score_rows import row_of

from hengwen import Run, Score, Store, drift_report, open_store
from hengwen.documents.blocks import Chart, Decision
from hengwen.documents.drift.document import drift_document
from hengwen.text.language import Bilingual

FALL = [0.9, 0.87, 0.74, 0.62, 0.55, 0.4, 0.33, 0.2, 0.12]
JITTER = [0.5, 0.7, 0.45, 0.65, 0.52, 0.6]
Record = Callable[..., Store]


@pytest.fixture
def record():
    """Return a function that records one score at checkpoints c0, c1, ... with these means."""
    with open_store("sqlite://") as store:

        def record_all(
            means: list[float],
            *,
            human: bool = False,
            missing: int = 0,
            noise: float = 0.02,
            prompts: int = 12,
            order: int | None = None,
            **fields: object,
        ) -> Store:
            rng = np.random.default_rng(0)
            for index, mean in enumerate(means):
                values = np.clip(mean + rng.normal(0, noise, prompts), 0, 1).tolist()
                absent = missing if index == len(means) - 1 else 0
                repeats = {f"p{k}": [None if k < absent else value] for k, value in enumerate(values)}
                labels = {f"p{k}": [k / prompts] for k in range(prompts)} if human else None
                position = index if order is None else order
                record_run(store, f"c{index}", {"s.value": repeats}, order=position, human=labels, **fields)
            return store

        yield record_all


def words(store: Store, *runs: str, language="en", **options: object) -> str:
    return printed(drift_document(drift_report(store, runs, **options)), language, width=2000)


def row(text: str, index: int) -> str:
    """Return the cells of the score ``t/s.value`` in the n-th table after that of the first screen."""
    rows = [line for line in text.splitlines() if line.startswith("t/s.value ")]
    return " ".join(rows[index + (index >= 0)].split())


def test_a_line_shows_the_p_of_its_difference_and_names_a_trend_that_decides(record: Record) -> None:
    zigzag = [0.95, 0.75, 0.8, 0.6, 0.65, 0.45, 0.5, 0.3, 0.35]
    report = drift_report(record(zigzag))
    [score] = report.scores
    steps = score.steps
    assert steps is not None
    assert score.drifts == "drift"
    slope, newest = steps.slope_p_adjusted, steps.newest_p_adjusted
    assert slope is not None
    assert newest is not None
    assert slope < (report.looks.drift_alpha or 0) < newest
    [line] = next(item.scores.lines for item in drift_document(report).blocks if isinstance(item, Decision))
    assert line.p == f"p = {newest:.3f}".replace("0.", ".")
    assert line.values["p"] == newest
    assert isinstance(line.word, Bilingual)
    assert line.word.en == "trend for the worse, p < .001"
    assert line.word.zh == "趋势变差，p < .001"


def test_a_drift_is_said_in_words_with_its_evidence(record: Record) -> None:
    text = words(record(FALL))
    lines = text.splitlines()
    assert lines[0] == "p: c0 → c8, 9 checkpoints"
    begin = "the baseline begins with c0 (the first checkpoint; choose another with: hengwen runs pin)"
    assert begin in lines
    look = "run 1 tested against this baseline, so p up to .030 is significant"
    assert f"p corrected for 36 tests (maxT); {look}" in lines
    assert f"p corrected for 2 tests (Holm); {look}" in lines
    assert any(line.startswith("  c8 is worse than c0: −0.79 [") for line in lines)
    assert any(line.endswith(" more pairs differ") for line in lines)
    assert "▼ t/s.value: differ; drift for the worse" in lines
    assert row(text, 0).endswith("12 differ")
    assert row(text, 1).startswith("t/s.value −0.8")
    assert row(text, 1).endswith("▼ drift for the worse")
    assert "S −36, p < .001" in row(text, 2)
    assert "36/36 [18.0] p < .001" in row(text, 3)
    assert row(text, 4).endswith("unknown – 12")
    assert "t/s.value: not reduced, there are no repeats" in lines


@pytest.mark.slow
@pytest.mark.parametrize(("language", "word"), [("en", "drift"), ("zh", "漂移")])
@pytest.mark.parametrize(("means", "drifts"), [(JITTER, False), (FALL, True)], ids=["jitter", "fall"])
def test_the_word_drift_stands_only_where_the_second_question_says_so(
    record: Record, means: list[float], drifts: bool, language: str, word: str
) -> None:
    text = words(record(means), language=language)
    assert (word in text.lower()) == drifts
    answer = {
        "en": "differ; no change beyond the usual movement seen",
        "zh": "有差别；未见超出平常波动的变化",
    }
    assert (answer[language] in text) != drifts


@pytest.mark.parametrize(
    ("means", "fields", "text"),
    [
        ([0.5], {}, "◇ t/s.value: only one checkpoint"),
        ([0.5], {}, "two checkpoints are needed; run the next one first"),
        ([0.5, 0.9], {}, "◇ t/s.value: differ; cannot be told from the usual movement"),
        ([0.5, 0.9], {}, "4 checkpoints are needed to know how far one usually moves"),
        ([0.5, 0.9], {}, "without repeats, prompts that change differently and answers that differ are not"),
        ([1.5] * 5, {}, "all checkpoints have the same mean"),
        ([1.5] * 5, {}, "no variance: all scores are equal"),
        ([0.25, 0.75], {"noise": 0.0}, "all prompts changed by the same amount, so none is named"),
        ([0.0, 0.25, 0.5, 0.75], {"noise": 0.0}, "t/s.value: differ; cannot be told from the usual movement"),
        ([0.0, 0.25, 0.5, 0.75], {"noise": 0.0}, "the means of all checkpoints lie on one line, so the "),
        ([0.5, 0.9, 0.5], {}, "differ, but no difference is seen between c0 and c2"),
        (
            [*JITTER, 0.57],
            {},
            "differ, but no difference is seen between the mean of 6 checkpoints (c0 … c5) and c6",
        ),
        ([0.5, 0.9], {"prompts": 1}, "fewer than 12 independent prompts, too few to estimate the smallest"),
        (
            [0.5, 0.9, 0.6],
            {"prompts": 1, "order": 0},
            "cannot be told (too few prompts); order of checkpoints unknown",
        ),
        ([0.5, 0.9, 0.6], {"prompts": 1, "order": 0}, "at least 6 independent prompts are needed for any"),
        ([0.5, 0.6, 0.4, 0.7], {"order": 0}, "◇ t/s.value: differ; order of checkpoints unknown"),
        ([0.5, 0.6, 0.4, 0.7], {"order": 0}, "give every checkpoint a step, or list them in training order"),
    ],
)
def test_few_constant_and_unordered_checkpoints_are_said_in_words(
    record: Record, means: list[float], fields: dict[str, object], text: str
) -> None:
    assert text in words(record(means, **fields))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("means", "zh", "en"),
    [
        (
            [0.0, 0.25, 0.5, 0.75],
            "各检查点的均值恰好在一条直线上，无从得知平常波动有多大",
            "the means of all checkpoints lie on one line, so the usual movement is not known",
        ),
        (
            [0.5, 0.5, 0.5, 0.5, 0.25],
            "之前的检查点均值全部相同，无从得知平常波动有多大",
            "all earlier checkpoints have the same mean, so the usual movement is not known",
        ),
    ],
)
def test_an_unknown_usual_movement_is_no_answer_and_has_its_reason(
    record: Record, means: list[float], zh: str, en: str
) -> None:
    store = record(means, noise=0.0)
    assert f"  {en}" in words(store).splitlines()
    assert "cannot be told from the usual movement" in words(store)
    assert f"  {zh}" in words(store, language="zh").splitlines()
    assert "无法与平常波动区分" in words(store, language="zh")


@pytest.mark.slow
def test_an_unknown_error_of_a_mean_is_said_and_no_interval_is_drawn(record: Record) -> None:
    store = record([0.5, 0.52, 0.5, 0.49, 0.51], prompts=1)
    text = "the error of a mean on these prompts is not known (too few independent prompts), so the test of "
    assert text + "the newest checkpoint uses only the scatter of the earlier means" in words(store)
    chinese = "这些题目上均值的误差未知（互相独立的题目太少），最新检查点的检验只用之前各均值的波动"
    assert chinese in words(store, language="zh")
    document = drift_document(drift_report(store))
    (chart,) = (block for block in document.blocks if isinstance(block, Chart))
    assert {point.interval for point in chart.series[0].points} == {None}


def test_no_detectable_change_is_larger_than_the_scale(record: Record) -> None:
    wide = words(record([0.1, 0.9, 0.2, 0.8, 0.15]))
    assert "5 checkpoints are too few: even a change over the whole scale may go unseen" in wide
    assert "smallest detectable change from first to last" not in wide


def test_a_detectable_change_within_the_scale_is_a_number(record: Record) -> None:
    text = words(record(JITTER))
    assert re.search(r"smallest detectable change from first to last about 0\.\d\d", text)


def test_the_course_is_drawn_with_the_error_of_each_mean(record: Record) -> None:
    report = drift_report(record(FALL))
    (chart,) = (block for block in drift_document(report).blocks if isinstance(block, Chart))
    points = chart.series[0].points
    assert [point.label for point in points] == [f"c{index}" for index in range(9)]
    assert [point.value for point in points] == [item.mean for item in report.scores[0].means]
    half = 1.96 * report.scores[0].steps.mean_error
    assert points[3].interval == pytest.approx((points[3].value - half, points[3].value + half))
    assert chart.limits == (0, 1)


@pytest.mark.slow
def test_a_trend_and_a_newest_mean_in_opposite_directions_are_said(record: Record) -> None:
    store = record([*np.linspace(0.2, 0.9, 40), 0.0], started="2026-01-01")
    text = "· t/s.value: differ; drift, trend for the better, newest checkpoint for the worse"
    assert text in words(store).splitlines()
    assert "发生漂移，趋势变好，最新检查点变差" in words(store, language="zh")


def test_missing_scores_are_said_in_words(record: Record) -> None:
    text = words(record(JITTER, missing=2))
    assert "◇ t/s.value: too many missing scores for a verdict" in text
    assert "left out: c5 has a score for 83.3% of the prompts, 83.3% of the answers" in text
    assert "◇ Left out: s.value: c5 has a score for 83.3% of the prompts" in text


def test_means_of_other_prompts_than_their_difference_say_so(record: Record) -> None:
    text = words(record(JITTER, missing=1, prompts=24, noise=0.3))
    assert "means, adjusted for missing prompts: c0 0." in text
    assert "baseline, newest: of the common prompts, with equally many answers" in text
    complete = words(record([0.5, 0.6], prompts=24, plan="q"), plan="q")
    assert "means: c0 0." in complete
    assert "baseline, newest" not in complete


@pytest.mark.parametrize("missing", [0, 1])
def test_a_note_names_the_scores_whose_means_differ_from_those_of_a_report(
    record: Record, missing: int
) -> None:
    text = words(record([0.3, 0.6, 0.5], prompts=24, noise=0.4, missing=missing))
    note = "means here are adjusted for missing prompts and answers, so they differ from those of a report: "
    assert (f"{note}t/s.value" in text) == bool(missing)


def test_the_first_answer_is_the_verdict_of_a_report_on_the_newest_and_the_peak() -> None:
    first = [0.1 * (index % 7) for index in range(14)]
    peak = [0.1 * (index * 3 % 7) + 0.01 for index in range(14)]
    newest = [value - 0.2 * (index == 3) for index, value in enumerate(peak)]
    with open_store("sqlite://") as store:
        for order, values in enumerate((first, peak, newest)):
            scores = {"s.value": {f"p{index}": [value] for index, value in enumerate(values)}}
            record_run(store, f"c{order}", scores, order=order)
        report = drift_report(store)
    assert report.decision.scores[0].newest == "too few"
    assert report.scores[0].differs == "too few prompts"
    assert {item.verdict for item in report.scores[0].comparisons} > {"too few"}


@pytest.mark.slow
def test_human_rankings_of_the_store_and_of_a_file_are_compared(record: Record, tmp_path: Path) -> None:
    store, file = record(JITTER, human=True), tmp_path / "h.csv"
    rows = [line.split()[1] for line in words(store).splitlines() if line.endswith("/12     12")]
    assert rows == [f"c{index}" for index in range(6)]
    file.write_text("checkpoint,value\n" + "".join(f"c{k},{m}\n" for k, m in enumerate(JITTER)), "utf-8")
    assert row(words(store, human=file), -1) == "t/s.value (of the checkpoints) +1.00 .003 0/15 6/6 6"


def test_too_few_prompts_are_said_with_the_number_that_it_takes(record: Record) -> None:
    text = words(record([0.2, 0.4, 0.6], prompts=5, kind="judge"))
    assert "t/s.value: cannot be told (too few prompts); cannot be told from the usual movement" in text
    assert "at least 6 independent prompts are needed for any result to be significant" in text
    assert row(text, -6).endswith("unknown unknown 5")


def test_judgments_of_unknown_value_are_counted() -> None:
    details = {"method": "samples", "labels": ["B", "C"]}
    with open_store("sqlite://") as store:
        ledger = store.ledger()
        for index in range(2):
            ledger.begin(Run(id=f"r{index}", plan="p", plan_hash="", checkpoint=f"c{index}", order=index))
            key = {"run_id": f"r{index}", "task": "t", "checkpoint": f"c{index}", "repeat": 1}
            for prompt in range(8):
                value = 0.1 * prompt
                score = Score(name="j.level", value=value, signature="j", kind="judge", details=details)
                ledger.record_rows(
                    [row_of(**key, sample_id=f"p{prompt}", cluster=f"p{prompt}", outcome=score)]
                )
        ledger.commit()
        assert "t/j.level: 8 answers with levels whose values are not known" in words(store)
        assert "t/j.level：8 个回答的评审等级不知对应何值" in words(store, language="zh")


@pytest.fixture
def long(record: Record) -> Store:
    """A store with 27 checkpoints, of which the third is pinned, and human values of all answers."""
    rng = np.random.default_rng(4)
    store = record(rng.uniform(0.4, 0.6, 27).tolist(), human=True, started="2026-01-01")
    store.pin(store.find("c2"), "2026-02-01")
    return store


@pytest.mark.slow
def test_many_checkpoints_are_shortened_and_have_p_values_of_blocks(long: Store) -> None:
    text = words(long)
    lines = text.splitlines()
    assert lines[0] == "p: c2 → c26, 25 checkpoints"
    start = lines.index("the baseline begins with c2")
    assert lines[start + 1] == "2 checkpoints before the baseline are left out"
    assert any(line.startswith("  means: c2 ") and " …, c24 " in line for line in lines)
    assert "mean of 24 checkpoints (c2 … c25)" in row(text, 0)
    assert " p* = " in row(text, 3)
    assert any(line.startswith("p* keeps 5 neighbouring checkpoints together") for line in lines)
    assert sum(line.endswith("/12     12") for line in lines) == 25


@pytest.mark.slow
def test_the_number_of_the_look_and_its_level_are_printed(long: Store) -> None:
    words(long)
    text = words(long, *(f"c{index}" for index in range(2, 20)))
    look = "run 2 tested against this baseline, so p up to .0076 is significant"
    assert f"p corrected for 154 tests (maxT); {look}" in text
    assert f"p corrected for 2 tests (Holm); {look}" in text


def test_unordered_unequal_and_clustered_answers_are_said_in_words() -> None:
    clusters = {f"p{prompt}": f"song{prompt // 2}" for prompt in range(20)}
    with open_store("sqlite://") as store:
        for index in range(4):
            repeats = range(1, index + 2)
            values = {
                name: [(prompt * repeat * (index + 1)) % 7 for repeat in repeats]
                for prompt, name in enumerate(clusters)
            }
            record_run(store, f"c{index}", {"s.value": values}, order=index, clusters=clusters, scale=None)
        text = words(store)
    assert "20 in 10 clusters" in row(text, 0)
    assert row(text, 2).split()[3] == "20"
    assert "needs 5 checkpoints needs 8 checkpoints" in row(text, 2)


def test_what_is_known_of_the_judge_is_a_section_of_the_report(record: Record) -> None:
    report = drift_report(record(JITTER))
    judges = judge_report(judged_score(verdict="judge drifted"))
    document = drift_document(report, judges)
    judged: Any = document.record
    assert "judge drift: a → b\n\n· t/j.level: judge drifted" in printed(document)
    assert judged["judge_drift"]["scores"][0]["verdict"] == "judge drifted"
    unknown = judge_report(judged_score(reason="not judged again"), again=None)
    assert drift_document(report, unknown) == drift_document(report)
    assert drift_document(report).record["judge_drift"] is None
