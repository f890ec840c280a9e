"""The comparison of two runs as a document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hengwen.documents import cells
from hengwen.documents.blocks import Cell, Column, Details, Document, Sentence, Table, Verdict
from hengwen.documents.groups import group_records, group_verdicts
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.documents.missing import least_text, missing_text
from hengwen.results.comparisons import CHANGES, min_clusters
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.run_order import run_labels
from hengwen.stats.equal_length import MIN_CLUSTERS
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, decimals_for, plural, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.documents.blocks import Block, Tone
    from hengwen.monitoring.compare.run_comparison import RunComparison, ScoreComparison
    from hengwen.monitoring.tested_scores import Family

_OUTCOMES: Mapping[str, tuple[Tone, Bilingual]] = {
    "better": ("better", Bilingual("更好", "better")),
    "worse": ("worse", Bilingual("更差", "worse")),
    "mean undecided": ("open", Bilingual("均值未定", "the mean is undecided")),
    "no difference seen": ("none", Bilingual("未见差别", "no difference seen")),
    "too few": ("open", Bilingual("题目太少", "too few prompts")),
    "missing scores": ("open", Bilingual("得分缺失过多，不下结论", "too many missing scores for a verdict")),
    "not comparable": ("plain", Bilingual("无法比较", "not comparable")),
}
_PROBLEMS: Mapping[str, Bilingual] = {
    "group score": Bilingual(
        "整组回答只有一个数值，没有逐题的值", "one value for a group of answers, none for each prompt"
    ),
    "not scored": Bilingual(
        "其中一次运行没有任何回答得到这项分数", "no answer of one of the runs has this score"
    ),
    "no common prompts": Bilingual("没有双方都有得分的题目", "no prompt has a score in both runs"),
}
_NO_EQUAL_LENGTH: Mapping[str, Bilingual] = {
    "few prompts": Bilingual(
        f"独立的题目不足 {MIN_CLUSTERS} 个，不估计", f"not estimated below {MIN_CLUSTERS} independent prompts"
    ),
    "same ratio": Bilingual(
        "各题长度之比相同，无法估计", "not estimated, all lengths changed by the same ratio"
    ),
}
_CORRECTIONS = {"headline": "maxT", "breakdown": "BH"}
_OTHER_FAMILY = Bilingual(
    "hengwen report 对所有检查点两两检验并一起校正，这一对的 p 在那里通常更大，可能写“未见差别”；"
    "这里较小的 p，只在看结果之前就选定这一对时才算数",
    "hengwen report tests and corrects all pairs of its checkpoints together: the p of this pair is usually "
    "larger there, and no difference may be seen; the smaller p here counts if the pair was chosen before "
    "looking",
)
_FAMILIES = {
    "headline": Bilingual("主要分数", "headline scores"),
    "breakdown": Bilingual("细项", "breakdowns"),
}


def compare_document(comparison: RunComparison) -> Document:
    """Return the verdict on each headline score, the differences of all scores, and their effect sizes."""
    before, after = run_labels((comparison.before, comparison.after))
    blocks: list[Block] = []
    if comparison.left_out_prompts:
        blocks.append(Sentence(text=cells.left_out_prompts_text(comparison.left_out_prompts), is_note=True))
    groups = group_verdicts(comparison.groups, (before, after))
    blocks += [groups.get(score.address) or _verdict(comparison, score) for score in comparison.headline]
    blocks += trust_verdicts(comparison.judges)
    blocks.append(_score_table(comparison, before, after))
    unanswered = [
        verdict
        for score in comparison.breakdown
        if score.address not in groups and (verdict := _verdict(comparison, score)).tone in ("open", "plain")
    ]
    if unanswered:
        title = Bilingual("没有结论的细项", "breakdowns without an answer")
        blocks.append(Details(title=title, blocks=tuple(unanswered), is_open=False))
    tested = [score for score in comparison.scores if score.test is not None]
    if tested:
        title = Bilingual("效应量与可检出的差别", "effect sizes and detectable differences")
        blocks.append(Details(title=title, blocks=(_effect_table(comparison, tested),), is_open=False))
    return Document(
        kind="compare", title=f"{before} → {after}", blocks=tuple(blocks), record=_record(comparison)
    )


def _verdict(comparison: RunComparison, score: ScoreComparison) -> Verdict:
    tone, sentence = _OUTCOMES[score.outcome]
    return Verdict(
        tone=tone, subject=score.address, sentence=sentence, evidence=tuple(_reasons(comparison, score))
    )


def _reasons(comparison: RunComparison, score: ScoreComparison) -> list[Bilingual]:
    """Return what limits a verdict: why there is none, or which difference would have been seen."""
    if score.test is None or score.means is None:
        return [_PROBLEMS.get(score.problem, Bilingual(f"评分设置不同：{score.detail}", score.detail))]
    if score.outcome == "missing scores":
        labels = run_labels((comparison.before, comparison.after))
        decimals = decimals_for(score.scale, score.means)
        rows = zip(labels, score.coverage, score.answer_coverage, score.bounds, strict=True)
        texts = [missing_text(*row, decimals) for row in rows if min(row[1:3]) < MIN_COVERAGE]
        return [*texts, least_text()]
    if score.outcome == "mean undecided":
        zh, en = ("高", "higher") if score.test.difference > 0 else ("低", "lower")
        return [
            Bilingual(
                f"多数题{zh}了，但差别的 95% 区间含 0：没见过的题可能相反；需要更多题目",
                f"most prompts are {en}, but the 95 % interval of the difference contains 0: unseen prompts "
                "may differ the other way; more prompts are needed",
            )
        ]
    if score.outcome == "too few":
        return [_too_few(comparison, score, score.test.clusters)]
    if score.outcome == "no difference seen":
        return [
            cells.detectable_text(score.detectable, _fine(score), score.test.clusters, score.test.prompts)
        ]
    return []


def _too_few(comparison: RunComparison, score: ScoreComparison, clusters: int) -> Bilingual:
    needed = min_clusters(max(1, comparison.tests("headline")) if score.family == "headline" else 1)
    if clusters < needed or score.effects is None:
        return cells.too_few_text(needed)
    changed = score.effects.wins + score.effects.losses
    prompts = changed + score.effects.ties
    return Bilingual(
        f"{prompts} 题中只有 {changed} 题得分不同，即使方向全部一致也看不出差别",
        f"only {changed} of {prompts} prompts have another score: too few to tell, even if all had changed "
        "in one direction",
    )


def _score_table(comparison: RunComparison, before: str, after: str) -> Table:
    return Table(
        key="scores",
        columns=(
            cells.SCORE,
            cells.right("before", before, before),
            cells.right("after", after, after),
            cells.right("difference", "相差 [95% 区间]", "difference [95% interval]"),
            cells.P,
            cells.PROMPTS,
            Column(key="verdict", head=Bilingual("结论", "verdict")),
        ),
        rows=tuple(_score_row(score) for score in comparison.scores),
        notes=tuple(
            _family_text(comparison, family)
            for family in ("headline", "breakdown")
            if any(score.family == family for score in comparison.scores)
        )
        + tuple([_OTHER_FAMILY] if any(item.outcome in CHANGES for item in comparison.headline) else []),
    )


def _score_row(score: ScoreComparison) -> tuple[Cell, ...]:
    tone, outcome = _OUTCOMES[score.outcome]
    address = Cell(text=score.address, values={"": score.address, "family": score.family})
    verdict = cells.verdict_cell(outcome, score.outcome, tone)
    if score.test is None or score.means is None:
        absent = cells.number_cell(None, 0)
        return (
            address,
            absent,
            absent,
            cells.NO_DIFFERENCE,
            cells.p_cell(None),
            absent,
            verdict,
        )
    decimals, bounds = (
        decimals_for(score.scale, score.means),
        score.interval.bounds if score.interval else None,
    )
    return (
        address,
        *(cells.number_cell(mean, decimals) for mean in score.means),
        cells.difference_cell(score.test.difference, bounds, _fine(score)),
        cells.p_cell(score.test.p, score.p_adjusted, correction=_CORRECTIONS[score.family]),
        cells.prompts_cell(score.test.prompts, score.test.clusters),
        verdict,
    )


def _family_text(comparison: RunComparison, family: Family) -> Bilingual:
    role, correction, tests = _FAMILIES[family], _CORRECTIONS[family], comparison.tests(family)
    return Bilingual(
        f"{role.zh}：共 {tests} 次检验，p 按 {correction} 校正",
        f"{role.en}: {plural(tests, 'test')}, p corrected by {correction}",
    )


def _effect_table(comparison: RunComparison, scores: list[ScoreComparison]) -> Table:
    rows = [_effect_row(score) for score in scores]
    columns: tuple[Column, ...] = (
        cells.SCORE,
        cells.right("detectable", "可检出的最小差别", "smallest detectable difference"),
        cells.right("prompts", "胜/负/平", "wins/losses/ties"),
        cells.right("cliffs_delta", "Cliff's delta", "Cliff's delta"),
        cells.right("p_greater", "P(B>A)", "P(B>A)"),
        cells.right("equal_length", "长度相等时相差", "difference at equal length"),
        cells.right("length_ratio", "长度之比", "length ratio"),
        cells.right("mcnemar_p", "McNemar p（未校正）", "McNemar's p (not corrected)"),
        cells.right("subsampled", "各取相同次数的题", "prompts cut to equal repeats"),
    )
    if comparison.weights == "precision":
        columns += (
            cells.right("weighted", "按精度加权（另一个估计量）", "weighted by precision (another estimand)"),
        )
        rows = [(*row, _weighted_cell(score)) for row, score in zip(rows, scores, strict=True)]
    is_used = [any(row[index].text != NOTHING for row in rows) for index in range(len(columns))]
    return Table(
        key="effects",
        columns=tuple(column for column, used in zip(columns, is_used, strict=True) if used),
        rows=tuple(tuple(cell for cell, used in zip(row, is_used, strict=True) if used) for row in rows),
    )


def _effect_row(score: ScoreComparison) -> tuple[Cell, ...]:
    effects, equal, fine = score.effects, score.equal_length, _fine(score)
    assert effects is not None  # a score with a test has effect sizes
    return (
        Cell(text=score.address),
        cells.number_cell(score.detectable, fine),
        Cell(
            text=f"{effects.wins}/{effects.losses}/{effects.ties}",
            values={"wins": effects.wins, "losses": effects.losses, "ties": effects.ties},
        ),
        Cell(text=signed(effects.cliffs_delta, 2), values={"": effects.cliffs_delta}),
        cells.number_cell(effects.p_greater, 2),
        _equal_length_cell(score, fine),
        cells.number_cell(equal.length_ratio if equal else None, 2),
        cells.plain_p_cell(score.mcnemar_p),
        Cell(text=str(score.subsampled) if score.subsampled else NOTHING, values={"": score.subsampled}),
    )


def _equal_length_cell(score: ScoreComparison, decimals: int) -> Cell:
    equal = score.equal_length
    if equal is None:
        return cells.NO_DIFFERENCE
    if equal.reason:
        return Cell(text=_NO_EQUAL_LENGTH[equal.reason], values=cells.NO_DIFFERENCE.values)
    return cells.difference_cell(equal.difference, equal.interval, decimals)


def _weighted_cell(score: ScoreComparison) -> Cell:
    weighted = score.weighted
    if weighted is None:
        text = Bilingual(
            "各题没有可取平均的多次回答，无法加权", "no weights: prompts have no repeats to average"
        )
        return Cell(text=text, values={"": None, "low": None, "high": None, "p": None})
    cell = cells.difference_cell(weighted.difference, weighted.interval, _fine(score), {"p": weighted.p})
    p = cells.p_cell(weighted.p).text
    assert isinstance(p, Bilingual)
    return Cell(text=Bilingual(f"{cell.text}，p {p.zh}", f"{cell.text}, p {p.en}"), values=cell.values)


def _fine(score: ScoreComparison) -> int:
    return max(cells.MIN_DECIMALS, decimals_for(score.scale, score.means or ()))


def _record(comparison: RunComparison) -> dict[str, Any]:
    return {
        "schema": 1,
        "before": cells.run_record(comparison.before),
        "after": cells.run_record(comparison.after),
        "alpha": comparison.alpha,
        "weights": comparison.weights,
        "only_common": comparison.only_common,
        "left_out_prompts": comparison.left_out_prompts,
        "unchecked": comparison.unchecked,
        "families": {
            "headline": {"correction": "step-down", "tests": comparison.tests("headline")},
            "breakdown": {"correction": "benjamini-hochberg", "tests": comparison.tests("breakdown")},
        },
        "scores": [_score_record(score) for score in comparison.scores],
        "groups": group_records(comparison.groups, (comparison.before.id, comparison.after.id)),
        "judges": trust_record(comparison.judges),
    }


def _score_record(score: ScoreComparison) -> dict[str, Any]:
    record = asdict(score)
    if score.interval is not None:
        record["interval"]["bounds"] = score.interval.bounds
    return record
