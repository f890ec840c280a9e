"""The calibration of a judge: joined labels, the decision, the signature it is valid for, its file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rows import each_row

from hengwen.errors import DataError
from hengwen.judges import calibrate, is_stale, read_calibrations
from hengwen.judges.calibration import JudgedAnswer, Remark, rubric_hash_of, write_calibrations
from hengwen.judges.calibration.joining import join
from hengwen.prompts import load_rubric
from hengwen.records import Label

FIVE = [0.0, 0.25, 0.5, 0.75, 1.0]
SIGNATURE = "live|rubric:1.aaaaaaaa|openai/x|temp:0|v:1"


def answers_of(values, *, checkpoint: str = "c", each: int = 1, **fields) -> list[JudgedAnswer]:
    return [
        JudgedAnswer(
            task="live",
            id=f"p{i // each}",
            checkpoint=checkpoint,
            repeat=i % each + 1,
            text=f"answer {i}",
            value=value,
            signature=SIGNATURE,
            **fields,
        )
        for i, value in enumerate(values)
    ]


def labels_of(values, answers, rater: str = "a", **fields) -> list[Label]:
    return [
        Label(
            task=answer.task,
            id=answer.id,
            checkpoint=answer.checkpoint,
            repeat=answer.repeat,
            score="live.level",
            value=value,
            rater=rater,
            **fields,
        )
        for value, answer in zip(values, answers, strict=False)
    ]


def calibrated(draw, n: int = 60, *, rho: float = 0.9, each: int = 1, labelled: int | None = None, **options):
    human, judge = draw(np.random.default_rng(4), n // each, each, rho=rho)
    answers = answers_of(judge.ravel().tolist(), each=each)
    labels = labels_of(human.ravel().tolist()[:labelled], answers)
    return calibrate(labels, answers, score="live.level", levels=FIVE, resamples=300, **options)


def test_a_good_judge_on_enough_labels_is_certified(draw) -> None:
    calibration = calibrated(draw)
    assert calibration.decision == "certified"
    assert calibration.agreement.quadratic_kappa.low >= 0.5
    kappa = calibration.agreement.quadratic_kappa
    measured = {"kappa": kappa.value, "low": kappa.low, "threshold": 0.5}
    assert calibration.reasons == (Remark("kappa", measured),)
    assert (calibration.address, calibration.rubric_hash, calibration.signature) == (
        "live/live.level",
        "aaaaaaaa",
        SIGNATURE,
    )


def test_a_poor_judge_is_not_certified(draw) -> None:
    calibration = calibrated(draw, rho=0.2)
    assert calibration.decision == "not certified"
    assert calibration.reasons[0].values["low"] < 0.5


@pytest.mark.slow
def test_the_lower_bound_decides_and_not_the_estimate(draw) -> None:
    first = calibrated(draw, 40, rho=0.8)
    kappa = first.agreement.quadratic_kappa
    between = (kappa.low + kappa.value) / 2
    calibration = calibrated(draw, 40, rho=0.8, threshold=between)
    assert calibration.decision == "not certified"
    assert calibrated(draw, 40, rho=0.8, threshold=kappa.low).decision == "certified"


def test_few_labels_or_few_prompts_are_insufficient(draw) -> None:
    assert calibrated(draw, 60, labelled=29).reasons == (Remark("few_labels", {"n": 29, "needed": 30}),)
    few = calibrated(draw, 60, each=15)
    assert (few.decision, few.reasons) == (
        "insufficient",
        (Remark("few_prompts", {"prompts": 4, "needed": 5}),),
    )


@pytest.mark.slow
def test_labels_on_one_level_are_a_warning_and_never_a_certificate() -> None:
    values = [1.0] * 48 + [0.0] * 12
    answers = answers_of(values)
    calibration = calibrate(
        labels_of(values, answers), answers, score="live.level", levels=FIVE, resamples=300
    )
    assert calibration.agreement.quadratic_kappa.value == 1
    assert calibration.decision == "insufficient"
    assert calibration.reasons == (Remark("labels_on_one_level", {"share": 0.8, "level": 1.0}),)
    assert calibration.reasons[0] in calibration.warnings
    fewer = [1.0] * 47 + [0.0] * 13
    answers = answers_of(fewer)
    other = calibrate(labels_of(fewer, answers), answers, score="live.level", levels=FIVE, resamples=300)
    assert (other.decision, other.warnings) == ("certified", ())


def test_a_constant_judge_is_insufficient_with_a_reason() -> None:
    answers = answers_of([0.75] * 40)
    calibration = calibrate(
        labels_of(FIVE * 8, answers), answers, score="live.level", levels=FIVE, resamples=100
    )
    assert calibration.decision == "insufficient"
    assert calibration.reasons == (Remark("undefined_kappa"),)
    # without a kappa there is no interval that could be too narrow
    assert [warning.code for warning in calibration.warnings] == ["judge_on_one_level"]


def test_labels_without_an_answer_are_insufficient() -> None:
    answers = answers_of([0.5] * 3)
    calibration = calibrate(
        labels_of([1], answers_of([1], checkpoint="other")), answers, score="live.level", levels=FIVE
    )
    assert (calibration.decision, calibration.agreement) == ("insufficient", None)
    assert calibration.dropped["no_answer"] == 1
    assert calibration.means[0].corrected is None


@pytest.mark.slow
def test_raters_are_averaged_and_their_agreement_is_the_ceiling(draw) -> None:
    human, judge = draw(np.random.default_rng(8), 50, 1, rho=0.8)
    second = np.where(np.arange(50) % 5 == 0, 1.0, human.ravel())
    answers = answers_of(judge.ravel().tolist())
    labels = labels_of(human.ravel().tolist(), answers) + labels_of(second.tolist(), answers[:40], "b")
    calibration = calibrate(labels, answers, score="live.level", levels=FIVE, resamples=200)
    means = human.ravel().copy()
    means[:40] = (means[:40] + second[:40]) / 2
    assert calibration.raters == 2
    assert calibration.agreement.human_mean == pytest.approx(means.mean())
    import krippendorff

    expected = krippendorff.alpha(np.array([human.ravel()[:40], second[:40]]), level_of_measurement="ordinal")
    assert calibration.ceiling.value == pytest.approx(expected)
    assert calibration.ceiling.low < expected < calibration.ceiling.high
    assert calibrated(draw).ceiling.reason == "no answer was labelled by two people"


def test_labels_of_another_text_are_left_out_and_line_ends_do_not_matter() -> None:
    answers = [replace(answer, text="a\nb") for answer in answers_of([0.5, 0.5, 0.5])]
    labels = labels_of([0.5], answers[:1], output="a\r\nb") + labels_of([1.0], answers[1:2], output="a b")
    labels += labels_of([0.25], answers[2:])
    joined = join(labels, answers)
    assert [pair.human for pair in joined.pairs] == [0.5, 0.25]
    assert joined.dropped == {"no_answer": 0, "other_text": 1, "no_verdict": 0, "example": 0}


def test_a_failed_verdict_is_counted_and_is_no_score() -> None:
    answers = [*answers_of([0.5, 0.75]), replace(answers_of([0] * 3)[2], value=None)]
    joined = join(labels_of([0.5, 0.75, 0.0], answers), answers)
    assert len(joined.pairs) == 2
    assert joined.dropped["no_verdict"] == 1


def test_examples_of_the_rubric_are_held_out_labelled_or_not() -> None:
    rubric = load_rubric("muice_live")
    example = rubric.examples[0].response
    texts = ["mine", f" {example.zh}\n", example.en, "other"]
    answers = [replace(answer, text=text) for answer, text in zip(answers_of([0.5] * 4), texts, strict=True)]
    joined = join(labels_of([1.0, 1.0], answers), answers, rubric)
    assert [pair.answer.text for pair in joined.pairs] == ["mine"]
    assert joined.dropped["example"] == 1
    assert [answer.text for answer in joined.others] == ["other"]


def test_only_labels_of_the_score_and_the_task_count(draw) -> None:
    answers = answers_of([0.5] * 3)
    labels = [replace(label, score="live.voice") for label in labels_of([1.0], answers)]
    labels += [replace(label, task="emotion") for label in labels_of([1.0, 1.0], answers)]
    calibration = calibrate(labels, answers, score="live.level", levels=FIVE)
    assert (calibration.agreement, calibration.dropped["no_answer"]) == (None, 0)


def test_the_means_are_of_all_and_of_each_checkpoint_in_their_order(draw) -> None:
    human, judge = draw(np.random.default_rng(6), 40, 1, rho=0.9)
    late = answers_of(judge.ravel().tolist(), checkpoint="b-first")
    early = answers_of(judge.ravel().tolist(), checkpoint="a-second")
    answers = [*late, *early]
    labels = labels_of(human.ravel().tolist()[:25], late) + labels_of([0.5], early)
    calibration = calibrate(labels, answers, score="live.level", levels=FIVE, resamples=100)
    assert [mean.checkpoint for mean in calibration.means] == ["", "b-first", "a-second"]
    assert (calibration.means[1].corrected.n, calibration.means[1].corrected.others) == (25, 15)
    assert calibration.means[0].corrected.prompts == 25
    assert calibration.means[2].reason == Remark("few_labels_for_mean", {"n": 1, "prompts": 1})


@each_row(
    ("answers", "options", "message"),
    [
        ([], {}, "no judged answers"),
        (answers_of([0.5]) * 2, {}, "two answers have the key"),
        ([*answers_of([0.5]), replace(answers_of([1])[0], task="x")], {}, "answers of one task"),
        ([*answers_of([0.5]), replace(answers_of([1, 1])[1], signature="s")], {}, "answers of one judge"),
        (answers_of([0.5]), {"levels": None}, "give a rubric, or levels"),
        (answers_of([0.5]), {"confidence": 0.0}, r"confidence must lie in \(0, 1\), got 0.0"),
        (answers_of([0.5]), {"confidence": 1.0}, r"confidence must lie in \(0, 1\), got 1.0"),
        (answers_of([0.5]), {"threshold": 1.1}, "threshold must lie in -1..1, as kappa does, got 1.1"),
        (answers_of([0.5]), {"threshold": -2}, "threshold must lie in -1..1, as kappa does, got -2"),
        (answers_of([0.5]), {"resamples": 0}, "resamples must be a whole number >= 1, got 0"),
        (answers_of([0.5]), {"seed": -1}, "seed must be a whole number >= 0, got -1"),
    ],
)
def test_invalid_input_raises(answers, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibrate([], answers, score="live.level", **{"levels": FIVE, **options})


def test_a_rater_who_labels_twice_is_an_error() -> None:
    answers = answers_of([0.5])
    with pytest.raises(ValueError, match="labels .* twice"):
        join(labels_of([0.5], answers) * 2, answers)


def test_a_calibration_is_stale_when_the_judge_or_the_rubric_changes(draw) -> None:
    calibration = calibrated(draw)
    assert is_stale(calibration, SIGNATURE, "aaaaaaaa") == ()
    assert is_stale(calibration, SIGNATURE, "") == ()
    assert is_stale(calibration, SIGNATURE.replace("openai/x", "openai/y"), "aaaaaaaa") == (
        "signature: openai/x is now openai/y",
    )
    assert is_stale(calibration, SIGNATURE, "bbbbbbbb") == ("rubric: aaaaaaaa is now bbbbbbbb",)
    assert is_stale(calibration, f"{SIGNATURE}|think:kept", "")[0] == "signature: (nothing) is now think:kept"


@each_row(
    ("signature", "rubric_hash"),
    [
        (SIGNATURE, "aaaaaaaa"),
        ("p|panel:mean|quorum:2|[a|rubric:1.12345678|x|v:1; b|rubric:1.12345678|y|v:1]|v:1", "12345678"),
        ("p|[a|rubric:1.12345678|v:1; b|rubric:1.12345679|v:1]|v:1", ""),
        ("live.final|caps:[x|v:1]|[live|rubric:3.0a0b0c0d|rules:11111111|v:1]|v:1", "0a0b0c0d"),
        ("lyric|rules:document|v:1", ""),
    ],
)
def test_the_rubric_in_a_signature(signature: str, rubric_hash: str) -> None:
    assert rubric_hash_of(signature) == rubric_hash


def test_written_calibrations_are_read_unchanged(draw, tmp_path: Path) -> None:
    calibrations = calibrated(draw), calibrated(draw, 12)
    path = write_calibrations(tmp_path / "c.json", calibrations)
    assert read_calibrations(path) == calibrations
    data = json.loads(path.read_text("utf-8"))
    assert data["schema"] == 1
    assert "NaN" not in path.read_text("utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["c.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a calibration file"),
        ("[]", "no 'calibrations'"),
        ('{"calibrations": []}', "schema None, but this program reads 1"),
        ('{"schema": 2, "calibrations": []}', "schema 2"),
        ('{"schema": 1, "calibrations": [{"task": 1}]}', r"calibrations\.0\."),
    ],
)
def test_an_invalid_file_raises(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        read_calibrations(path)
    with pytest.raises(DataError, match="no such file; create it with"):
        read_calibrations(tmp_path / "none.json")


def test_how_labels_were_drawn_is_stored_and_unknown_is_said(draw) -> None:
    human, judge = draw(np.random.default_rng(4), 60, 1, rho=0.9)
    answers = answers_of(judge.ravel().tolist())
    labels = labels_of(human.ravel().tolist()[:40], answers, drawn="random|seed:0|from:60|strata:none")
    labels += labels_of(human.ravel().tolist()[40:45], answers[40:45])
    calibration = calibrate(labels, answers, score="live.level", levels=FIVE, resamples=100)
    assert calibration.drawn == {"random|seed:0|from:60|strata:none": 40, "unknown": 5}
    assert calibration.warnings == ()
    assert calibration.means[0].corrected.labels_mean is not None


def test_labels_that_were_chosen_hide_their_mean(draw) -> None:
    human, judge = draw(np.random.default_rng(4), 60, 1, rho=0.9)
    answers = answers_of(judge.ravel().tolist())
    labels = labels_of(human.ravel().tolist()[:40], answers, drawn="the odd ones")
    calibration = calibrate(labels, answers, score="live.level", levels=FIVE, resamples=100)
    corrected = calibration.means[0].corrected
    assert (corrected.labels_mean, corrected.labels_low, corrected.narrowing) == (None, None, None)
    assert calibration.warnings[-1] == Remark("chosen_answers", {"n": 40, "drawn": "the odd ones"})


@pytest.mark.slow
def test_labels_of_the_best_answers_hide_their_mean_and_are_warned_of(draw) -> None:
    human, judge = draw(np.random.default_rng(4), 120, 1, rho=0.9)
    best_first = np.argsort(-human.ravel(), kind="stable")
    answers = answers_of(judge.ravel()[best_first].tolist())
    labels = labels_of(human.ravel()[best_first].tolist()[:50], answers, drawn="random|seed:0|from:120")
    calibration = calibrate(labels, answers, score="live.level", levels=FIVE, resamples=100)
    mean = calibration.means[0]
    assert mean.balance.difference > 0.2
    assert not mean.balance.holds
    assert (mean.corrected.labels_mean, mean.corrected.method) == (None, "ppi")
    warning = calibration.warnings[-1]
    assert (warning.code, warning.values["checkpoint"]) == ("unbalanced", "")
    assert warning.values["difference"] == mean.balance.difference
    few = calibrate(labels[:18], answers, score="live.level", levels=FIVE, resamples=100)
    assert few.means[0].corrected is None
    assert few.means[0].reason == Remark("not_random")


@pytest.mark.slow
def test_tasks_that_share_a_rubric_can_be_pooled_by_prompt(draw) -> None:
    human, judge = draw(np.random.default_rng(4), 60, 1, rho=0.9)
    answers = answers_of(judge.ravel().tolist())
    answers = [
        replace(answer, task="live" if i < 30 else "emotion", id=f"p{i % 30}", signature=f"{i // 30}|v:1")
        for i, answer in enumerate(answers)
    ]
    labels = labels_of(human.ravel().tolist()[:50], answers)
    options = {"score": "live.level", "levels": FIVE, "resamples": 200}
    alone = [calibrate(labels, answers[start : start + 30], **options) for start in (0, 30)]
    assert [calibration.agreement.n for calibration in alone] == [30, 20]
    pooled = calibrate(labels, answers, pooled=True, **options)
    assert (pooled.tasks, pooled.address) == (("live", "emotion"), "live+emotion/live.level")
    assert (pooled.agreement.n, pooled.agreement.prompts) == (50, 50)
    assert pooled.signature == "[0|v:1; 1|v:1]"
    assert alone[0].tasks == ()


def test_a_file_of_an_older_version_without_draws_is_read(draw, tmp_path: Path) -> None:
    path = write_calibrations(tmp_path / "c.json", [calibrated(draw)])
    data = json.loads(path.read_text("utf-8"))
    for calibration in data["calibrations"]:
        del calibration["drawn"], calibration["tasks"]
        for mean in calibration["means"]:
            del mean["balance"]
    path.write_text(json.dumps(data), "utf-8")
    (calibration,) = read_calibrations(path)
    assert (calibration.drawn, calibration.tasks, calibration.means[0].balance) == ({}, (), None)


@pytest.mark.parametrize(
    ("raters", "values", "left_out"),
    [("mean", [4 / 3, 1.5], None), ("majority", [1.0], 1), ("bo", [1.0, 2.0], None)],
)
def test_several_raters_count_by_mean_by_majority_or_one_alone(
    raters: str, values: list[float], left_out: int | None
) -> None:
    votes = [("0", "ann", 1), ("0", "bo", 1), ("0", "cy", 2), ("1", "ann", 1), ("1", "bo", 2)]
    labels = [
        Label(task="t", id=sample, score="s", value=value, rater=rater) for sample, rater, value in votes
    ]
    answers = [JudgedAnswer(task="t", id=sample, value=1.0) for sample in "01"]
    joined = join(labels, answers, raters=raters)
    assert [pair.human for pair in joined.pairs] == values
    assert joined.dropped.get("no_majority") == left_out
    warnings = calibrate(labels, answers, score="s", levels=[0, 1, 2], raters=raters).warnings
    assert ("majority" in {warning.code for warning in warnings}) == (raters == "majority")
    with pytest.raises(ValueError, match="no labels by the rater 'zoe'"):
        join(labels, answers, raters="zoe")
