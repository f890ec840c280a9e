"""The document of calibrations of judges with human labels: decisions, agreement, corrected means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hengwen.documents import cells
from hengwen.documents.blocks import (
    Bar,
    Block,
    Cell,
    Column,
    Decision,
    Details,
    Document,
    Sentence,
    Table,
    Text,
    Tone,
    Verdict,
)
from hengwen.documents.judges.calibration_words import (
    DECISIONS,
    WITHIN,
    no_estimate_text,
    reasons_text,
    remark_text,
)
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.judges.calibration import Agreement, Calibration, Estimate
from hengwen.judges.calibration.agreement import OF_LEVELS, WithinAgreement
from hengwen.judges.calibration.certify import Decision as Outcome
from hengwen.judges.calibration.certify import calibrations_json
from hengwen.judges.calibration.joining import UNKNOWN
from hengwen.judges.calibration.means import MeanReport
from hengwen.monitoring.judge_trust import JudgeTrust
from hengwen.text.language import COLON, NOTED, SEMICOLON, SENTENCE, SPACE, Bilingual
from hengwen.text.numbers import NOTHING, interval, one_line, plural

_TONES: dict[Outcome, Tone] = {"certified": "plain", "not certified": "worse", "insufficient": "open"}
_ESTIMATES = {
    "quadratic_kappa": Bilingual("二次加权 kappa", "quadratic kappa"),
    "kappa": Bilingual("无权 kappa", "unweighted kappa"),
    "spearman": Bilingual("Spearman", "Spearman"),
    "exact": Bilingual("完全一致", "exact"),
    "within_one": Bilingual("相差不超过一级", "within one level"),
    "bias": Bilingual("偏差（评审减人工）", "bias (judge - human)"),
}
_DROPPED = {
    "no_answer": Bilingual("没有评审过的回答", "without a judged answer"),
    "other_text": Bilingual("回答文本已变", "for another text"),
    "no_verdict": Bilingual("评审没有结论", "without a verdict"),
    "example": Bilingual("是评分标准的示例", "for examples of the rubric"),
    "no_majority": Bilingual("标注者没有多数", "without a majority of raters"),
}
_MEAN_COLUMNS = (
    cells.left("checkpoint", "检查点", "checkpoint"),
    cells.right("judge_alone", "仅评审", "judge alone"),
    cells.right("labels_alone", "仅标注", "labels alone"),
    cells.right("corrected", "校正后", "corrected"),
    cells.right("lam", "λ", "λ"),
    cells.right("n", "n", "n"),
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
        return SENTENCE.format(DECISIONS[decisions[0]].capitalized)
    certified = decisions.count("certified")
    return Bilingual(
        f"{n} 项评审中 {certified} 项通过校准。", f"{certified} of {n} judged scores are certified."
    )


def _decisive(calibrations: Sequence[Calibration]) -> Iterator[Table]:
    """Yield the agreement that decides, with its interval beside the threshold."""
    rows = []
    for calibration in calibrations:
        agreement = calibration.agreement
        kappa = calibration.within.quadratic_kappa if calibration.within else None
        pooled = agreement.quadratic_kappa if agreement else None
        decisive = kappa or pooled
        if decisive is None or decisive.value is None:
            continue
        bounds, decision = _bounds(decisive), calibration.decision
        tone: Tone = "better" if decision == "certified" else _TONES[decision]
        bar = Bar(
            value=decisive.value,
            interval=bounds,
            limits=(min(0.0, *(bounds or (0.0,))), 1.0),
            reference=calibration.threshold,
            tone=tone,
        )
        rows.append(
            (
                cells.verdict_cell(DECISIONS[decision], decision, tone),
                Cell(text=calibration.address),
                cells.interval_cell(decisive.value, bounds, 2, bar),
                _estimate_cell(pooled) if pooled else cells.interval_cell(None, None),
                cells.count_cell(agreement.n if agreement else None),
            )
        )
    if rows:
        columns = (
            cells.left("decision", "结论", "result"),
            cells.SCORE,
            cells.right("kappa", "检查点内 kappa", "kappa within checkpoints"),
            cells.right("pooled", "全部回答", "over all", is_detail=True),
            cells.right("labels", "标注", "labels"),
        )
        yield Table(key="decisions", columns=columns, rows=tuple(rows))


def _verdict(calibration: Calibration) -> Verdict:
    subject: Text = calibration.address
    if calibration.tasks:
        n = len(calibration.tasks)
        subject = NOTED.format(subject, Bilingual(f"合并 {n} 个任务", f"pooled over {n} tasks"))
    return Verdict(
        tone=_TONES[calibration.decision],
        subject=subject,
        sentence=COLON.join([DECISIONS[calibration.decision], reasons_text(calibration.reasons)]),
        evidence=tuple(map(remark_text, calibration.warnings)),
    )


def _blocks(calibration: Calibration, number_of: str) -> Iterator[Block]:
    """Yield the labels that were used, then the tables; ``number_of`` tells the tables from other ones."""
    yield Sentence(text=calibration.signature, is_note=True)
    dropped = [SPACE.join([f"{n}", _DROPPED[reason]]) for reason, n in calibration.dropped.items() if n]
    if dropped:
        listed = Bilingual(", ", ", ").join(dropped)
        yield Sentence(text=COLON.join([Bilingual("未用的标注", "labels not used"), listed]))
    if calibration.drawn:
        draws = SEMICOLON.join(
            NOTED.format(
                Bilingual("未知", "unknown") if text == UNKNOWN else one_line(text, 120),
                Bilingual(f"{n} 个标注", plural(n, "label")),
            )
            for text, n in calibration.drawn.items()
        )
        yield Sentence(text=COLON.join([Bilingual("抽样方式", "how answers were drawn"), draws]))
    agreement = calibration.agreement
    if agreement is None:
        return
    yield _agreement_table(calibration, agreement, f"agreement-{number_of}")
    if calibration.within is not None:
        yield _within_table(calibration.within, f"within-{number_of}")
    if agreement.confusion:
        yield _confusion_table(agreement, f"confusion-{number_of}")
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
        title = Bilingual("{0}的{1}", "{1} {0}").format(WITHIN, _ESTIMATES["quadratic_kappa"])
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
            cells.right("value", "值", "value"),
            Column(key="interval", head=f"{calibration.level:.0%}", align="right"),
            cells.right("undefined", "无定义", "undefined"),
        ),
        rows=tuple(
            _estimate_row(title, estimate, agreement.resamples)
            for title, estimate in (*estimates, (among_raters, calibration.ceiling))
        ),
    )


def _estimate_row(title: Text, estimate: Estimate, resamples: int) -> tuple[Cell, ...]:
    text: Text = interval(_bounds(estimate), 2)
    undefined = f"{estimate.undefined}/{resamples}" if estimate.undefined else ""
    if estimate.value is None:
        text, undefined = no_estimate_text(estimate.reason), ""
    return (
        Cell(text=title),
        cells.number_cell(estimate.value, 2),
        Cell(text=text, values={"low": estimate.low, "high": estimate.high}),
        Cell(text=undefined, values={"": estimate.undefined}),
    )


def _within_table(within: WithinAgreement, key: str) -> Table:
    """Return the agreement and the bias within each checkpoint."""
    return cells.table_of(
        within.checkpoints,
        (cells.left("checkpoint", "检查点", "checkpoint"), lambda item: Cell(text=item.checkpoint)),
        (cells.right("n", "n", "n"), lambda item: cells.count_cell(item.n)),
        (cells.right("human_mean", "人工均值", "people"), lambda item: cells.number_cell(item.human_mean, 2)),
        (cells.right("judge_mean", "评审均值", "judge"), lambda item: cells.number_cell(item.judge_mean, 2)),
        (cells.right("bias", "偏差", "bias"), lambda item: _estimate_cell(item.bias)),
        (
            cells.right("quadratic_kappa", "二次加权 kappa", "quadratic kappa"),
            lambda item: _estimate_cell(item.quadratic_kappa),
        ),
        key=key,
        title=Bilingual("各检查点内的一致性", "agreement within each checkpoint"),
    )


def _confusion_table(agreement: Agreement, key: str) -> Table:
    levels = [f"{level:g}" for level in agreement.levels]
    between = agreement.between

    def share_cell(share: float) -> Cell:
        return Cell(text=f"{share:.0%}", values={"": share})

    rows = [
        (
            Cell(text=level),
            *(Cell(text=str(count) if count else "·", values={"": count}) for count in counts),
            share_cell(share),
        )
        for level, counts, share in zip(levels, agreement.confusion, agreement.human_base, strict=True)
    ]
    judge = (Cell(text=Bilingual("评审", "judge")), *map(share_cell, agreement.judge_base), Cell(text=""))
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
            cells.right("human", "人工", "human"),
        ),
        rows=(*rows, judge),
        notes=(note,) if between else (),
    )


def _mean_row(report: MeanReport) -> tuple[Cell, ...]:
    name = Cell(text=report.checkpoint or Bilingual("全部", "all"), values={"": report.checkpoint or None})
    mean = report.corrected
    nothing, empty = Cell(text=NOTHING), Cell(text="")
    if mean is None:
        why = reasons_text(filter(None, [report.reason]))
        return name, nothing, nothing, Cell(text=why, values={"reason": why.en}), empty, empty
    low, high = mean.labels_low, mean.labels_high
    bounds = None if mean.labels_mean is None or low is None or high is None else (low, high)
    return (
        name,
        cells.number_cell(mean.judge_mean, 2),
        # a dash if the labelled answers are not a random sample
        nothing if bounds is None else cells.interval_cell(mean.labels_mean, bounds, 2),
        cells.interval_cell(mean.mean, (mean.low, mean.high), 2),
        cells.number_cell(mean.lam, 2),
        Cell(text=f"{mean.n}+{mean.others}", values={"labelled": mean.n, "others": mean.others}),
    )


def _estimate_cell(estimate: Estimate, decimals: int = 2) -> Cell:
    return cells.interval_cell(estimate.value, _bounds(estimate), decimals)


def _bounds(estimate: Estimate) -> tuple[float, float] | None:
    return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
