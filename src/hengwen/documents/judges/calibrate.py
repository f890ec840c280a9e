"""The document of calibrations: decisions, then agreement, confusion, maps and corrected means.

A calibration compares the scores of a judge with human labels.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Bar, Cell, Column, Decision, Details, Document, Sentence, Table, Verdict
from hengwen.documents.cells import count_cell, interval_cell, number_cell, right
from hengwen.documents.judges.calibration_words import (
    DECISIONS,
    WITHIN,
    no_estimate_text,
    reasons_text,
    remark_text,
)
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.judges.calibration.agreement import OF_LEVELS
from hengwen.judges.calibration.artifact import calibrations_json
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, interval
from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.blocks import Block, Text, Tone, Value
    from hengwen.judges.calibration import Agreement, Calibration, CorrectedMean, Estimate
    from hengwen.judges.calibration.artifact import Decision as Outcome
    from hengwen.judges.calibration.means import MeanReport
    from hengwen.judges.calibration.within import WithinAgreement
    from hengwen.monitoring.judge_trust import JudgeTrust

_TONES: dict[Outcome, Tone] = {"certified": "plain", "not certified": "worse", "insufficient": "open"}
_ESTIMATES = {
    "quadratic_kappa": Bilingual("二次加权 kappa", "quadratic kappa"),
    "linear_kappa": Bilingual("线性加权 kappa", "linear kappa"),
    "kappa": Bilingual("无权 kappa", "unweighted kappa"),
    "alpha": Bilingual("Krippendorff alpha", "Krippendorff alpha"),
    "pearson": Bilingual("Pearson", "Pearson"),
    "spearman": Bilingual("Spearman", "Spearman"),
    "kendall": Bilingual("Kendall tau-b", "Kendall tau-b"),
    "exact": Bilingual("完全一致", "exact"),
    "within_one": Bilingual("相差不超过一级", "within one level"),
    "bias": Bilingual("偏差（评审减人工）", "bias (judge - human)"),
}
_CONCORDANCE = Bilingual(
    "分数没有等级：二次加权 kappa 即 Lin 的一致性相关系数",
    "the scale has no levels: quadratic kappa is Lin's concordance correlation",
)
_DROPPED = {
    "no_answer": Bilingual("没有评审过的回答", "without a judged answer"),
    "other_text": Bilingual("回答文本已变", "for another text"),
    "no_verdict": Bilingual("评审没有结论", "without a verdict"),
    "example": Bilingual("是评分标准的示例", "for examples of the rubric"),
    "no_majority": Bilingual("标注者没有多数", "without a majority of raters"),
}
_WITHIN_COLUMNS = (
    Column(key="checkpoint", head=Bilingual("检查点", "checkpoint")),
    right("n", "n", "n"),
    right("human_mean", "人工均值", "people"),
    right("judge_mean", "评审均值", "judge"),
    right("bias", "偏差", "bias"),
    right("quadratic_kappa", "二次加权 kappa", "quadratic kappa"),
)
_MEAN_COLUMNS = (
    Column(key="checkpoint", head=Bilingual("检查点", "checkpoint")),
    right("judge_alone", "仅评审", "judge alone"),
    right("labels_alone", "仅标注", "labels alone"),
    right("corrected", "校正后", "corrected"),
    right("lam", "λ", "λ"),
    right("n", "n", "n"),
)


def calibrate_document(calibrations: Sequence[Calibration], judges: Sequence[JudgeTrust] = ()) -> Document:
    """Return the document of calibrations, with the decisions and what else is known of the judges first."""
    return Document(
        kind="calibrate",
        title=Bilingual("评审与人工标注的比较", "Judges against human labels"),
        blocks=(
            Decision(
                title=_title(calibrations),
                bullets=tuple(map(_verdict, calibrations)),
                judges=trust_verdicts(judges),
            ),
            *_decisive(calibrations),
            *(
                Details(title=calibration.address, blocks=tuple(_blocks(calibration, f"{i}")))
                for i, calibration in enumerate(calibrations, start=1)
            ),
        ),
        record={**json.loads(calibrations_json(calibrations)), "judges": trust_record(judges)},
    )


def _title(calibrations: Sequence[Calibration]) -> Bilingual:
    """Return how many judges are certified."""
    n = len(calibrations)
    decisions = [calibration.decision for calibration in calibrations]
    if n == 1:
        word = DECISIONS[decisions[0]]
        return Bilingual(f"{word.zh}。", f"{word.en[:1].upper()}{word.en[1:]}.")
    certified = decisions.count("certified")
    return Bilingual(
        f"{n} 项评审中 {certified} 项通过校准。", f"{certified} of {n} judged scores are certified."
    )


def _decisive(calibrations: Sequence[Calibration]) -> Iterator[Table]:
    """Yield the agreement that decides, with its interval beside the threshold."""
    rows = []
    for calibration in calibrations:
        kappa = calibration.within.quadratic_kappa if calibration.within else None
        pooled = calibration.agreement.quadratic_kappa if calibration.agreement else None
        decisive = kappa or pooled
        if decisive is None or decisive.value is None:
            continue
        bounds, tone = _bounds(decisive), _TONES[calibration.decision]
        mark_tone: Tone = "better" if calibration.decision == "certified" else tone
        rows.append(
            (
                Cell(text=DECISIONS[calibration.decision], values={"": calibration.decision}, tone=mark_tone),
                Cell(text=calibration.address),
                replace(
                    interval_cell(decisive.value, bounds, 2),
                    bar=Bar(
                        value=decisive.value,
                        interval=bounds,
                        limits=(min(0.0, *(bounds or (0.0,))), 1.0),
                        reference=calibration.threshold,
                        tone=mark_tone,
                    ),
                ),
                interval_cell(pooled.value if pooled else None, _bounds(pooled) if pooled else None, 2),
                count_cell(calibration.agreement.n if calibration.agreement else None),
            )
        )
    if rows:
        yield Table(
            key="decisions",
            columns=(
                Column(key="decision", head=Bilingual("结论", "result")),
                Column(key="score", head=Bilingual("分数", "score")),
                right("kappa", "检查点内 kappa", "kappa within checkpoints"),
                Column(key="pooled", head=Bilingual("全部回答", "over all"), align="right", is_detail=True),
                right("labels", "标注", "labels"),
            ),
            rows=tuple(rows),
        )


def _verdict(calibration: Calibration) -> Verdict:
    subject: Text = calibration.address
    if calibration.tasks:
        count = len(calibration.tasks)
        subject = Bilingual(f"{subject}（合并 {count} 个任务）", f"{subject} (pooled over {count} tasks)")
    decision, reasons = DECISIONS[calibration.decision], reasons_text(calibration.reasons)
    return Verdict(
        tone=_TONES[calibration.decision],
        subject=subject,
        sentence=Bilingual(f"{decision.zh}：{reasons.zh}", f"{decision.en}: {reasons.en}"),
        evidence=tuple(map(remark_text, calibration.warnings)),
    )


def _blocks(calibration: Calibration, number_of: str) -> Iterator[Block]:
    """Yield the labels that were used, then the tables; ``number_of`` tells the tables from other ones."""
    yield Sentence(text=calibration.signature, is_note=True)
    dropped = [(n, _DROPPED[reason]) for reason, n in calibration.dropped.items() if n]
    if dropped:
        zh, en = (", ".join(f"{n} {text.in_language(lang)}" for n, text in dropped) for lang in ("zh", "en"))
        yield Sentence(text=Bilingual(f"未用的标注：{zh}", f"labels not used: {en}"))
    if calibration.drawn:
        draws = "; ".join(f"{one_line(text, 120)} ({n} labels)" for text, n in calibration.drawn.items())
        yield Sentence(text=Bilingual(f"抽样方式：{draws}", f"how answers were drawn: {draws}"))
    agreement = calibration.agreement
    if agreement is None:
        return
    yield _agreement_table(calibration, agreement, f"agreement-{number_of}")
    if calibration.within is not None:
        yield _within_table(calibration.within, f"within-{number_of}")
    if agreement.confusion:
        yield _confusion_table(agreement, f"confusion-{number_of}")
    if calibration.maps:
        yield _maps_table(calibration, f"maps-{number_of}")
    else:
        reason = reasons_text(filter(None, [calibration.maps_reason]))
        yield Sentence(text=Bilingual(f"没有校准映射：{reason.zh}", f"no calibration maps: {reason.en}"))
    yield Table(
        key=f"means-{number_of}",
        title=Bilingual("均值", "means"),
        columns=_MEAN_COLUMNS,
        rows=tuple(map(_mean_row, calibration.means)),
    )


def _agreement_table(calibration: Calibration, agreement: Agreement, key: str) -> Table:
    n, prompts, raters = agreement.n, agreement.prompts, calibration.raters
    is_continuous = not agreement.levels
    names = [name for name in _ESTIMATES if not (is_continuous and name in OF_LEVELS)]
    estimates = [(_ESTIMATES[name], getattr(agreement, name)) for name in names]
    if calibration.within is not None:
        kappa = _ESTIMATES["quadratic_kappa"]
        title = Bilingual(f"{WITHIN.zh}的{kappa.zh}", f"{kappa.en} {WITHIN.en}")
        estimates.insert(0, (title, calibration.within.quadratic_kappa))
    among_raters = Bilingual("标注者之间（alpha）", "among raters (alpha)")
    return Table(
        key=key,
        title=Bilingual(
            f"与人工标注的一致性（{n} 个标注，{prompts} 题，{raters} 名标注者）",
            f"agreement with human labels (n={n}, prompts {prompts}, raters {raters})",
        ),
        columns=(
            Column(key="measure", head=""),
            right("value", "值", "value"),
            Column(key="interval", head=f"{calibration.level:.0%}", align="right"),
            right("undefined", "无定义", "undefined"),
        ),
        rows=tuple(
            _estimate_row(title, estimate, agreement.resamples)
            for title, estimate in (*estimates, (among_raters, calibration.ceiling))
        ),
        notes=(_CONCORDANCE,) if is_continuous else (),
    )


def _estimate_row(title: Text, estimate: Estimate, resamples: int) -> tuple[Cell, ...]:
    bounds: dict[str, Value] = {"low": estimate.low, "high": estimate.high}
    text: Text
    if estimate.value is None:
        text, undefined = no_estimate_text(estimate.reason), ""
    else:
        text = interval(_bounds(estimate), 2)
        undefined = f"{estimate.undefined}/{resamples}" if estimate.undefined else ""
    return (
        Cell(text=title),
        number_cell(estimate.value, 2),
        Cell(text=text, values=bounds),
        Cell(text=undefined, values={"": estimate.undefined}),
    )


def _within_table(within: WithinAgreement, key: str) -> Table:
    """Return the agreement and the bias within each checkpoint."""
    return Table(
        key=key,
        title=Bilingual("各检查点内的一致性", "agreement within each checkpoint"),
        columns=_WITHIN_COLUMNS,
        rows=tuple(
            (
                Cell(text=checkpoint.checkpoint),
                count_cell(checkpoint.n),
                number_cell(checkpoint.human_mean, 2),
                number_cell(checkpoint.judge_mean, 2),
                interval_cell(checkpoint.bias.value, _bounds(checkpoint.bias), 2),
                interval_cell(checkpoint.quadratic_kappa.value, _bounds(checkpoint.quadratic_kappa), 2),
            )
            for checkpoint in within.checkpoints
        ),
    )


def _confusion_table(agreement: Agreement, key: str) -> Table:
    levels = [f"{level:g}" for level in agreement.levels]
    between = agreement.between
    rows = [
        (
            Cell(text=level),
            *(Cell(text=str(count) if count else "·", values={"": count}) for count in counts),
            Cell(text=f"{share:.0%}", values={"": share}),
        )
        for level, counts, share in zip(levels, agreement.confusion, agreement.human_base, strict=True)
    ]
    judge = (
        Cell(text=Bilingual("评审", "judge")),
        *(Cell(text=f"{share:.0%}", values={"": share}) for share in agreement.judge_base),
        Cell(text=""),
    )
    note = Bilingual(
        f"{between} 个值介于两级之间，按最近的一级计",
        f"values between levels, counted as the nearest: {between}",
    )
    return Table(
        key=key,
        title=Bilingual("人工（行）与评审（列）", "human (rows) and judge (columns)"),
        columns=(
            Column(key="human_level", head=""),
            *(Column(key=f"judge_{level}", head=level, align="right") for level in levels),
            right("human", "人工", "human"),
        ),
        rows=(*rows, judge),
        notes=(note,) if between else (),
    )


def _maps_table(calibration: Calibration, key: str) -> Table:
    first = calibration.maps[0]
    levels = [f"{value:g}" for value, _ in first.levels]
    raw = (
        Cell(text=Bilingual("原值", "raw"), values={"": "raw"}),
        *(Cell(text=text, values={"": value}) for text, (value, _) in zip(levels, first.levels, strict=True)),
        number_cell(first.raw_error, 4),
        Cell(text=""),
    )
    rows = [
        (
            Cell(text=report.kind),
            *(number_cell(value, 2) for _, value in report.levels),
            number_cell(report.error, 4),
            interval_cell(report.gain.value, _bounds(report.gain), 4),
        )
        for report in calibration.maps
    ]
    return Table(
        key=key,
        title=Bilingual("校准映射", "calibration maps"),
        columns=(
            Column(key="map", head=""),
            *(Column(key=f"level_{level}", head=level, align="right") for level in levels),
            right("error", "误差", "error"),
            right("gain", "增益", "gain"),
        ),
        rows=(raw, *rows),
    )


def _mean_row(report: MeanReport) -> tuple[Cell, ...]:
    name = Cell(text=report.checkpoint or Bilingual("全部", "all"), values={"": report.checkpoint or None})
    mean = report.corrected
    if mean is None:
        nothing = Cell(text=NOTHING)
        why = reasons_text(filter(None, [report.reason]))
        reason = Cell(text=why, values={"reason": why.en})
        return name, nothing, nothing, reason, Cell(text=""), Cell(text="")
    return (
        name,
        number_cell(mean.judge_mean, 2),
        _labels_alone(mean),
        interval_cell(mean.mean, (mean.low, mean.high), 2),
        number_cell(mean.lam, 2),
        Cell(text=f"{mean.n}+{mean.others}", values={"labelled": mean.n, "others": mean.others}),
    )


def _labels_alone(mean: CorrectedMean) -> Cell:
    """Return the mean of the human labels; a dash if the labelled answers are not a random sample."""
    if mean.labels_mean is None or mean.labels_low is None or mean.labels_high is None:
        return Cell(text=NOTHING)
    return interval_cell(mean.labels_mean, (mean.labels_low, mean.labels_high), 2)


def _bounds(estimate: Estimate) -> tuple[float, float] | None:
    return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
