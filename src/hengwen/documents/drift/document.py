"""The document of a drift report: do checkpoints differ, and is that more than they usually move?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from hengwen.documents.blocks import (
    Block,
    Chart,
    Decision,
    Details,
    Document,
    Scores,
    Sentence,
    Text,
    Verdict,
)
from hengwen.documents.cells import fields, mean_text, reward_verdicts, score_names
from hengwen.documents.decision import DecisionWords, decision_record
from hengwen.documents.drift import words
from hengwen.documents.drift.details import drift_details
from hengwen.documents.drift.tables import BEFORE_NEWEST, TITLE, answer_tables, course, drift_line
from hengwen.documents.groups import group_records, group_verdicts
from hengwen.documents.judge_drift import judge_drift_document
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.documents.missing import empty_verdicts
from hengwen.monitoring.drift.score_drift import DriftReport, ScoreDrift
from hengwen.monitoring.judge_drift.report import JudgeDriftReport
from hengwen.stats.checkpoints import SlopeTest
from hengwen.text.language import COLON, SEMICOLON, Bilingual
from hengwen.text.numbers import plural

RECORDED = ("better", "worse", "mean undecided")
"""Verdicts of the pairs of checkpoints in the record; of many checkpoints, most pairs do not differ."""
_BARS = Bilingual(
    "竖线是在这些题目上的 95% 区间，不含题目之间的差异",
    "bars are 95% intervals on these prompts, without the differences between prompts",
)
_DECISION_NOTE = Bilingual(
    "这一判断与报告相同；两个问题的 p 还计入与基线均值的比较和此前的检验，所以更大。",
    "This decision is that of a report; the p of the two questions also counts the comparison with the mean "
    "of the baseline, and earlier looks, so it is larger.",
)


def drift_document(report: DriftReport, judge_drift: JudgeDriftReport | None = None) -> Document:
    """Return the decision, whether checkpoints differ and whether scores drift, with tests and courses."""
    tested = [score for score in report.scores if _is_tested(score)]
    blocks: list[Block] = [_first_screen(report)]
    blocks += [Sentence(text=text, is_note=True) for text in _heading_notes(report)]
    verdicts: list[Block] = [_verdict(report, score) for score in report.scores]
    verdicts += group_verdicts(report.groups, report.labels).values()
    verdicts.append(Sentence(text=_DECISION_NOTE, is_note=True))
    title = Bilingual("逐项的两个回答", "Both answers for each score")
    blocks.append(Details(title=title, blocks=tuple(verdicts), is_open=False))
    if tested:
        title = Bilingual("两个问题的检验", "Tests of both questions")
        blocks.append(Details(title=title, blocks=tuple(answer_tables(report, tested))))
    blocks += [_chart(score) for score in report.scores if len(score.means) > 1 and not report.order_problem]
    blocks += drift_details(tested)
    record = None
    if judge_drift is not None and judge_drift.is_known:
        section = judge_drift_document(replace(judge_drift, judges=(), rewards=()))
        first, *others = section.blocks
        verdicts = list(first.bullets) if isinstance(first, Decision) else [first]
        blocks.append(Details(title=section.title, blocks=(*verdicts, *others)))
        record = section.record
    return Document(kind="drift", title=_title(report), blocks=tuple(blocks), record=_record(report, record))


def _first_screen(report: DriftReport) -> Decision:
    """Return the decision of a report, the first answer, and a table with the second answer."""
    decimals = {score.address: words.mean_decimals(score) for score in report.scores}
    names = score_names(decimals, report.runs)
    lines = tuple(drift_line(report, score, names[score.address]) for score in report.scores)
    uninformative = {score.address for score in report.scores if score.differs == "too few prompts"}
    return DecisionWords(report.decision, decimals, names, uninformative=uninformative).block(
        scores=Scores(key="scores", lines=lines, title=TITLE, compared=BEFORE_NEWEST),
        further=(
            *words.first_answers(report, names),
            *words.left_out_verdicts(report, names),
            *reward_verdicts(names),
            *empty_verdicts(report.empty),
        ),
        judges=trust_verdicts(report.judges),
    )


def _is_tested(score: ScoreDrift) -> bool:
    return score.drifts not in ("one checkpoint", "missing scores", "not comparable")


def _title(report: DriftReport) -> Bilingual:
    n, plan = len(report.runs), report.newest.plan
    if n == 1:
        return COLON.join([plan, report.labels[0]])
    if report.order_problem:
        return Bilingual(f"{plan}：{n} 个检查点，先后未知", f"{plan}: {n} checkpoints in unknown order")
    course = f"{report.labels[0]} → {report.labels[-1]}"
    return Bilingual(f"{plan}：{course}，{n} 个检查点", f"{plan}: {course}, {n} checkpoints")


def _heading_notes(report: DriftReport) -> Iterator[Bilingual]:
    if report.order_problem:
        yield Bilingual(
            f"检查点先后未知（{report.order_problem}）：给每个检查点写上 step，"
            "或在同一个计划里按训练顺序列出",
            f"{report.order_problem}: give every checkpoint a step, or list them in training order in "
            "one plan",
        )
    name = report.labels[0]
    if report.pinned:
        yield Bilingual(f"基线从 {name} 起", f"the baseline begins with {name}")
    elif not report.order_problem and len(report.runs) > 1:
        yield Bilingual(
            f"基线从 {name} 起（第一个检查点；可用 hengwen runs pin 指定）",
            f"the baseline begins with {name} (the first checkpoint; choose another with: hengwen runs pin)",
        )
    if report.before_baseline:
        n = len(report.before_baseline)
        yield Bilingual(
            f"基线之前的 {n} 个检查点不参与检验",
            f"{plural(n, 'checkpoint')} before the baseline {'is' if n == 1 else 'are'} left out",
        )
    differing = [score.address for score in report.scores if _has_other_means(report, score)]
    if differing:
        listed = words.names_text(differing)
        yield Bilingual(
            f"此处的均值已按缺失的题与回答调整，与报告中的不同：{listed.zh}",
            "means here are adjusted for missing prompts and answers, so they differ from those of a "
            f"report: {listed.en}",
        )
    if report.other_scores:
        names = words.names_text(report.other_scores)
        yield Bilingual(
            f"未检验的细项（可用 --score 指定检验）：{names.zh}",
            f"not tested (test them with --score): {names.en}",
        )


def _has_other_means(report: DriftReport, score: ScoreDrift) -> bool:
    """Return whether a checkpoint has another mean than in a report, as it is printed."""
    decimals = words.mean_decimals(score)
    own = {
        item.checkpoint: item.mean
        for decided in report.decision.scores
        if decided.address == score.address
        for item in decided.standings
    }
    return any(
        mean_text(item.mean, decimals) != mean_text(own.get(item.checkpoint, item.mean), decimals)
        for item in score.means
    )


def _verdict(report: DriftReport, score: ScoreDrift) -> Verdict:
    first, second = words.differs_text(report, score), words.drifts_text(score)
    evidence: list[Text] = [words.means_text(score)] if score.means else []
    for item in score.left_out:
        text = words.left_out_text(item, words.mean_decimals(score))
        evidence.append(COLON.join([Bilingual("略去", "left out"), text]))
    if score.drifts == "one checkpoint":
        evidence.append(
            Bilingual(
                "至少需要两个检查点；请先评测下一个检查点",
                "two checkpoints are needed; run the next one first",
            )
        )
    elif _is_tested(score):
        evidence += [*words.first_reasons(report, score), *words.second_reasons(report, score)]
    sentence = SEMICOLON.join(dict.fromkeys([first, second]))
    return Verdict(
        tone=words.tone_of(score), subject=score.address, sentence=sentence, evidence=tuple(evidence)
    )


def _chart(score: ScoreDrift) -> Chart:
    description = [Bilingual("各检查点的均值", "means of the checkpoints")]
    if score.steps is not None and score.steps.mean_error is not None:
        description.append(_BARS)
    return Chart(
        key=score.address,
        title=score.address,
        series=(course(score),),
        description=SEMICOLON.join(description),
        limits=None if score.scale is None else (score.scale.low, score.scale.high),
    )


def _record(report: DriftReport, judge_drift: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "schema": 1,
        "plan": report.newest.plan,
        "runs": [
            {**fields(run, "id", "checkpoint", "step"), "label": label}
            for run, label in zip(report.runs, report.labels, strict=True)
        ],
        "baseline": report.baseline.id,
        "pinned": report.pinned,
        "newest": report.newest.id,
        **fields(report, "before_baseline", "other_prompts", "unchecked", "order_problem", "alpha"),
        "looks": asdict(report.looks),
        "decision": decision_record(report.decision),
        "families": {
            "differ": {"correction": "step-down", "tests": report.differ_tests},
            "drift": {"correction": "holm", "tests": report.drift_tests},
        },
        "scores": [_score_record(score) for score in report.scores],
        "other_scores": report.other_scores,
        "groups": group_records(report.groups, [run.id for run in report.runs]),
        "judges": trust_record(report.judges),
        "empty_answers": [item._asdict() for item in report.empty],
        "judge_drift": judge_drift,
    }


def _score_record(score: ScoreDrift) -> dict[str, Any]:
    record = asdict(score)
    record["comparisons"] = [asdict(item) for item in score.comparisons if item.verdict in RECORDED]
    if score.course is not None:
        del record["course"]["reason"]  # a course has every metric
    if score.difference is not None:
        record["difference"]["interval"]["bounds"] = score.difference.interval.bounds
    for name in ("independent", "slope"):
        test: SlopeTest | None = getattr(score.steps, name, None)
        if test is not None:
            record["steps"][name] |= fields(test, "total", "total_interval", "signal_to_noise")
    return record
