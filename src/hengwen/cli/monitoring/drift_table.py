"""Print for each score in words whether checkpoints differ and drift, with the tests and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hengwen.cli.monitoring import drift_words as words
from hengwen.cli.monitoring.drift_details import detail_lines
from hengwen.monitoring.drift.score_drift import MIN_MANN_KENDALL
from hengwen.monitoring.drift.steps import is_constant
from hengwen.results.comparisons import min_clusters
from hengwen.stats.alpha_spending import alpha_at_look
from hengwen.stats.checkpoints.change_point import MIN_CHECKPOINTS as MIN_PETTITT
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, interval, number, p_text, plural, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.monitoring.drift.score_drift import BaselineDifference, DriftReport, ScoreDrift, StepTests
    from hengwen.text.language import Language

MAX_MEANS = 12
"""Maximum number of checkpoints whose means are all printed; if more, only the first and last are."""
MAX_NAMES = 8
"""Maximum number of scores or checkpoints that a list names."""
_STYLES = {"better": "green", "worse": "red"}


def print_drift(report: DriftReport, language: Language, console: Console | None = None) -> None:
    """Print for each score whether checkpoints differ and whether they drift."""
    console = console or Console(highlight=False)
    console.print(Text(_title(report).in_language(language), style="bold"))
    for line in _header(report):
        console.print(Text(line.in_language(language), style="dim"))
    for score in report.scores:
        style = _STYLES.get(score.direction, "yellow" if score.differs == "differ" else "")
        console.print()
        console.print(
            Text.assemble(
                (score.address, "bold"), ": ", (words.headline_text(score).in_language(language), style)
            )
        )
        for indent, line in _score_lines(report, score):
            console.print(Padding(Text(line.in_language(language)), (0, 0, 0, indent), expand=False))


def _title(report: DriftReport) -> Bilingual:
    n, plan = len(report.runs), report.newest.plan
    if n == 1:
        return Bilingual(f"{plan}：{report.labels[0]}", f"{plan}: {report.labels[0]}")
    if report.order_problem:
        return Bilingual(f"{plan}：{n} 个检查点，先后未知", f"{plan}: {n} checkpoints in unknown order")
    course = f"{report.labels[0]} → {report.labels[-1]}"
    return Bilingual(f"{plan}：{course}，{n} 个检查点", f"{plan}: {course}, {n} checkpoints")


def _header(report: DriftReport) -> list[Bilingual]:
    lines = []
    if report.order_problem:
        problem, hint = report.order_problem, words.ORDER_HINT
        lines.append(Bilingual(f"检查点先后未知（{problem}）：{hint.zh}", f"{problem}: {hint.en}"))
    name = report.labels[0]
    if report.pinned:
        lines.append(Bilingual(f"基线从 {name} 起", f"the baseline begins with {name}"))
    elif not report.order_problem and len(report.runs) > 1:
        lines.append(
            Bilingual(
                f"基线从 {name} 起（第一个检查点；可用 hengwen runs pin 指定）",
                f"the baseline begins with {name} (the first checkpoint; choose another with: hengwen runs "
                "pin)",
            )
        )
    if report.before_baseline:
        n = len(report.before_baseline)
        lines.append(
            Bilingual(
                f"基线之前的 {n} 个检查点不参与检验",
                f"{plural(n, 'checkpoint')} before the baseline {'is' if n == 1 else 'are'} left out",
            )
        )
    looks = report.looks
    for question, look, alpha, tests in (
        (Bilingual("有无差别", "do they differ"), looks.differ, looks.differ_alpha, report.differ_tests),
        (Bilingual("超出波动", "more than usual"), looks.drift, looks.drift_alpha, report.drift_tests),
    ):
        if look is not None and alpha is not None:
            level = p_text(alpha).removeprefix("= ")
            lines.append(
                Bilingual(
                    f"{question.zh}：p 已按 {tests} 次检验校正（Holm）；第 {look} 个与此基线比较的运行，"
                    f"p 不超过 {level} 才显著",
                    f"{question.en}: p corrected for {plural(tests, 'test')} (Holm); run {look} tested "
                    f"against this baseline, so p up to {level} is significant",
                )
            )
    if report.other_scores:
        scores = report.other_scores
        lines.append(
            Bilingual(
                f"未检验的细项（可用 --score 指定检验）：{names_text(scores, ' 等 {n} 项')}",
                f"not tested (test them with --score): {names_text(scores)}",
            )
        )
    return lines


def names_text(names: Sequence[str], rest_text: str = " and {rest} more") -> str:
    """Return the first names of a list, and how many there are."""
    rest = len(names) - MAX_NAMES
    listed = ", ".join(names[:MAX_NAMES])
    return listed if rest <= 0 else listed + rest_text.format(n=len(names), rest=rest)


def _score_lines(report: DriftReport, score: ScoreDrift) -> list[tuple[int, Bilingual]]:
    """Return the lines about one score, each with its indent."""
    lines = [(2, words.left_out_text(item)) for item in score.left_out]
    if score.means:
        lines.insert(0, (2, _means_line(score)))
    if score.drifts == "one checkpoint":
        return [*lines, (2, words.ONE_CHECKPOINT)]
    if score.drifts in ("missing scores", "not comparable"):
        return lines
    answers = (_differs_text(report, score), words.drifts_text(score))
    for question, answer, evidence in (
        (words.FIRST, answers[0], _first_lines(report, score)),
        (words.SECOND, answers[1], _second_lines(score)),
    ):
        lines.append((2, Bilingual(f"{question.zh}{answer.zh}", f"{question.en} {_sentence(answer.en)}")))
        lines += [(4, line) for line in evidence]
    return [*lines, *((2, line) for line in detail_lines(score))]


def _differs_text(report: DriftReport, score: ScoreDrift) -> Bilingual:
    """Return in words whether the checkpoints differ, and whether only Friedman's test says so."""
    answer, difference = words.differs_text(score), score.difference
    level = report.looks.differ_alpha
    if score.differs != "differ" or difference is None or level is None:
        return answer
    if difference.p_adjusted is not None and difference.p_adjusted <= level:
        return answer
    baseline = _baseline_text(difference)
    mean_of = "" if len(difference.baseline) == 1 else "the "
    return Bilingual(
        f"{answer.zh}，但{baseline.zh}与 {difference.newest} 之间未见差别",
        f"{answer.en}; but no difference is seen between {mean_of}{baseline.en} and {difference.newest}",
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _means_line(score: ScoreDrift) -> Bilingual:
    decimals = decimals_for(score.scale, [item.mean for item in score.means])
    texts = [f"{item.checkpoint} {number(item.mean, decimals)}" for item in score.means]
    if len(texts) > MAX_MEANS:
        texts = [*texts[:3], "…", *texts[-3:]]
    return Bilingual(f"均值：{'，'.join(texts)}", f"means: {', '.join(texts)}")


def _first_lines(report: DriftReport, score: ScoreDrift) -> list[Bilingual]:
    lines = []
    difference, overall = score.difference, score.overall
    if score.problem == "group score":
        lines.append(words.GROUP_SCORE_REASON)
    if difference is not None:
        lines += _difference_lines(score, difference)
    if overall is not None:
        p = p_text(overall.p if overall.p_adjusted is None else overall.p_adjusted)
        raw_zh, raw_en = _raw(overall.p_adjusted)
        n, prompts = overall.checkpoints, _prompts(overall.prompts, overall.clusters)
        lines.append(
            Bilingual(
                f"{n} 个检查点之间有无差别（Friedman）：p {p}{raw_zh}，{prompts.zh}",
                f"any difference among all {n} checkpoints (Friedman): p {p}{raw_en}, {prompts.en}",
            )
        )
    elif score.problem == "" and len(score.means) > 2:
        lines.append(words.NO_FRIEDMAN)
    if score.differs == "too few prompts":
        least = _least_clusters(report)
        lines.append(
            Bilingual(
                f"至少需要 {least} 个互相独立的题目才可能显著",
                f"at least {least} independent prompts are needed for any result to be significant",
            )
        )
    return lines


def _least_clusters(report: DriftReport) -> int:
    """Return the smallest number of clusters with which a test between checkpoints can be significant."""
    tests = sum(test is not None for score in report.scores for test in (score.difference, score.overall))
    return min_clusters(max(1, tests), report.looks.differ_alpha or alpha_at_look(1, report.alpha))


def _baseline_text(difference: BaselineDifference) -> Bilingual:
    first, *others = difference.baseline
    if not others:
        return Bilingual(first, first)
    n, last = 1 + len(others), others[-1]
    return Bilingual(
        f"前 {n} 个检查点（{first} … {last}）的均值", f"mean of {n} checkpoints ({first} … {last})"
    )


def _difference_lines(score: ScoreDrift, difference: BaselineDifference) -> list[Bilingual]:
    decimals = decimals_for(score.scale, difference.means)
    fine = max(2, decimals)
    baseline = _baseline_text(difference)
    change = f"{number(difference.means[0], decimals)} → {number(difference.means[1], decimals)}"
    bounds = difference.interval.bounds
    size = f"{signed(difference.difference, fine)} {interval(bounds, fine) if bounds else ''}".rstrip()
    p = p_text(difference.p if difference.p_adjusted is None else difference.p_adjusted)
    raw_zh, raw_en = _raw(difference.p_adjusted)
    prompts = _prompts(difference.prompts, difference.clusters)
    effects = difference.effects
    detectable = Bilingual("各题差别全部相同", "all prompts have the same difference")
    if difference.clusters < 2:
        detectable = Bilingual(
            "只有一个互相独立的题目，不知能看出多大的差别",
            "only one independent prompt, so the smallest detectable difference is not known",
        )
    elif difference.detectable is not None:
        value = number(difference.detectable, fine)
        detectable = Bilingual(f"可检出的最小差别 {value}", f"smallest detectable difference {value}")
    lines = [
        Bilingual(
            f"{baseline.zh} → {difference.newest}：{change}，相差 {size}，p {p}{raw_zh}，{prompts.zh}",
            f"{baseline.en} → {difference.newest}: {change}, difference {size}, p {p}{raw_en}, {prompts.en}",
        ),
        Bilingual(
            f"{detectable.zh}；{effects.wins} 题变好，{effects.losses} 题变差，{effects.ties} 题持平",
            f"{detectable.en}; better on {plural(effects.wins, 'prompt')}, worse on {effects.losses}, "
            f"equal on {effects.ties}",
        ),
    ]
    if difference.subsampled:
        n = difference.subsampled
        lines.append(
            Bilingual(
                f"{n} 个题目的回答次数不等，各取相同次数",
                f"{plural(n, 'prompt')} with more answers at one checkpoint: equally many of each are used",
            )
        )
    return lines


def _raw(p_adjusted: float | None) -> tuple[str, str]:
    return ("，未校正", ", not corrected") if p_adjusted is None else ("", "")


def _prompts(prompts: int, clusters: int) -> Bilingual:
    if prompts == clusters:
        return Bilingual(f"{prompts} 题", plural(prompts, "prompt"))
    return Bilingual(
        f"{prompts} 题（{clusters} 簇）", f"{plural(prompts, 'prompt')} in {plural(clusters, 'cluster')}"
    )


def _second_lines(score: ScoreDrift) -> list[Bilingual]:
    steps = score.steps
    if score.drifts == "order unknown":
        return []
    if steps is None:
        return [words.FEW_CHECKPOINTS]
    if steps.slope is None and steps.newest is None:
        return [_missing_slope_text(score)]
    return [*_slope_lines(score, steps), *_newest_lines(score, steps), _further_tests(score, steps)]


def _slope_lines(score: ScoreDrift, steps: StepTests) -> list[Bilingual]:
    slope = steps.slope
    if slope is None or steps.slope_p_adjusted is None:
        return [_missing_slope_text(score)]
    fine = _fine(score)
    change = f"{signed(slope.total, fine)} {interval(slope.total_interval, fine)}"
    p, detectable = p_text(steps.slope_p_adjusted), number(steps.slope_detectable, fine)
    ratio = number(slope.signal_to_noise, 1)
    usual = number(slope.residual_sd, fine)
    return [
        Bilingual(
            f"趋势线从首到末变化 {change}，p {p}；可检出的最小变化 {detectable}",
            f"trend line from first to last: {change}, p {p}; smallest detectable change {detectable}",
        ),
        Bilingual(
            f"信噪比 {ratio}：这一变化是各均值围绕趋势线的波动（{usual}）的 {ratio} 倍",
            f"signal to noise {ratio}: this change divided by the scatter of the means around the line, "
            f"{usual}",
        ),
    ]


def _missing_slope_text(score: ScoreDrift) -> Bilingual:
    """Return why there is no test of the slope: all means are equal, or they lie on one line."""
    return words.ALL_EQUAL if is_constant([item.mean for item in score.means]) else words.ON_A_LINE


def _newest_lines(score: ScoreDrift, steps: StepTests) -> list[Bilingual]:
    newest = steps.newest
    if newest is None or steps.newest_p_adjusted is None:
        return [words.EARLIER_EQUAL]
    fine = _fine(score)
    change = f"{signed(newest.difference, fine)} {interval(newest.interval, fine)}"
    p, detectable = p_text(steps.newest_p_adjusted), number(steps.newest_detectable, fine)
    n = newest.predecessors
    line = Bilingual(
        f"最新检查点减去之前 {n} 个的均值 {change}，p {p}；可检出的最小差别 {detectable}",
        f"newest minus the mean of the {n} before it: {change}, p {p}; "
        f"smallest detectable difference {detectable}",
    )
    return [line] if steps.mean_error is not None else [line, words.unknown_error_text(score)]


def _further_tests(score: ScoreDrift, steps: StepTests) -> Bilingual:
    """Return one line with further tests, which are shown but do not decide whether there is a drift."""
    kendall, change = steps.mann_kendall, steps.change_point
    if kendall is None:
        first = Bilingual(
            f"Mann-Kendall 需要 {MIN_MANN_KENDALL} 个检查点",
            f"Mann-Kendall needs {MIN_MANN_KENDALL} checkpoints",
        )
    else:
        text = f"S {kendall.s:+d}, p {p_text(kendall.p)}"
        first = Bilingual(
            f"单调趋势（Mann-Kendall）{text.replace(', ', '，')}", f"monotone trend (Mann-Kendall) {text}"
        )
    if len(score.means) < MIN_PETTITT:
        second = Bilingual(f"Pettitt 需要 {MIN_PETTITT} 个检查点", f"Pettitt needs {MIN_PETTITT} checkpoints")
    elif change is None:
        second = Bilingual("没有变点（Pettitt）", "no change point (Pettitt)")
    else:
        name, p = score.means[change.index].checkpoint, p_text(change.p)
        second = Bilingual(f"变点（Pettitt）在 {name}，p {p}", f"change point (Pettitt) at {name}, p {p}")
    return Bilingual(
        f"仅供参考（p 未校正，不影响结论）：{first.zh}；{second.zh}",
        f"for information (p not corrected, does not affect the answer): {first.en}; {second.en}",
    )


def _fine(score: ScoreDrift) -> int:
    return max(2, decimals_for(score.scale, [item.mean for item in score.means]))
