"""The document of power: the differences that a plan detects, and the cheapest runs that detect one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Bar, Cell, Decision, Details, Document, Sentence, Table, Verdict
from hengwen.documents.cells import SCORE, fields, number_cell, right, run_record, thousands_cell
from hengwen.documents.score_names import score_names
from hengwen.stats.power import MIN_UNITS
from hengwen.text.language import COLON, COMMA, NO_TEXT, SEMICOLON, Bilingual
from hengwen.text.numbers import NOTHING, count, decimals_for, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hengwen.monitoring.power.plan_power import PlanPower
    from hengwen.monitoring.power.score_power import Requirement, RunSize, ScorePower

_PROBLEMS: Mapping[str, Bilingual] = {
    "not scored": Bilingual(
        "基线运行没有任何回答得到这项分数", "no answer of the baseline run has this score"
    ),
    "group score": Bilingual(
        "整组回答只有一个数值，没有逐题的值", "one value for a group of answers, none for each prompt"
    ),
    "too few": Bilingual(
        "独立的题目不足 3 个，无法估计方差", "fewer than 3 independent prompts to estimate variances from"
    ),
    "constant": Bilingual(
        "各题的值（或差别）全部相同，方差未知",
        "all prompts have the same value or difference, so the variance is unknown",
    ),
}
_COLUMNS = (
    right("difference", "差别", "difference"),
    right("repeats", "每题回答", "repeats"),
    right("prompts", "题目", "prompts"),
    right("prompts_needed", "95% 区间", "95%"),
    right("answers", "回答", "answers"),
    right("calls", "调用", "calls"),
    right("cost", "费用", "cost"),
)
_SUMMARY_COLUMNS = (
    SCORE,
    right("difference", "可检出", "detects"),
    right("prompts", "题目 × 每题回答", "prompts × answers each"),
    right("prompts_needed", "95% 区间", "95%"),
)
_SUMMARY_NOTE = Bilingual(
    "现在：这一计划的运行；其余各行：能检出该差别的最省的运行，及所需题目数的区间，因为方差是估计的；虚线：现有题目数。",
    "now: the run of this plan; other rows: the cheapest run that detects the difference, with the interval "
    "of its prompts, as variances are estimated; dotted: the present prompts.",
)
_CHEAPEST = "*"
_NOTE = Bilingual(
    f"{_CHEAPEST} 最省；调用和费用按一个检查点运行一次计算，题目改变后基线也要重新运行。"
    "95% 区间指所需的题目数，因为方差是估计的。",
    f"{_CHEAPEST} cheapest; calls and cost are those of one checkpoint's run, and with other prompts "
    "the baseline has to run again. 95%: interval of the needed prompts, as variances are estimated.",
)
_JOINT = Bilingual("，相关性取自这两次运行", ", correlated as in these runs")
_INDEPENDENT = Bilingual("，按互相独立计", ", taken as independent")
_NOTHING_ESTIMATED = Bilingual("没有一项分数可以估计", "nothing can be estimated for any score")
SMALL_SHARE = 0.5
"""If differences between repeats (answers to one prompt) cause less than this share of a score's variance,
``hengwen power`` prints that more repeats help little."""


def power_document(result: PlanPower) -> Document:
    """Return the document of the power of a plan."""
    return Document(
        kind="power",
        title=Bilingual(f"功效 {result.plan}", f"power {result.plan}"),
        notes=(_heading(result),),
        blocks=(
            Decision(title=_title(result), bullets=tuple(_bullets(result))),
            *_summary_table(result),
            *_details(result),
        ),
        record={
            "schema": 1,
            "plan": result.plan,
            "baseline": run_record(result.baseline),
            "other": None if result.other is None else run_record(result.other),
            **fields(result, "alpha", "power", "tests"),
            "correction": "joint" if result.is_joint else "independent",
            **fields(result, "correlation", "budget"),
            "scores": [asdict(score) for score in result.scores],
        },
    )


def _title(result: PlanPower) -> Bilingual:
    """Return the smallest difference that a run of the plan detects in each score."""
    names = score_names(score.address for score in result.scores)
    texts = [
        Bilingual("{0} {1}", "{1} in {0}").format(
            names[score.address].words, number(score.present.smallest_difference, _decimals(score))
        )
        for score in result.scores
        if score.present is not None and score.present.smallest_difference is not None
    ]
    if not texts:
        return Bilingual("没有一项分数能估计可检出的差别。", "No detectable difference can be estimated.")
    *first, last = texts
    listed = Bilingual("，", " and ").join([COMMA.join(first), last]) if first else last
    return Bilingual(
        f"{result.plan} 一次运行约可检出：{listed.zh}。",
        f"A run of {result.plan} detects differences from about {listed.en}.",
    )


def _bullets(result: PlanPower) -> Iterator[Verdict]:
    """Yield why nothing can be estimated for a score."""
    names = score_names(score.address for score in result.scores)
    for score in result.scores:
        if score.present is None or score.present.smallest_difference is None:
            yield Verdict(tone="open", subject=names[score.address].head, sentence=_unknown(score))


def _summary_table(result: PlanPower) -> Iterator[Table]:
    """Yield a table of the present run and of the cheapest runs that detect smaller differences."""
    names = score_names(score.address for score in result.scores)
    rows = tuple(row for score in result.scores for row in _summary_rows(score, names[score.address].head))
    if rows:
        yield Table(key="sizes", columns=_SUMMARY_COLUMNS, rows=rows, notes=(_SUMMARY_NOTE,))


def _summary_rows(score: ScorePower, name: Bilingual) -> Iterator[tuple[Cell, ...]]:
    present = score.present
    if present is None or present.smallest_difference is None:
        return
    sizes = [(present.smallest_difference, present)]
    sizes += [
        (requirement.difference, requirement.cheapest)
        for requirement in score.requirements
        if requirement.cheapest is not None and requirement.difference != present.smallest_difference
    ]
    most = float(max((size.prompts_interval or (0, size.prompts))[1] for _, size in sizes))
    for difference, size in sizes:
        low, high = size.prompts_interval or (size.prompts, size.prompts)
        ends = float(low), float(high)
        reference = float(present.prompts)
        yield (
            Cell(text=name, values={"": score.address}),
            number_cell(difference, _decimals(score)),
            Cell(
                text=f"{count(size.prompts)} × {_repeats(size)}",
                values={"": size.prompts, "repeats": size.repeats},
                bar=Bar(value=size.prompts, interval=ends, limits=(0.0, most), reference=reference),
            ),
            Cell(text=Bilingual("现在", "now")) if size is present else _needed_cell(size),
        )


def _details(result: PlanPower) -> Iterator[Details]:
    """Yield, for each score, the reasons and the sizes of runs that detect a difference."""
    for i, score in enumerate(result.scores):
        texts = [*_lines(score, result), *(_advice(score, requirement) for requirement in score.requirements)]
        sentences = tuple(Sentence(text=text) for text in texts)
        tables = (_table(score, f"sizes-{i}"),) if score.requirements else ()
        if sentences or tables:
            yield Details(title=score.address, blocks=(*sentences, *tables), is_open=False)


def _heading(result: PlanPower) -> Bilingual:
    runs = [run.checkpoint for run in (result.baseline, result.other) if run]
    pair = Bilingual("方差取自 {}", "variances from {}").format(Bilingual(" 与 ", " and ").join(runs))
    share = percent(result.power)
    tests = "1 headline score" if result.tests == 1 else f"{result.tests} headline scores together"
    if not result.tests:
        return SEMICOLON.join([pair, _NOTHING_ESTIMATED])
    family = NO_TEXT
    if result.tests > 1:
        family = _JOINT if result.is_joint else _INDEPENDENT
    return Bilingual(
        f"{pair.zh}；功效 {share}，{result.tests} 项主要分数合计 alpha = {result.alpha:g}{family.zh}",
        f"{pair.en}; power {share}, alpha {result.alpha:g} for {tests}{family.en}",
    )


def _unknown(score: ScorePower) -> Bilingual:
    """Return why no detectable difference can be estimated."""
    if score.present is None:
        return _PROBLEMS[score.problem]
    if score.variance is not None and score.present.prompts >= MIN_UNITS * score.variance.cluster_size:
        return Bilingual(
            "量表之内没有以此功效可检出的差别", "no difference on the scale is detected with this power"
        )
    prompts = count(score.present.prompts)
    return Bilingual(
        f"现有 {prompts} 题太少，至少需要 {MIN_UNITS} 个互相独立的题目",
        f"{prompts} prompts are too few, an estimate needs at least {MIN_UNITS} independent ones",
    )


def _lines(score: ScorePower, result: PlanPower) -> Iterator[Bilingual]:
    if score.present is None or score.variance is None:
        return
    yield _variance_line(score)
    yield _repeats_line(score)
    if score.conflict:
        yield Bilingual(
            f"没有用第二次运行：评分设置不同（{score.conflict}）",
            f"the second run is not used: {score.conflict}",
        )
    if score.basis == "one checkpoint":
        r = f"{result.correlation:g}"
        yield Bilingual(
            f"只有一个检查点的数据：假定两个检查点各题真值的相关为 {r}；再运行一个检查点即可代替此假定",
            f"data of one checkpoint only: the true values of two checkpoints are assumed to correlate "
            f"by {r}; a run of a second checkpoint replaces this assumption",
        )
    yield _cost_line(score)
    if result.budget is not None and score.present.calls:
        yield _budget_line(score, result.budget)


def _variance_line(score: ScorePower) -> Bilingual:
    variance = score.variance
    assert variance is not None  # callers pass only scores that have one
    total = variance.of_prompt(variance.repeats)
    n, clusters = score.data_prompts, score.data_clusters
    zh, en = f"{n} 题", f"{n} prompts"
    if clusters < n:
        zh, en = f"{n} 题（{clusters} 组）", f"{n} prompts in {clusters} clusters"
    if variance.repeat is None:
        return Bilingual(
            f"每题差别的方差 {_short(total)}（{zh}）；没有可取平均的多次回答，题间与题内的方差无法分开",
            f"variance of a prompt's difference {_short(total)} ({en}); no repeats are averaged, so the "
            "parts between and within prompts are unknown",
        )
    share = percent(variance.between / total)
    within = _short(total - variance.between)
    judge = NO_TEXT
    if score.judge_variance is not None:
        judge = Bilingual("，其中评审 {}", ", of which {} by the judge").format(_short(score.judge_variance))
    return Bilingual(
        f"每题差别的方差 {_short(total)}（{zh}）：题间 {_short(variance.between)}（{share}），题内 {within}"
        f"（单个回答 {_short(variance.repeat)}{judge.zh}）",
        f"variance of a prompt's difference {_short(total)} ({en}): {_short(variance.between)} between "
        f"prompts ({share}), {within} from repeats ({_short(variance.repeat)} for one answer{judge.en})",
    )


def _repeats_line(score: ScorePower) -> Bilingual:
    variance, size = score.variance, score.present
    assert variance is not None  # callers pass only scores that have one
    assert size is not None
    if variance.repeat is None:
        return Bilingual(
            "每题多次回答（repeats、--repeat）的运行可以说明增加回答有没有用",
            "a run with repeats (--repeat 3) would show whether repeats help",
        )
    if variance.between == 0:
        return Bilingual(
            "题间方差估计为 0，增加回答与增加题目似乎同样有用；题目少时这一估计并不可靠",
            "the variance between prompts is estimated as 0, so repeats seem to help as much as prompts; "
            "with few prompts this estimate is not reliable",
        )
    if score.infinite_repeats is None:
        return Bilingual("题目不增加，增加回答没有用", "more repeats do not help without more prompts")
    best = number(score.infinite_repeats, _decimals(score))
    share = 1 - variance.between / variance.of_prompt(size.repeats)
    if share < SMALL_SHARE:
        return Bilingual(
            f"增加回答几乎没有用，题间的方差占多数：这些题目回答再多也只能看出 {best}",
            f"more repeats help little, most of the variance is between prompts: with any number of them "
            f"these prompts show at best {best}",
        )
    return Bilingual(
        f"这些题目回答再多也只能看出 {best}", f"with any number of repeats these prompts show at best {best}"
    )


def _cost_line(score: ScorePower) -> Bilingual:
    size = score.present
    assert size is not None  # callers pass only scores that have one
    if not size.calls:
        return Bilingual(
            f"此任务一次运行有 {count(size.answers)} 个回答，不调用模型",
            f"this task has {count(size.answers)} answers in a run and makes no calls",
        )
    cost = Bilingual("未知（计划没有写价格）", "unknown (the plan has no price)")
    if size.cost is not None:
        cost = Bilingual("约 {:.4g}", "about {:.4g}").format(size.cost)
    return Bilingual(
        f"此任务一次运行约 {count(size.calls)} 次调用，费用{cost.zh}",
        f"this task makes about {count(size.calls)} calls in a run, cost {cost.en}",
    )


def _budget_line(score: ScorePower, budget: float) -> Bilingual:
    size = score.affordable
    if size is None:
        return Bilingual(
            f"此任务的费用 {budget:g} 不够任何检验",
            f"a cost of {budget:g} for this task is too small for any test",
        )
    value = number(size.smallest_difference, _decimals(score))
    return Bilingual(
        f"此任务的费用 {budget:g} 最好用于 {count(size.prompts)} 题，每题 {_repeats(size)} 个回答："
        f"可看出 {value}",
        f"a cost of {budget:g} for this task is best used for {count(size.prompts)} prompts x "
        f"{_repeats(size)}: smallest detectable difference {value}",
    )


def _table(score: ScorePower, key: str) -> Table:
    rows = []
    for requirement in score.requirements:
        for index, size in enumerate(requirement.sizes):
            mark = _CHEAPEST if size == requirement.cheapest else ""
            rows.append((_difference(score, requirement, is_first=index == 0), *_cells(size, mark)))
    return Table(key=key, columns=_COLUMNS, rows=tuple(rows), notes=(_NOTE,))


def _difference(score: ScorePower, requirement: Requirement, *, is_first: bool) -> Cell:
    """Return the cell of a difference, whose text stands only in the first of its rows."""
    text = number(requirement.difference, _decimals(score)) if is_first else ""
    return Cell(text=text, values={"": requirement.difference, "score": score.address})


def _cells(size: RunSize, mark: str) -> tuple[Cell, ...]:
    return (
        Cell(text=f"{mark}{_repeats(size)}", values={"": size.repeats, "is_cheapest": bool(mark)}),
        thousands_cell(size.prompts),
        _needed_cell(size),
        thousands_cell(size.answers),
        Cell(text=count(size.calls) if size.calls else NOTHING, values={"": size.calls}),
        Cell(text=f"{size.cost:.4g}" if size.cost and size.calls else NOTHING, values={"": size.cost}),
    )


def _needed_cell(size: RunSize) -> Cell:
    low, high = size.prompts_interval or (None, None)
    bounds = NOTHING if low is None or high is None else f"{count(low)}–{count(high)}"
    return Cell(text=bounds, values={"low": low, "high": high})


def _advice(score: ScorePower, requirement: Requirement) -> Bilingual:
    difference = number(requirement.difference, _decimals(score))
    best, repeats, present = requirement.cheapest, requirement.with_present_prompts, score.present
    assert present is not None  # callers pass only scores that have one
    prompts = count(present.prompts)
    if best is None:
        first = Bilingual("一百万题也不够", "a million prompts are not enough")
    else:
        first = Bilingual(
            f"最省 {count(best.prompts)} 题 × {_repeats(best)}",
            f"cheapest {count(best.prompts)} prompts x {_repeats(best)}",
        )
    if repeats is not None:
        second = Bilingual(
            f"现有 {prompts} 题每题需 {_repeats(repeats)} 个回答",
            f"the present {prompts} prompts need {_repeats(repeats)} repeats",
        )
    elif score.variance is not None and score.variance.repeat is None:
        second = Bilingual("回答次数的作用未知", "what repeats would do is unknown")
    else:
        second = Bilingual(
            f"现有 {prompts} 题回答再多也不够",
            f"no number of repeats of the present {prompts} prompts is enough",
        )
    return COLON.join([difference, SEMICOLON.join([first, second])])


def _decimals(score: ScorePower) -> int:
    values = [requirement.difference for requirement in score.requirements]
    return max(2, decimals_for(score.scale, values))


def _repeats(size: RunSize) -> str:
    return f"{size.repeats:.3g}"


def _short(value: float) -> str:
    return f"{value:.3g}"
