"""Tables that describe the scores of a drift report, without affecting the answers."""

from __future__ import annotations

from collections.abc import Sequence

from hengwen.documents import cells
from hengwen.documents.blocks import Block, Cell, Column, Details, Sentence, Table, Text
from hengwen.documents.drift import words
from hengwen.monitoring.drift.score_drift import MIN_MANN_KENDALL, HumanAgreement, ScoreDrift
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS, SequenceMetric
from hengwen.relevance_metrics.trajectory import MIN_WINDOWS, Trajectory
from hengwen.stats.checkpoints import MIN_PETTITT
from hengwen.text.language import COLON, COMMA, NOTED, Bilingual
from hengwen.text.numbers import NOTHING, number, p_text, percent, plural, signed

_NEEDS = Bilingual("需要 {} 个检查点", "needs {} checkpoints")
_NOT_APART = Bilingual(
    "没有多次回答时，“各题变化不同”也含多次回答之间的差别，两者无法分开",
    "without repeats, prompts that change differently and answers that differ are not known apart",
)
_SOURCES = (
    ("prompt", Bilingual("题目", "prompts")),
    ("checkpoint", Bilingual("检查点", "checkpoints")),
    ("interaction", Bilingual("各题变化不同", "prompts that change differently")),
    ("repeat", Bilingual("同题多次回答", "answers to one prompt")),
    ("judge", Bilingual("同一回答多次评审", "verdicts on one answer")),
)


def drift_details(scores: Sequence[ScoreDrift]) -> list[Block]:
    """Return what describes the tested scores without affecting the answers, in closed details."""
    details = (
        (Bilingual("可检出的差别与其他检验", "detectable differences and further tests"), _further(scores)),
        (Bilingual("均值的次序", "order of the means"), _courses(scores)),
        (Bilingual("方差来源", "variance by source"), _variances(scores)),
        (Bilingual("逐题变化", "changes of prompts"), _prompts(scores)),
        (Bilingual("人的排序", "human rankings"), _humans(scores)),
    )
    return [Details(title=title, blocks=blocks, is_open=False) for title, blocks in details if blocks]


def _table(
    key: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *notes: Text
) -> tuple[Block, ...]:
    if not rows:
        return ()
    return (Table(key=key, columns=(cells.SCORE, *columns), rows=tuple(map(tuple, rows)), notes=notes),)


def _further(scores: Sequence[ScoreDrift]) -> tuple[Block, ...]:
    columns = (
        cells.right("detectable", "可检出的最小差别", "smallest detectable difference"),
        cells.right("prompts", "变好/变差/持平的题", "prompts better/worse/equal"),
        cells.right("subsampled", "各取相同次数的题", "prompts cut to equally many answers"),
        cells.right("jump", "最后一步 [95% 区间]", "last step [95% interval]"),
        cells.right("signal_to_noise", "信噪比", "S/N"),
        cells.right("correlation", "相邻检查点的相关", "correlation of neighbours"),
        cells.right("trend_detectable", "可检出的最小趋势", "smallest detectable trend"),
        cells.right("newest_detectable", "可检出的最新变化", "smallest detectable newest change"),
        cells.right("scatter", "围绕趋势线的波动", "scatter around the line"),
        cells.right("mann_kendall", "单调趋势（Mann-Kendall）", "monotone trend (Mann-Kendall)"),
        cells.right("change_point", "变点（Pettitt）", "change point (Pettitt)"),
    )
    note = Bilingual(
        "Mann-Kendall 与 Pettitt 仅供参考（p 未校正，不影响结论）",
        "Mann-Kendall and Pettitt are for information (p not corrected, do not affect the answer)",
    )
    ratio = Bilingual(
        "信噪比：趋势除以各均值围绕趋势线的波动",
        "S/N: the trend divided by the scatter of the means around the line",
    )
    return _table("further", columns, [_further_row(score) for score in scores], note, ratio)


def _further_row(score: ScoreDrift) -> tuple[Cell, ...]:
    fine, difference, steps = words.fine_decimals(score), score.difference, score.steps
    slope = steps.independent if steps else None
    jump = steps.jump if steps else None
    correlation = steps.slope.correlation if steps and steps.slope else None
    effects = difference and difference.effects
    counts = (effects.wins, effects.losses, effects.ties) if effects else (None, None, None)
    subsampled = difference.subsampled if difference else 0
    return (
        Cell(text=score.address),
        cells.number_cell(difference.detectable if difference else None, fine),
        Cell(
            text="/".join(map(str, counts)) if effects else NOTHING,
            values=dict(zip(("better", "worse", "equal"), counts, strict=True)),
        ),
        Cell(text=str(subsampled) if subsampled else NOTHING, values={"": subsampled}),
        cells.difference_cell(jump.difference, jump.interval, fine) if jump else cells.NO_DIFFERENCE,
        cells.number_cell(slope.signal_to_noise if slope else None, 1),
        cells.number_cell(correlation, 2),
        cells.number_cell(steps.slope_detectable if steps else None, fine),
        cells.number_cell(steps.newest_detectable if steps else None, fine),
        cells.number_cell(slope.residual_sd if slope else None, fine),
        _mann_kendall_cell(score),
        _change_point_cell(score),
    )


def _mann_kendall_cell(score: ScoreDrift) -> Cell:
    kendall = score.steps.mann_kendall if score.steps else None
    if kendall is None:
        return Cell(text=_NEEDS.format(MIN_MANN_KENDALL), values={"s": None, "p": None})
    text = COMMA.join([f"S {kendall.s:+d}", p_text(kendall.p)])
    return Cell(text=text, values={"s": kendall.s, "p": kendall.p})


def _change_point_cell(score: ScoreDrift) -> Cell:
    change = score.steps.change_point if score.steps else None
    if change is None or len(score.means) < MIN_PETTITT:
        is_short = len(score.means) < MIN_PETTITT
        text = _NEEDS.format(MIN_PETTITT) if is_short else Bilingual("没有", "none")
        return Cell(text=text, values={"": None, "p": None})
    name = score.means[change.index].checkpoint
    return Cell(text=COMMA.join([name, p_text(change.p)]), values={"": name, "p": change.p})


def _courses(scores: Sequence[ScoreDrift]) -> tuple[Block, ...]:
    courses = [(score.address, score.course) for score in scores if score.course is not None]
    columns = [
        cells.right(metric.name, *NOTED.format(metric.title, metric.symbol)) for metric in MAIN_METRICS
    ]
    rows = [
        (Cell(text=address), *(_metric_cell(course, metric) for metric in MAIN_METRICS))
        for address, course in courses
    ]
    notes = [Bilingual("方括号内为随机次序的期望，p 未校正", "in brackets: in random order; p not corrected")]
    notes += [
        Bilingual(
            f"PEN 只有 {windows} 个模式，少于 {MIN_WINDOWS} 个时偏低，请忽略",
            f"ignore PEN: it has {plural(windows, 'pattern')}, and below {MIN_WINDOWS} it is too low",
        )
        for windows in sorted({course.windows for _, course in courses if course.too_short})
    ]
    notes += [
        Bilingual(
            f"p* 把相邻 {block} 个检查点作为一块打乱，容许相邻均值相关；两种 p 不同时以 p* 为准",
            f"p* keeps {block} neighbouring checkpoints together, as a mean may depend on the one before; "
            "where p and p* differ, use p*",
        )
        for block in sorted({course.block for _, course in courses if course.block})
    ]
    return _table("course", columns, rows, *notes)


def _metric_cell(course: Trajectory, metric: SequenceMetric) -> Cell:
    result = course.metrics.get(metric.name)
    if result is None:
        return Cell(text=NOTHING, values={"": None, "expected": None, "p": None, "block_p": None})
    block_p = course.block_p.get(metric.name)
    values = {"": result.value, "expected": result.null_mean, "p": result.p, "block_p": block_p}
    if result.null_mean is None or result.p is None:
        return Cell(text=course.text(metric), values=values)
    block = f" {p_text(block_p, 'p*')}" if block_p is not None else ""
    text = f"{course.text(metric)} [{number(result.null_mean, 1)}] {p_text(result.p)}{block}"
    return Cell(text=text, values=values)


def _variances(scores: Sequence[ScoreDrift]) -> tuple[Block, ...]:
    rows = [row for score in scores if (row := _variance_row(score))]
    columns = [Column(key=key, head=head, align="right") for key, head in _SOURCES]
    has_no_repeats = any(score.variance and score.variance.repeat is None for score in scores)
    notes = [_NOT_APART] if has_no_repeats else []
    notes += [
        Bilingual(
            f"{score.address}：{unreadable} 个回答的评审等级不知对应何值",
            f"{score.address}: {plural(unreadable, 'answer')} with levels whose values are not known",
        )
        for score in scores
        if (unreadable := score.variance.judge_unreadable if score.variance else 0)
    ]
    return _table("variance", [*columns, cells.PROMPTS], rows, *notes)


def _variance_row(score: ScoreDrift) -> tuple[Cell, ...]:
    """Return the share of each source in the variance of a score; a source without a value is unknown."""
    variance = score.variance
    if variance is None:
        return ()
    judge = variance.judge or 0.0
    parts: dict[str, float | None] = {
        "prompt": variance.prompt,
        "checkpoint": variance.checkpoint,
        "interaction": variance.interaction - (judge if variance.repeat is None else 0.0),
        "repeat": None if variance.repeat is None else variance.repeat - judge,
        "judge": variance.judge,
    }
    total = sum(max(0.0, part) for part in parts.values() if part is not None)
    prompts = cells.count_cell(variance.prompts)
    if total <= 0:
        equal = Bilingual("方差为零：得分全部相同", "no variance: all scores are equal")
        return (Cell(text=score.address), Cell(text=equal, values={"": None}), *[_share(None)] * 4, prompts)
    shares = [None if part is None else max(0.0, part) / total for part in parts.values()]
    row = [_share(share, is_unknown=share is None) for share in shares]
    if score.kind != "judge":
        row[-1] = _share(None)
    return (Cell(text=score.address), *row, prompts)


def _share(share: float | None, *, is_unknown: bool = False) -> Cell:
    text: Text = Bilingual("未知", "unknown") if is_unknown else percent(share)
    return Cell(text=text, values={"": share})


def _prompts(scores: Sequence[ScoreDrift]) -> tuple[Block, ...]:
    rows = [
        (
            Cell(text=score.address),
            Cell(text=change.prompt),
            cells.signed_cell(change.shrunken, words.fine_decimals(score)),
            cells.signed_cell(change.change, words.fine_decimals(score)),
        )
        for score in scores
        for change in score.changes
    ]
    columns = (
        cells.left("prompt", "题目", "prompt"),
        cells.right("change", "变化", "change"),
        cells.right("raw_change", "未缩小的变化", "change, not reduced"),
    )
    not_reduced = Bilingual("没有多次回答，未缩小", "not reduced, there are no repeats")
    notes = [
        Bilingual(
            "仅供查看，未检验；有多次回答时已按其波动缩小",
            "for a first look, not tested; noisy changes are reduced where there are repeats",
        ),
        *(
            COLON.join([score.address, not_reduced])
            for score in scores
            if score.changes and not score.shrunken
        ),
    ]
    sentences = [
        Sentence(text=_equal_changes_text(score), is_note=True) for score in scores if not score.prompts_vary
    ]
    return (*_table("changes", columns, rows, *notes), *sentences)


def _equal_changes_text(score: ScoreDrift) -> Bilingual:
    equal = Bilingual("各题的变化全部相同", "all prompts changed by the same amount")
    similar = Bilingual(
        "各题变化之间的差异不超过多次回答之间的波动",
        "prompts differ from each other no more than repeated answers do",
    )
    text = Bilingual("{}，不列题目", "{}, so none is named").format(similar if score.shrunken else equal)
    return COLON.join([score.address, text])


def _humans(scores: Sequence[ScoreDrift]) -> tuple[Block, ...]:
    columns = (
        cells.left("checkpoint", "检查点", "checkpoint"),
        cells.right("tau_b", "tau-b", "tau-b"),
        cells.right("tau_p", "p（未校正）", "p (not corrected)"),
        cells.right("cin", "CIN", "CIN"),
        cells.right("lis", "LIS", "LIS"),
        cells.right("items", "项", "items"),
    )
    rows = [(Cell(text=score.address), *_human_row(item)) for score in scores for item in score.human]
    return _table("human", columns, rows)


def _human_row(item: HumanAgreement) -> tuple[Cell, ...]:
    ranking = item.ranking
    pairs = ranking.n * (ranking.n - 1) // 2
    over = Bilingual("（检查点之间）", "(of the checkpoints)")
    tied = Bilingual("不可计算（全部并列）", "undefined (all tied)")
    tau = tied if ranking.tau_b is None else signed(ranking.tau_b, 2)
    return (
        Cell(text=item.checkpoint or over, values={"": item.checkpoint}),
        Cell(text=tau, values={"": ranking.tau_b}),
        cells.plain_p_cell(ranking.tau_p),
        Cell(text=f"{ranking.cin}/{pairs}", values={"": ranking.cin}),
        Cell(text=f"{ranking.lis}/{ranking.n}", values={"": ranking.lis}),
        cells.count_cell(ranking.n),
    )
