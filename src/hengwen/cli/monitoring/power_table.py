"""Print what a plan can detect: in words with one table for each score, or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hengwen.cli.monitoring.run_document import run_document
from hengwen.results.comparisons import min_clusters
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, count, decimals_for, number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.monitoring.power.plan_power import PlanPower
    from hengwen.monitoring.power.score_power import Requirement, RunSize, ScorePower
    from hengwen.text.language import Language

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
    Bilingual("差别", "difference"),
    Bilingual("每题回答", "repeats"),
    Bilingual("题目", "prompts"),
    Bilingual("95 % 区间", "95 %"),
    Bilingual("回答", "answers"),
    Bilingual("调用", "calls"),
    Bilingual("费用", "cost"),
)
_CHEAPEST = "*"
SMALL_SHARE = 0.5
"""If differences between repeats (answers to one prompt) cause less than this share of a score's variance,
``hengwen power`` prints that more repeats help little."""


def print_power(result: PlanPower, language: Language, console: Console | None = None) -> None:
    """Print for each score which difference the plan can detect."""
    console = console or Console(highlight=False)
    console.print(Text(_heading(result).in_language(language), style="dim"))
    for score in result.scores:
        console.print()
        console.print(
            Text.assemble((score.address, "bold"), ": ", _summary(score, result).in_language(language))
        )
        for line in _lines(score, result):
            console.print(Padding(Text(line.in_language(language)), (0, 0, 0, 2), expand=False))
        if score.requirements:
            console.print(Padding(_table(score, language), (0, 0, 0, 2), expand=False))
        for requirement in score.requirements:
            text = _advice(score, requirement).in_language(language)
            console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
    if any(score.requirements for score in result.scores):
        console.print()
        console.print(Text(_note().in_language(language), style="dim"))


def power_json(result: PlanPower) -> str:
    """Return the whole result of ``plan_power`` as one JSON object."""
    runs = {
        name: None if run is None else run_document(run)
        for name, run in (("baseline", result.baseline), ("other", result.other))
    }
    document: dict[str, Any] = {
        "schema": 1,
        "plan": result.plan,
        **runs,
        "alpha": result.alpha,
        "power": result.power,
        "tests": result.tests,
        "correlation": result.correlation,
        "budget": result.budget,
        "scores": [asdict(score) for score in result.scores],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _heading(result: PlanPower) -> Bilingual:
    baseline, other = result.baseline.checkpoint, result.other.checkpoint if result.other else ""
    pair = Bilingual(
        f"方差取自 {baseline}" + (f" 与 {other}" if other else ""),
        f"variances from {baseline}" + (f" and {other}" if other else ""),
    )
    share = percent(result.power)
    tests = "1 headline score" if result.tests == 1 else f"{result.tests} headline scores together"
    return Bilingual(
        f"{pair.zh}；功效 {share}，{result.tests} 项主要分数合计 alpha = {result.alpha:g}",
        f"{pair.en}; power {share}, alpha {result.alpha:g} for {tests}",
    )


def _summary(score: ScorePower, result: PlanPower) -> Bilingual:
    if score.present is None:
        return _PROBLEMS[score.problem]
    size, decimals = score.present, _decimals(score)
    prompts = Bilingual(
        f"{count(size.prompts)} 题，每题 {_repeats(size)} 个回答",
        f"{count(size.prompts)} prompts x {_repeats(size)} answers",
    )
    if size.smallest_difference is None:
        least = min_clusters(result.tests)
        return Bilingual(
            f"{prompts.zh}：题目太少，至少需要 {least} 个互相独立的题目",
            f"{prompts.en}: too few, a test needs at least {least} independent prompts",
        )
    value = number(size.smallest_difference, decimals)
    return Bilingual(
        f"{prompts.zh}：可检出的最小差别 {value}", f"{prompts.en}: smallest detectable difference {value}"
    )


def _lines(score: ScorePower, result: PlanPower) -> list[Bilingual]:
    if score.present is None or score.variance is None:
        return []
    lines = [_variance_line(score), _repeats_line(score)]
    if score.conflict:
        lines.append(
            Bilingual(
                f"没有用第二次运行：评分设置不同（{score.conflict}）",
                f"the second run is not used: {score.conflict}",
            )
        )
    if score.basis == "one checkpoint":
        r = f"{result.correlation:g}"
        lines.append(
            Bilingual(
                f"只有一个检查点的数据：假定两个检查点各题真值的相关为 {r}；再运行一个检查点即可代替此假定",
                f"data of one checkpoint only: the true values of two checkpoints are assumed to correlate "
                f"by {r}; a run of a second checkpoint replaces this assumption",
            )
        )
    lines.append(_cost_line(score))
    if result.budget is not None and score.present.calls:
        lines.append(_budget_line(score, result.budget))
    return lines


def _variance_line(score: ScorePower) -> Bilingual:
    variance = score.variance
    assert variance is not None  # callers pass only scores that have one
    total = variance.of_prompt(variance.repeats)
    n = f"{score.data_prompts}"
    zh, en = f"{n} 题", f"{n} prompts"
    if score.data_clusters < score.data_prompts:
        zh, en = f"{n} 题（{score.data_clusters} 组）", f"{n} prompts in {score.data_clusters} clusters"
    if variance.repeat is None:
        return Bilingual(
            f"每题差别的方差 {_short(total)}（{zh}）；没有可取平均的多次回答，题间与题内的方差无法分开",
            f"variance of a prompt's difference {_short(total)} ({en}); no repeats are averaged, so the "
            "parts between and within prompts are unknown",
        )
    share = percent(variance.between / total)
    within = _short(total - variance.between)
    judge_zh = judge_en = ""
    if score.judge_variance is not None:
        part = _short(score.judge_variance)
        judge_zh, judge_en = f"，其中评审 {part}", f", of which {part} by the judge"
    return Bilingual(
        f"每题差别的方差 {_short(total)}（{zh}）：题间 {_short(variance.between)}（{share}），题内 {within}"
        f"（单个回答 {_short(variance.repeat)}{judge_zh}）",
        f"variance of a prompt's difference {_short(total)} ({en}): {_short(variance.between)} between "
        f"prompts ({share}), {within} from repeats ({_short(variance.repeat)} for one answer{judge_en})",
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
    zh = "未知（计划没有写价格）" if size.cost is None else f"约 {size.cost:.4g}"
    en = "unknown (the plan has no price)" if size.cost is None else f"about {size.cost:.4g}"
    return Bilingual(
        f"此任务一次运行约 {count(size.calls)} 次调用，费用{zh}",
        f"this task makes about {count(size.calls)} calls in a run, cost {en}",
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


def _table(score: ScorePower, language: Language) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for index, column in enumerate(_COLUMNS):
        header = column.in_language(language)
        table.add_column(header, justify="right", no_wrap=index != 3)
    for requirement in score.requirements:
        difference = number(requirement.difference, _decimals(score))
        for index, size in enumerate(requirement.sizes):
            mark = _CHEAPEST if size == requirement.cheapest else ""
            table.add_row(difference if index == 0 else "", *_cells(size, mark))
    return table


def _cells(size: RunSize, mark: str) -> tuple[str, ...]:
    bounds = size.prompts_interval
    return (
        f"{mark}{_repeats(size)}",
        count(size.prompts),
        NOTHING if bounds is None else f"{count(bounds[0])}–{count(bounds[1])}",
        count(size.answers),
        count(size.calls) if size.calls else NOTHING,
        f"{size.cost:.4g}" if size.cost and size.calls else NOTHING,
    )


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
    return Bilingual(f"{difference}：{first.zh}；{second.zh}", f"{difference}: {first.en}; {second.en}")


def _note() -> Bilingual:
    return Bilingual(
        f"{_CHEAPEST} 最省的组合；调用和费用按一个检查点运行一次计算，题目改变后基线也要重新运行。"
        "95 % 区间指所需的题目数，因为方差是估计的。",
        f"{_CHEAPEST} cheapest; calls and cost are those of one checkpoint's run, and with other prompts "
        "the baseline has to run again. 95 %: interval of the needed prompts, as variances are estimated.",
    )


def _decimals(score: ScorePower) -> int:
    values = [requirement.difference for requirement in score.requirements]
    return max(2, decimals_for(score.scale, values))


def _repeats(size: RunSize) -> str:
    return f"{size.repeats:.3g}"


def _short(value: float) -> str:
    return f"{value:.3g}"
