"""The comparison of two runs as a document, and the prompts on which they differ most, with both answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from hengwen.documents import cells
from hengwen.documents.answers.pairs import WorsePrompts
from hengwen.documents.answers.sources import StoredAnswers
from hengwen.documents.blocks import (
    Block,
    Bounds,
    Cell,
    Column,
    Decision,
    Details,
    Document,
    ScoreLine,
    Scores,
    Sentence,
    Table,
    Text,
    Tone,
    Verdict,
)
from hengwen.documents.cells import ScoreName, reward_verdicts, score_names, without_interval
from hengwen.documents.compare.lines import score_decimals, score_line, verdict_text
from hengwen.documents.decision import decision_record
from hengwen.documents.groups import group_records
from hengwen.documents.judges.trust import trust_record, trust_verdicts
from hengwen.documents.missing import empty_verdicts
from hengwen.documents.standings import and_list
from hengwen.monitoring.run_comparison import RunComparison, ScoreComparison
from hengwen.monitoring.tested_scores import Family
from hengwen.results.comparability import run_labels
from hengwen.results.comparisons import CHANGES
from hengwen.results.score_summaries import task_scores
from hengwen.stats.mean_interval import MIN_CLUSTERS
from hengwen.store import Store
from hengwen.text.language import COLON, COMMA, LIST_COMMA, NO_TEXT, SPACE, Bilingual, both
from hengwen.text.numbers import NOTHING, plural

_NO_EQUAL_LENGTH: Mapping[str, Bilingual] = {
    "few prompts": Bilingual(
        f"独立的题目不足 {MIN_CLUSTERS} 个，不估计", f"not estimated below {MIN_CLUSTERS} independent prompts"
    ),
    "same ratio": Bilingual(
        "各题长度之比相同，无法估计", "not estimated, all lengths changed by the same ratio"
    ),
}


def effect_table(comparison: RunComparison, scores: list[ScoreComparison]) -> Table:
    """Return effect sizes, detectable differences, and differences at equal length."""
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
    effects, equal, fine = score.effects, score.equal_length, score_decimals(score)
    assert effects is not None  # a score with a test has effect sizes
    return (
        Cell(text=score.address),
        cells.number_cell(score.detectable, fine),
        Cell(
            text=f"{effects.wins}/{effects.losses}/{effects.ties}",
            values=cells.fields(effects, "wins", "losses", "ties"),
        ),
        cells.signed_cell(effects.cliffs_delta, 2),
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
    cell = cells.difference_cell(
        weighted.difference, weighted.interval, score_decimals(score), {"p": weighted.p}
    )
    p = SPACE.join(["p", cells.p_cell(weighted.p).text])
    return Cell(text=COMMA.join([cell.text, p]), values=cell.values)


_CORRECTIONS = {"headline": "maxT", "breakdown": "BH"}
_OTHER_FAMILY = Bilingual(
    "hengwen report 对所有检查点两两检验并一起校正，这一对的 p 在那里通常更大，可能写“未见差异”；"
    "这里较小的 p，只在看结果之前就选定这一对时才算数",
    "hengwen report tests and corrects all pairs of its checkpoints together: the p of this pair is usually "
    "larger there, and no difference may be seen; the smaller p here counts if the pair was chosen before "
    "looking",
)
_VERBS: Mapping[Tone, Bilingual] = {
    "worse": Bilingual("变差", "Worse"),
    "better": Bilingual("变好", "Better"),
}
MAX_CHANGES = 3
"""Maximum number of changed scores that the first sentences name."""
MAX_NAMES = 4
"""Maximum number of scores that a sentence names."""
_FAMILIES = {
    "headline": Bilingual("主要分数", "headline scores"),
    "breakdown": Bilingual("细项", "breakdowns"),
}


def compare_document(comparison: RunComparison, changes: Sequence[Block] = ()) -> Document:
    """Return the verdict on each headline score, with the prompts that changed most (``changed_prompts``)."""
    before, after = run_labels((comparison.before, comparison.after))
    groups = {item.address: item for item in comparison.groups}
    names = score_names((score.address for score in comparison.scores), (comparison.before, comparison.after))

    def line_of(score: ScoreComparison) -> ScoreLine:
        return score_line(comparison, score, names[score.address], groups.get(score.address))

    lines = [line_of(score) for score in comparison.headline]
    prompts = [item.test.prompts for item in comparison.headline if item.test]
    blocks: list[Block] = [
        Decision(
            title=_title(lines, names, before, after),
            bullets=(
                *_bullets(comparison, lines, names),
                *reward_verdicts(names),
                *empty_verdicts(comparison.empty),
            ),
            scores=Scores(
                key="scores",
                lines=tuple(lines),
                compared=f"{before} → {after}",
                legend=tuple(_legend(comparison, "headline")),
            ),
            judges=trust_verdicts(comparison.judges),
        )
    ]
    if comparison.left_out_prompts:
        blocks.append(Sentence(text=cells.left_out_prompts_text(comparison.left_out_prompts), is_note=True))
    if changes:
        title = Bilingual("逐题的变化", "Changes by prompt")
        blocks.append(Details(title=title, blocks=tuple(changes), key="changes"))
    if comparison.breakdown:
        blocks.append(
            _breakdown(comparison, [line_of(score) for score in comparison.breakdown], f"{before} → {after}")
        )
    tested = [score for score in comparison.scores if score.test is not None]
    if tested:
        title = Bilingual("效应量与可检出的差别", "Effect sizes and detectable differences")
        blocks.append(Details(title=title, blocks=(effect_table(comparison, tested),), is_open=False))
    return Document(
        kind="compare",
        title=Bilingual(f"比较 {before} → {after}", f"compare {before} → {after}"),
        notes=(_common_prompts(prompts),) if prompts else (),
        blocks=tuple(blocks),
        record=_record(comparison),
    )


def _common_prompts(prompts: Sequence[int]) -> Bilingual:
    """Return how many prompts the tests of the scores compare."""
    low, high = min(prompts), max(prompts)
    if low == high:
        return Bilingual(f"共同 {high} 题", plural(high, "common prompt"))
    return Bilingual(f"每项分数共同 {low}–{high} 题", f"{low}–{high} common prompts a score")


def _title(lines: Sequence[ScoreLine], names: Mapping[str, ScoreName], before: str, after: str) -> Bilingual:
    """Return in one sentence in which scores the later run is worse and better."""
    worse, better, undecided = (
        _listed([line for line in lines if line.tone == tone], names) for tone in ("worse", "better", "open")
    )
    if worse.en and better.en:
        return Bilingual(
            f"{after} 比 {before} 差（{worse.zh}），也有更好的（{better.zh}）。",
            f"{after} is worse than {before} in {worse.en}, but better in {better.en}.",
        )
    if worse.en or better.en:
        zh, en, listed = ("差", "worse", worse) if worse.en else ("好", "better", better)
        return Bilingual(
            f"{after} 比 {before} {zh}：{listed.zh}。", f"{after} is {en} than {before} in {listed.en}."
        )
    if undecided.en:
        return Bilingual(
            f"{before} 与 {after} 之间未定：{undecided.zh}。",
            f"Undecided between {before} and {after}: {undecided.en}.",
        )
    if any(line.tone == "none" for line in lines):
        return Bilingual(
            f"{before} 与 {after} 之间未见差异。", f"No difference seen between {before} and {after}."
        )
    return Bilingual(f"{before} 与 {after} 无法比较。", f"{before} and {after} cannot be compared.")


def _listed(lines: Sequence[ScoreLine], names: Mapping[str, ScoreName]) -> Bilingual:
    """Return the names of scores as a list, of many the first and how many more there are."""
    words = [names[line.address].words for line in lines]
    more = len(lines) - MAX_NAMES
    if more > 0:
        rest = Bilingual(f" 等 {len(lines)} 项", f" and {more} more")
        return NO_TEXT.join([LIST_COMMA.join(words[:MAX_NAMES]), rest])
    return and_list(words)


def _bullets(
    comparison: RunComparison, lines: Sequence[ScoreLine], names: Mapping[str, ScoreName]
) -> Iterator[Verdict]:
    """Yield what changed most, then in which scores nothing is seen or nothing can be told."""
    changed = sorted((line for line in lines if line.tone in _VERBS), key=lambda line: line.tone != "worse")
    for line in changed[:MAX_CHANGES]:
        change, p, family = both(line.difference), both(line.p), both(line.family)
        prompts, name = both(line.prompts), names[line.address].words
        yield Verdict(
            tone=line.tone,
            subject=_VERBS[line.tone],
            sentence=Bilingual(
                f"{name.zh} {line.before} → {line.after}，{without_interval(change.zh)}"
                f"（{prompts.zh}；{p.zh}，{family.zh}）",
                f"{name.en} {line.before} → {line.after}, {without_interval(change.en)} "
                f"({prompts.en}; {p.en}, {family.en})",
            ),
        )
    others: dict[tuple[Tone, Bilingual], list[ScoreLine]] = {}
    for score, line in zip(comparison.headline, lines, strict=True):
        if line.tone not in _VERBS:
            others.setdefault((line.tone, verdict_text(score, line.word)), []).append(line)
    for (tone, word), same in sorted(others.items(), key=lambda item: item[0][0] != "none"):
        yield Verdict(tone=tone, subject=word.capitalized, sentence=_listed(same, names))


def _breakdown(comparison: RunComparison, lines: Sequence[ScoreLine], compared: str) -> Details:
    """Return the other scores, folded; those of one scale share an axis, so that their bars compare."""
    ends: dict[Text, list[Bounds]] = {}
    for line in lines:
        if line.bar is not None:
            ends.setdefault(line.scale, []).append(line.bar.limits)
    shared = [
        replace(line, bar=replace(line.bar, limits=cells.bar_limits(*ends[line.scale]))) if line.bar else line
        for line in lines
    ]
    n = len(lines)
    return Details(
        title=Bilingual(f"细项 · {n}", f"Breakdowns · {n}"),
        blocks=(
            Scores(
                key="breakdowns",
                lines=tuple(shared),
                compared=compared,
                legend=tuple(_legend(comparison, "breakdown")),
            ),
            *(
                Verdict(tone=line.tone, subject=line.address, sentence=line.word, evidence=line.details)
                for line in lines
                if line.tone in ("open", "plain")
            ),
        ),
        is_open=False,
    )


def _legend(comparison: RunComparison, family: Family) -> Iterator[Bilingual]:
    role, correction, tests = _FAMILIES[family], _CORRECTIONS[family], comparison.tests(family)
    if family == "headline":
        yield Bilingual(
            "横线在 0 左边：变差。粗线：只看这一项的 95% 区间；按全部主要分数校正后更长的部分，画细线。"
            "线碰到 0，就不称有差异。",
            "Line left of 0: worse. Thick line: 95% interval of this score alone; thin, where longer: "
            "corrected for all headline scores. Where the line touches 0, no difference is claimed.",
        )
    corrected = Bilingual(
        f"共 {tests} 次检验，p 按 {correction} 校正。",
        f"{plural(tests, 'test')}, p corrected by {correction}.",
    )
    yield COLON.join([role, corrected])
    if family == "headline" and any(item.outcome in CHANGES for item in comparison.headline):
        yield _OTHER_FAMILY


def _record(comparison: RunComparison) -> dict[str, Any]:
    return {
        "schema": 1,
        "before": cells.run_record(comparison.before),
        "after": cells.run_record(comparison.after),
        **cells.fields(comparison, "alpha", "weights", "only_common", "left_out_prompts", "unchecked"),
        "families": {
            "headline": {"correction": "step-down", "tests": comparison.tests("headline")},
            "breakdown": {"correction": "benjamini-hochberg", "tests": comparison.tests("breakdown")},
        },
        "scores": [_score_record(score) for score in comparison.scores],
        "decision": decision_record(comparison.decision),
        "groups": group_records(comparison.groups, (comparison.before.id, comparison.after.id)),
        "judges": trust_record(comparison.judges),
        "empty_answers": [item._asdict() for item in comparison.empty],
    }


def _score_record(score: ScoreComparison) -> dict[str, Any]:
    record = asdict(score)
    if score.interval is not None:
        record["interval"]["bounds"] = score.interval.bounds
    return record


def changed_prompts(store: Store, comparison: RunComparison) -> tuple[Block, ...]:
    """Return, for each headline score, the prompts on which it changed most; nothing if prompts differ."""
    if comparison.left_out_prompts:  # other prompts than the compared ones would count
        return ()
    runs = (comparison.before, comparison.after)
    before, after = run_labels(runs)
    table = store.table(runs)
    prompts = WorsePrompts(StoredAnswers(store, runs, table), table, has_rows=False)
    compared = {score.address: score for score in comparison.headline}
    return tuple(
        block
        for task in task_scores(runs, table)
        for score in task.scores
        if score.address in compared and compared[score.address].test is not None
        for block in prompts.blocks(
            score,
            (runs[0].id, runs[1].id),
            (before, after),
            task.scores,
            has_fallen=compared[score.address].outcome == "worse",
        )
    )
