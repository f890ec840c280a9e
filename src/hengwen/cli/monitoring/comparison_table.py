"""Print the comparison of two runs in words, or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hengwen.cli.monitoring.run_document import run_document
from hengwen.results.comparisons import MIN_PROMPT_COVERAGE, min_clusters
from hengwen.results.run_order import run_labels
from hengwen.stats.equal_length import MIN_CLUSTERS
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, interval, number, p_text, percent, plural, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.monitoring.compare.run_comparison import RunComparison, ScoreComparison, Weights
    from hengwen.text.language import Language

_OUTCOMES: Mapping[str, Bilingual] = {
    "better": Bilingual("更好", "better"),
    "worse": Bilingual("更差", "worse"),
    "no difference seen": Bilingual("未见差别", "no difference seen"),
    "too few": Bilingual("题目太少", "too few prompts"),
    "missing scores": Bilingual("得分缺失过多，不下结论", "too many missing scores for a verdict"),
    "not comparable": Bilingual("无法比较", "not comparable"),
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
        f"题目不足 {MIN_CLUSTERS} 个，不估计长度相等时的差别",
        f"at equal length: not estimated below {MIN_CLUSTERS} independent prompts",
    ),
    "same ratio": Bilingual(
        "各题长度之比相同，无法估计长度相等时的差别",
        "at equal length: not estimated, all lengths changed by the same ratio",
    ),
}
_STYLES = {"better": "green", "worse": "red"}
_CORRECTIONS = {"headline": "Holm", "breakdown": "BH"}
_ROLES = {"headline": Bilingual("主要分数", "headline scores"), "breakdown": Bilingual("细项", "breakdowns")}


def print_comparison(comparison: RunComparison, language: Language, console: Console | None = None) -> None:
    """Print the comparison of each score in words: first the scores of a report's summary."""
    console = console or Console(highlight=False)
    before, after = run_labels((comparison.before, comparison.after))
    console.print(Text(f"{before} → {after}", style="bold"))
    if comparison.left_out_prompts:
        console.print(Text(_left_out(comparison.left_out_prompts).in_language(language), style="dim"))
    for scores in (comparison.headline, comparison.breakdown):
        if scores:
            console.print()
            console.print(Text(_family_text(comparison, scores[0]).in_language(language), style="dim"))
        for score in scores:
            console.print(
                Text.assemble(
                    (score.address, "bold"),
                    ": ",
                    (_OUTCOMES[score.outcome].in_language(language), _STYLES.get(score.outcome, "")),
                )
            )
            for line in _lines(comparison, score):
                console.print(Padding(Text(line.in_language(language)), (0, 0, 0, 2), expand=False))


def comparison_json(comparison: RunComparison) -> str:
    """Return the whole comparison as one JSON object."""
    runs = {
        name: run_document(run) for name, run in (("before", comparison.before), ("after", comparison.after))
    }
    document: dict[str, Any] = {
        "schema": 1,
        **runs,
        "alpha": comparison.alpha,
        "weights": comparison.weights,
        "only_common": comparison.only_common,
        "left_out_prompts": comparison.left_out_prompts,
        "unchecked": comparison.unchecked,
        "families": {
            "headline": {"correction": "holm", "tests": comparison.tests("headline")},
            "breakdown": {"correction": "benjamini-hochberg", "tests": comparison.tests("breakdown")},
        },
        "scores": [_score_document(score) for score in comparison.scores],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _score_document(score: ScoreComparison) -> dict[str, Any]:
    document = asdict(score)
    if score.interval is not None:
        document["interval"]["bounds"] = score.interval.bounds
    return document


def _left_out(n: int) -> Bilingual:
    subject, verb = ("1 prompt that differs", "is") if n == 1 else (f"{n} prompts that differ", "are")
    return Bilingual(f"两次运行中内容不同的 {n} 个题目已略去", f"{subject} between the runs {verb} left out")


def _family_text(comparison: RunComparison, score: ScoreComparison) -> Bilingual:
    role, correction = _ROLES[score.family], _CORRECTIONS[score.family]
    tests = comparison.tests(score.family)
    return Bilingual(
        f"{role.zh}：共 {tests} 次检验，p 按 {correction} 法校正",
        f"{role.en}: {tests} {'test' if tests == 1 else 'tests'}, p corrected by {correction}",
    )


def _lines(comparison: RunComparison, score: ScoreComparison) -> list[Bilingual]:
    test, effects, means = score.test, score.effects, score.means
    if test is None or effects is None or means is None:
        return [_PROBLEMS.get(score.problem, Bilingual(f"评分设置不同：{score.detail}", score.detail))]
    decimals = decimals_for(score.scale, means)
    fine = max(2, decimals)  # differences are small, so they get at least 2 decimals
    bounds = score.interval.bounds if score.interval else None
    change = f"{number(means[0], decimals)} → {number(means[1], decimals)}"
    difference = f"{signed(test.difference, fine)} {interval(bounds, fine) if bounds else ''}".rstrip()
    p = p_text(test.p if score.p_adjusted is None else score.p_adjusted)
    raw_zh, raw_en = ("，未校正", ", not corrected") if score.p_adjusted is None else ("", "")
    lines = [
        Bilingual(
            f"{change}，相差 {difference}，p {p}{raw_zh}，{test.prompts} 题{_clusters(score, 'zh')}",
            f"{change}, difference {difference}, p {p}{raw_en}, {plural(test.prompts, 'prompt')}"
            f"{_clusters(score, 'en')}",
        ),
        Bilingual(
            f"{_detectable(score, fine).zh}；胜 {effects.wins}，负 {effects.losses}，平 {effects.ties}；"
            f"Cliff's delta {signed(effects.cliffs_delta, 2)}，P(B>A) {number(effects.p_greater, 2)}",
            f"{_detectable(score, fine).en}; {plural(effects.wins, 'win')}, "
            f"{plural(effects.losses, 'loss', 'losses')}, {plural(effects.ties, 'tie')}; "
            f"Cliff's delta {signed(effects.cliffs_delta, 2)}, P(B>A) {number(effects.p_greater, 2)}",
        ),
        *_extra_lines(score, fine, comparison.weights),
    ]
    if score.outcome == "too few":
        tests = sum(item.test is not None for item in comparison.headline)
        tests = tests if score.family == "headline" else 1
        lines.append(
            Bilingual(
                f"至少需要 {min_clusters(tests)} 个互相独立的题目才可能显著",
                f"at least {min_clusters(tests)} independent prompts are needed for any result to be"
                " significant",
            )
        )
    return lines


def _detectable(score: ScoreComparison, decimals: int) -> Bilingual:
    if score.detectable is None:
        return Bilingual("各题差别全部相同", "all prompts have the same difference")
    value = number(score.detectable, decimals)
    return Bilingual(f"可检出的最小差别 {value}", f"smallest detectable difference {value}")


def _clusters(score: ScoreComparison, language: Language) -> str:
    if score.test is None or score.test.clusters == score.test.prompts:
        return ""
    n = score.test.clusters
    return f"（{n} 组）" if language == "zh" else f" in {plural(n, 'cluster')}"


def _extra_lines(score: ScoreComparison, decimals: int, weights: Weights) -> list[Bilingual]:
    lines = []
    if score.mcnemar_p is not None:
        p = p_text(score.mcnemar_p)
        lines.append(Bilingual(f"McNemar 检验 p {p}，未校正", f"McNemar's p {p}, not corrected"))
    equal = score.equal_length
    if equal is not None and equal.difference is None:
        lines.append(_NO_EQUAL_LENGTH[equal.reason])
    elif equal is not None:
        value = f"{signed(equal.difference, decimals)} {interval(equal.interval, decimals)}"
        ratio = number(equal.length_ratio, 2)
        lines.append(
            Bilingual(
                f"长度相等时相差 {value}（长度之比 {ratio}）",
                f"at equal length {value} (length ratio {ratio})",
            )
        )
    weighted = score.weighted
    if weighted is None and weights == "precision":
        lines.append(
            Bilingual(
                "各题没有可取平均的多次回答，无法加权", "no weights: prompts have no repeats to average"
            )
        )
    elif weighted is not None:
        value = f"{signed(weighted.difference, decimals)} {interval(weighted.interval, decimals)}"
        p = p_text(weighted.p)
        lines.append(
            Bilingual(
                f"按精度加权（另一个估计量）：{value}，p {p}，未校正",
                f"weighted by precision (another estimand): {value}, p {p}, not corrected",
            )
        )
    if score.subsampled:
        n = score.subsampled
        lines.append(
            Bilingual(
                f"{n} 个题目的回答次数不等，各取相同次数",
                f"{plural(n, 'prompt')} with unequal repeats: equally many of both are compared",
            )
        )
    if score.outcome == "missing scores":
        shares, least = " / ".join(map(percent, score.coverage)), percent(MIN_PROMPT_COVERAGE)
        lines.append(
            Bilingual(
                f"有得分的题目只占 {shares}，低于 {least}；哪些题失败可能与质量有关",
                f"only {shares} of the prompts have a score, below {least}; which prompts fail may depend on "
                "quality",
            )
        )
    return lines
