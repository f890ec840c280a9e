"""The line of a score in a comparison: its values, its difference, its verdict, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hengwen.documents import cells
from hengwen.documents.blocks import ScoreLine, Text, Tone
from hengwen.documents.cells import ScoreName, difference_text, mean_text
from hengwen.documents.groups import at_equal_length, group_verdicts
from hengwen.documents.missing import least_text, missing_text
from hengwen.monitoring.run_comparison import RunComparison, ScoreComparison
from hengwen.results.comparability import run_labels
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.group_comparison import GroupComparison
from hengwen.stats.step_down import MIN_UNITS
from hengwen.text.language import COMMA, NOTED, SEMICOLON, Bilingual, both
from hengwen.text.numbers import decimals_for, p_text, plural, scale_text

_OUTCOMES: Mapping[str, tuple[Tone, Bilingual]] = {
    "better": ("better", Bilingual("更好", "better")),
    "worse": ("worse", Bilingual("更差", "worse")),
    "mean undecided": ("open", Bilingual("均值未定", "mean undecided")),
    "no difference seen": ("none", Bilingual("未见差异", "no difference seen")),
    "too few": ("open", cells.CANNOT_TELL),
    "missing scores": ("open", Bilingual("得分缺失过多，不下结论", "too many missing scores for a verdict")),
    "not comparable": ("plain", Bilingual("无法比较", "not comparable")),
}
_PROBLEMS: Mapping[str, Bilingual] = {
    "group score": Bilingual(
        "整组回答只有一个数值，没有逐题的值", "one value for a group of answers, none for each prompt"
    ),
    "not scored": Bilingual(
        "其中一次运行没有任何回答得到这项分数", "in one of the runs no answer has this score"
    ),
    "no common prompts": Bilingual("没有双方都有得分的题目", "no prompt has a score in both runs"),
}


def score_line(
    comparison: RunComparison, score: ScoreComparison, name: ScoreName, group: GroupComparison | None
) -> ScoreLine:
    """Return the line of a score; ``group`` is its test if it is a score of whole sets of answers."""
    tone, word = _OUTCOMES[score.outcome]
    line = ScoreLine(
        key=f"score-{score.address}",
        name=name.head,
        address=score.address,
        scale=scale_text(score.scale),
        tone=tone,
        word=word,
        values={"family": score.family, "verdict": score.outcome},
        details=tuple(_reasons(comparison, score)),
    )
    if group is not None:
        return _group_line(comparison, line, group)
    if score.test is None or score.means is None:
        return line
    decimals, test = score_decimals(score), score.test
    bounds = score.interval.bounds if score.interval else None
    before, after = (mean_text(mean, decimals) for mean in score.means)
    p = test.p if score.p_adjusted is None else score.p_adjusted
    values = {"before": score.means[0], "after": score.means[1], "p": score.p_adjusted, "p_raw": test.p}
    return replace(
        line,
        before=before,
        after=after,
        bar=cells.difference_bar(test.difference, bounds, score.scale, score.family_interval),
        difference=difference_text(test.difference, bounds, decimals),
        p=p_text(p),
        family=_family(comparison, score),
        prompts=_prompts_text(score),
        values={**line.values, **values, "prompts": test.prompts, "clusters": test.clusters},
    )


def _family(comparison: RunComparison, score: ScoreComparison) -> Bilingual:
    """Return for which tests the p-value of a score is corrected."""
    if score.p_adjusted is None:
        return Bilingual("未校正", "not corrected")
    return _pair_family(comparison.tests(score.family))


def _pair_family(tests: int) -> Bilingual:
    if tests <= 1:
        return Bilingual("只看这一对", "this pair alone")
    return Bilingual(f"只看这一对，按 {tests} 项校正", f"this pair alone, corrected for {tests} scores")


def _prompts_text(score: ScoreComparison) -> Bilingual:
    """Return how many prompts became worse and better."""
    assert score.test is not None  # callers pass only scores with a test
    if score.effects is None:
        return Bilingual(f"{score.test.prompts} 题", plural(score.test.prompts, "prompt"))
    worse, better, equal = score.effects.losses, score.effects.wins, score.effects.ties
    text = Bilingual(f"{worse} 差，{better} 好", f"{worse} worse, {better} better")
    if equal:
        text = COMMA.join([text, Bilingual(f"{equal} 平", f"{equal} equal")])
    if score.test.clusters < score.test.prompts:
        text = SEMICOLON.join([text, cells.prompts_short(score.test.prompts, score.test.clusters)])
    return text


def _group_line(comparison: RunComparison, line: ScoreLine, group: GroupComparison) -> ScoreLine:
    """Return the line of a score of whole sets of answers, whose test exchanges whole prompts."""
    labels = run_labels((comparison.before, comparison.after))
    tone, word = _OUTCOMES[group.verdict]
    decimals = decimals_for(group.scale, group.values)
    before, after = (mean_text(value, decimals) for value in group.values)
    n = group.test.units
    return replace(
        line,
        scale=scale_text(group.scale),
        before=before,
        after=after,
        difference=at_equal_length(group, decimals),
        p=p_text(group.p_adjusted),
        family=_pair_family(len(comparison.groups)),
        prompts=Bilingual(f"{n} 题", plural(n, "prompt")),
        tone=tone,
        word=word,
        values={
            **line.values,
            "verdict": group.verdict,
            "before": group.values[0],
            "after": group.values[1],
            "p": group.p_adjusted,
            "p_raw": group.test.p,
            "prompts": n,
        },
        details=(group_verdicts([group], labels)[group.address].sentence,),
    )


def _reasons(comparison: RunComparison, score: ScoreComparison) -> list[Bilingual]:
    """Return what limits a verdict: why there is none, or which difference would have been seen."""
    if score.test is None or score.means is None:
        return [_problem(score)]
    if score.outcome == "missing scores":
        labels = run_labels((comparison.before, comparison.after))
        decimals = score_decimals(score)
        rows = zip(labels, score.coverage, score.answer_coverage, score.bounds, strict=True)
        texts = [missing_text(*row, decimals) for row in rows if min(row[1:3]) < MIN_COVERAGE]
        return [*texts, least_text()]
    if score.outcome == "mean undecided":
        zh, en = ("高", "higher") if score.test.difference > 0 else ("低", "lower")
        return [
            Bilingual(
                f"多数题{zh}了，但差别的 95% 区间含 0：没见过的题可能相反；需要更多题目",
                f"most prompts are {en}, but the 95% interval of the difference contains 0: unseen prompts "
                "may differ the other way; more prompts are needed",
            )
        ]
    if score.outcome == "too few":
        return [_too_few(score, score.test.clusters)]
    if score.outcome == "no difference seen":
        return [
            cells.detectable_text(
                score.detectable, score_decimals(score), score.test.clusters, score.test.prompts
            )
        ]
    return []


def _problem(score: ScoreComparison) -> Bilingual:
    return _PROBLEMS.get(score.problem, Bilingual(f"评分设置不同：{score.detail}", score.detail))


def verdict_text(score: ScoreComparison, word: Text) -> Bilingual:
    """Return the verdict in words, with the reason where nothing is compared or could have been seen."""
    if word == _OUTCOMES["not comparable"][1]:  # not a score of whole sets of answers that is tested
        return NOTED.format(word, _problem(score))
    if score.outcome != "too few" or score.test is None:
        return both(word)
    effects = score.effects
    return cells.cannot_tell_text(score.test.clusters, all_differ=effects is None or not effects.ties)


def _too_few(score: ScoreComparison, clusters: int) -> Bilingual:
    if clusters < MIN_UNITS or score.effects is None:
        return cells.too_few_text(MIN_UNITS)
    changed = score.effects.wins + score.effects.losses
    prompts = changed + score.effects.ties
    if changed == prompts:
        return Bilingual(
            f"{prompts} 题太少，即使方向全部一致也看不出差别",
            f"{prompts} prompts are too few to tell, even if all had changed in one direction",
        )
    return Bilingual(
        f"{prompts} 题中只有 {changed} 题得分不同，即使方向全部一致也看不出差别",
        f"only {changed} of {prompts} prompts have another score: too few to tell, even if all had changed "
        "in one direction",
    )


def score_decimals(score: ScoreComparison) -> int:
    """Return the decimals of the means of a score and of their differences."""
    return decimals_for(score.scale, score.means or ())
