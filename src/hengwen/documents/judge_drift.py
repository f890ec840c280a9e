"""A judge drift report as a document: did the model change, or the judge?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from hengwen.documents import cells
from hengwen.documents.blocks import (
    Bar,
    Block,
    Cell,
    Decision,
    Document,
    Sentence,
    Table,
    Text,
    Tone,
    Verdict,
)
from hengwen.documents.cells import score_names, verdicts_on_rewards
from hengwen.documents.drift.words import names_text
from hengwen.documents.judges.judge_drift_words import evidence, score_name
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.monitoring.judge_drift.effects import Effect
from hengwen.monitoring.judge_drift.report import JudgeDriftReport
from hengwen.monitoring.judge_drift.verdicts import DriftVerdict, JudgedScoreDrift
from hengwen.results.comparability import run_labels
from hengwen.text.language import COLON, SEMICOLON, SENTENCE, Bilingual, both
from hengwen.text.numbers import decimals_for, format_timestamp, number, plural

_VERDICTS: Mapping[DriftVerdict, tuple[Tone, Bilingual]] = {
    "stable": ("none", Bilingual("稳定", "stable")),
    "model drifted": ("plain", Bilingual("模型变了", "model drifted")),
    "judge drifted": ("plain", Bilingual("评审变了", "judge drifted")),
    "both": ("plain", Bilingual("模型和评审都变了", "both drifted")),
    "cannot tell": ("open", Bilingual("无法判断", "cannot tell")),
}
RUN_FIELDS = ("id", "plan", "checkpoint", "step", "started", "status")
_CHANGED = {
    "judge": Bilingual("评审", "judge"),
    "model": Bilingual("模型", "model"),
    "interaction": Bilingual("评审（新减旧回答）", "judge (later - earlier)"),
}
_PROBLEMS = {
    "one checkpoint": Bilingual(
        "库中只有一个检查点，没有更早的回答可比",
        "there is one checkpoint, so there are no earlier answers",
    ),
    "no judged scores": Bilingual("没有评审打的分数", "there are no scores by a judge"),
}


def judge_drift_document(report: JudgeDriftReport) -> Document:
    """Return for each judged score whether the model or the judge changed, with the measured changes."""
    is_pair = report.before is not None and report.before.id != report.after.id
    names = run_labels((report.before, report.after) if report.before and is_pair else (report.after,))
    course = " → ".join(names)
    if report.compared is not None:
        course += f" ({' → '.join(report.compared)})"
    return Document(
        kind="judge-drift",
        title=Bilingual(f"评审漂移：{course}", f"judge drift: {course}"),
        blocks=tuple(_blocks(report, names)),
        record=_record(report),
    )


def _blocks(report: JudgeDriftReport, names: Sequence[str]) -> Iterator[Block]:
    if report.problem:
        yield Sentence(text=_PROBLEMS[report.problem])
        return
    bullets = tuple(map(_verdict, report.scores))
    yield Decision(title=_title(report.scores), bullets=bullets, judges=trust_verdicts(report.judges))
    yield from verdicts_on_rewards(report.rewards)
    yield from (Sentence(text=text, is_note=True) for text in _heading_notes(report, names))
    measured = [score for score in report.scores if score.judge is not None or score.model is not None]
    if measured:
        yield _change_table(report, measured, names)


def _title(scores: Sequence[JudgedScoreDrift]) -> Bilingual:
    """Return the verdicts, each with the scores that have it."""
    named = {
        word: names_text([_name(score) for score in scores if score.verdict == verdict])
        for verdict, (_, word) in _VERDICTS.items()
    }
    parts = [COLON.join([word, names]) for word, names in named.items() if names.en]
    return SENTENCE.format(SEMICOLON.join(parts).capitalized)


def _name(score: JudgedScoreDrift) -> Bilingual:
    """Return the name of a score in words, or its address, or what tells a panel member from the others."""
    name = score_names([score.address])[score.address]
    return name.words if name.is_known and not score.label else both(score_name(score))


def _heading_notes(report: JudgeDriftReport, names: Sequence[str]) -> Iterator[Bilingual]:
    if report.again is not None:
        again, after = format_timestamp(report.again.started), format_timestamp(report.after.started)
        yield Bilingual(
            f"{names[0]} 的回答重新评审于 {again}，{names[1]} 的运行开始于 {after}",
            f"{names[0]}: answers judged again at {again}; {names[1]}: run began at {after}",
        )
        if report.again.status != "finished":
            yield Bilingual(
                "重新评审尚未完成，同一命令可以继续",
                "judging again is not finished; the same command resumes it",
            )
    if report.crossed is not None:
        crossed = format_timestamp(report.crossed.started)
        yield Bilingual(
            f"{names[1]} 的回答由原来的评审评审于 {crossed}",
            f"{names[1]}: answers judged by the old judge at {crossed}",
        )
        if report.crossed.status != "finished":
            yield Bilingual(
                "原来的评审尚未评完，同一命令可以继续",
                "the old judge is not finished; the same command resumes it",
            )
    if report.left_out_prompts:
        yield cells.left_out_prompts_text(report.left_out_prompts)
    if report.unchecked:
        unchecked = ", ".join(report.unchecked)
        yield Bilingual(
            f"由旧版本运行，评审的设置是否变过无从得知：{unchecked}",
            f"run by an older version, so whether the judge's settings changed is not known: {unchecked}",
        )


def _verdict(score: JudgedScoreDrift) -> Verdict:
    tone, sentence = _VERDICTS[score.verdict]
    subject, reasons = _name(score), evidence(score)
    if score.family == "member":
        subject = Bilingual("评审团成员 {}", "panel member {}").format(subject)
    if score.reason:
        sentence = COLON.join([sentence, reasons.pop(0)])
    return Verdict(tone=tone, subject=subject, sentence=sentence, evidence=tuple(reasons))


def _change_table(
    report: JudgeDriftReport, scores: Sequence[JudgedScoreDrift], names: Sequence[str]
) -> Table:
    return Table(
        key="changes",
        columns=(
            cells.SCORE,
            cells.left("changed", "变化", "change of"),
            cells.right("before", "之前", "before", is_detail=True),
            cells.right("after", "之后", "after", is_detail=True),
            cells.right("difference", "相差 [95%]", "change [95%]"),
            cells.P,
            cells.right("detectable", "可检出的最小变化", "smallest detectable", is_detail=True),
            cells.right("units", "题数", "prompts"),
            cells.left("verdict", "结论", "verdict", is_detail=True),
        ),
        rows=tuple(row for score in scores for row in _change_rows(score)),
        notes=tuple(_change_notes(report, scores, names)),
    )


def _change_notes(
    report: JudgeDriftReport, scores: Sequence[JudgedScoreDrift], names: Sequence[str]
) -> Iterator[Bilingual]:
    before, after = names[0], names[-1]
    if any(score.interaction is not None for score in scores):
        yield Bilingual(
            f"模型的变化：{after} 减去 {before}，都由原来的评审打分；评审的变化：{before} 的回答，"
            f"新评分减去原来的评分；再看 {after} 的回答上的变化减去前者",
            f"change of the model: {after} minus {before}, both by the old judge; change of the judge: "
            f"new minus old verdicts on the answers of {before}, then on those of {after} minus that",
        )
    if report.compared is not None and report.before == report.after:
        old, new = report.compared
        yield Bilingual(
            f"评审的变化：{before} 的同样回答，{new} 的评分减去 {old} 的评分",
            f"change of the judge: the same answers of {before}, {new} minus {old}",
        )
    elif any(score.arm == "re-judged" and score.interaction is None for score in scores):
        yield Bilingual(
            f"评审的变化：{before} 的同样回答，重新评审减去当时；模型的变化：{after} 减去重新评审的 "
            f"{before}，都由现在的评审打分",
            f"change of the judge: the same answers of {before}, judged again minus then; change of the "
            f"model: {after} minus {before} judged again, both by the present judge",
        )
    if any(score.arm == "anchors" for score in scores):
        yield Bilingual(
            "评审的变化：两次运行的同样锚点；模型的变化：得分的变化减去评审的变化",
            "change of the judge: on the same anchors in both runs; change of the model: change of the "
            "scores minus the change of the judge",
        )
    tests = sum(
        score.model is not None and score.model.p_adjusted is not None
        for score in report.scores
        if score.family == "headline"
    )
    if tests > 1:
        yield Bilingual(f"p 按 Holm 法对 {tests} 项分数校正", f"p corrected by Holm for {tests} scores")


def _change_rows(score: JudgedScoreDrift) -> list[tuple[Cell, ...]]:
    """Return the changes of the judge and that of the model, with the means between which they lie."""
    is_rejudged = score.arm == "re-judged"
    judge = (score.then, score.again) if is_rejudged else (None, None)
    model = (score.again, score.now) if is_rejudged else (score.then, score.now)
    if score.interaction is not None:
        model = (score.then, score.crossed)
    changes = (
        ("judge", score.judge, judge),
        ("interaction", score.interaction, (None, None)),
        ("model", score.model, model),
    )
    return [_change_row(score, name, effect, means) for name, effect, means in changes if effect is not None]


def _change_row(
    score: JudgedScoreDrift, name: str, effect: Effect, means: tuple[float | None, float | None]
) -> tuple[Cell, ...]:
    (tone, verdict), means_of = _VERDICTS[score.verdict], [score.then, score.again, score.now]
    decimals = decimals_for(score.scale, means_of)
    anchors = Bilingual(f"{effect.anchors} 个锚点", plural(effect.anchors, "anchor"))
    return (
        Cell(text=_name(score), values={"": score.address, "member": score.label or None}),
        Cell(text=_CHANGED[name], values={"": name}),
        *(cells.number_cell(mean, decimals) for mean in means),
        replace(cells.difference_cell(effect.difference, effect.interval, decimals), bar=_bar(score, effect)),
        cells.p_cell(effect.p, effect.p_adjusted),
        Cell(text=_detectable_text(effect, decimals), values={"": effect.detectable}),
        Cell(
            text=str(effect.prompts) if effect.prompts else anchors,
            values={"prompts": effect.prompts, "anchors": effect.anchors, "clusters": effect.clusters},
        ),
        cells.verdict_cell(verdict, score.verdict, tone),
    )


def _bar(score: JudgedScoreDrift, effect: Effect) -> Bar:
    """Return a change beside 0, on an axis that all changes of the score share."""
    effects = [item for item in (score.judge, score.interaction, score.model) if item is not None]
    limits = cells.bar_limits(*(end for item in effects for end in (item.difference, item.interval)))
    return cells.difference_bar(effect.difference, effect.interval, score.scale, limits=limits)


def _detectable_text(effect: Effect, decimals: int) -> Text:
    """Return the smallest change that would usually be detected, or why it is not known."""
    if effect.detectable is not None:
        return number(effect.detectable, decimals)
    if effect.clusters < 2:
        return Bilingual("未知：只有一组互相独立的题目", "not known: only one independent group")
    unit = Bilingual("题", "prompt") if effect.prompts else Bilingual("锚点", "anchor")
    return Bilingual("各{}变化全部相同", "every {} changed by the same amount").format(unit)


def _record(report: JudgeDriftReport) -> dict[str, Any]:
    runs = cells.fields(report, "before", "after", "again", "repeat", "crossed")
    return {
        "schema": 1,
        **{name: run and cells.fields(run, *RUN_FIELDS) for name, run in runs.items()},
        **cells.fields(report, "problem", "alpha", "left_out_prompts", "unchecked"),
        "scores": [_score_record(score) for score in report.scores],
        "judges": trust_record(report.judges),
        **({"compared": list(report.compared)} if report.compared else {}),
        **({"rewards": list(report.rewards)} if report.rewards else {}),
    }


def _score_record(score: JudgedScoreDrift) -> dict[str, Any]:
    record = asdict(score)
    for name in ("changes", "conflicts", "old_conflicts"):
        record[name] = [change._asdict() for change in getattr(score, name)]
    return {**record, "prompts_needed": score.prompts_needed, "anchors_needed": score.anchors_needed}
