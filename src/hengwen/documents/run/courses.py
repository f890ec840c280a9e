"""The courses of scores over the checkpoints, as series and as charts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import chain, takewhile

from hengwen.documents.blocks import Chart, Mark, Point, Series, Tone
from hengwen.documents.cells import mean_text
from hengwen.documents.run.report import Report
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS
from hengwen.results.aggregate import Summary
from hengwen.results.comparisons import family_size
from hengwen.results.score_series import MAX_ALL_PAIRS
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.text.language import LIST_COMMA, NO_TEXT, NOTED, Bilingual, both, say
from hengwen.text.numbers import count, counted, interval, minus, percent, plural, scale_text

KIND_WORDS = {
    "published": say("task score"),
    "scorer": say("scorer"),
    "judge": say("judge"),
    "human": say("human"),
}
STATUS_WORDS = {
    "finished": say("finished"),
    "running": say("running"),
    "interrupted": say("interrupted"),
    "failed": say("failed"),
}
GUIDE = (
    (
        say("Means and intervals"),
        say(
            "Each prompt counts once: its value is the mean of its repeats. Brackets show the 95% "
            "interval over prompts or clusters of related prompts: t with a jackknife, and a "
            "pseudo-cluster of mean size at each end of where unseen ones may lie, so that equal values "
            "are never certainty. Repeats do not add prompts."
        ),
    ),
    (
        say("Failures are not scores"),
        say(
            "Failed answers are counted, never treated as 0 and never included in a mean. “20/40 prompts "
            "(50%) · 60 answers (75%)”: 20 of 40 prompts have a score, with 60 scored answers, 75% of "
            "those to score; no percentage is shown where all have one. A prompt without an answer "
            "misses all its repeats. Below 95% of the prompts or answers there is no verdict. “Not "
            "applicable” is counted separately."
        ),
    ),
    (
        say("Level first, order second"),
        say(
            "{value} depend only on the order of the means; a uniform drop does not change them. Read "
            "the level first. Below 30 windows (m=3, 32 checkpoints) PEN is mostly bias and is marked "
            "“too short”.",
            value=LIST_COMMA.join(NOTED.format(metric.symbol, metric.title) for metric in MAIN_METRICS),
        ),
    ),
    (
        say("A difference needs a test"),
        say(
            "“Better” and “worse” in the summary come from paired tests on common prompts (sign flips, "
            "two-sided) of every pair of checkpoints. All pairs and scores are one family: the signs of "
            "a prompt flip together, and p is corrected by the step-down maximum. p must be up to .05, "
            "and the interval of the difference must exclude 0; with the first alone, the mean is "
            "undecided. Overlap of intervals is no test. ▼ marks a checkpoint that is worse than one "
            "before it."
        ),
    ),
    (
        say("Equal signatures only"),
        say(
            "A signature contains every setting that can change a score. Series with different "
            "signatures are not compared."
        ),
    ),
)
"""How to read the document: headings and texts."""
MIN_CHECKPOINTS = 4
"""Minimum number of checkpoints at which the note recommends ``hengwen drift``."""
_EVERY_PAIR = say("Every pair of checkpoints is compared")
_SOME_PAIRS = say(
    "With more than {max_all_pairs} checkpoints, each is compared with the best seen before it, "
    "and the newest with all,",
    max_all_pairs=MAX_ALL_PAIRS,
)
_COMPARED = say(
    "{} in a paired test on the prompts for which both have a score ({}). Better or worse means: "
    "p up to .05, and the 95% interval of the pair's difference excludes 0. Brackets are 95% "
    "intervals; whether they overlap is no test. Smallest detectable difference: if the true "
    "difference is this large, eight evaluations in ten show it; it grows with the number of "
    "tests."
)
_CHOSEN_PAIR = say("A pair chosen before looking can be tested alone, with a smaller p: hengwen compare.")
_USUAL_MOVEMENT = say(
    "Whether a difference is more than checkpoints usually move is tested by: hengwen drift."
)
_NO_STEPS = say(
    "The checkpoints have no step, so their order is that of the plan: check it, and if it is "
    "wrong, give each a step."
)


def comparison_note(report: Report) -> Bilingual:
    """Explain how the summary of a report with paired tests compares checkpoints."""
    comparisons = [items for items in report.comparisons.values() if items]
    total, runs = family_size(chain.from_iterable(comparisons)), report.data.runs
    scores = plural(len(comparisons), "score")
    tests = say(
        "{tests} of {scores} with a value for each prompt; p corrected for all of them",
        tests=plural(total, "test"),
        scores=scores,
        comparisons=len(comparisons),
        total=total,
    )
    if total == 1:
        tests = say("1 test")
    pairs = _EVERY_PAIR if len(runs) <= MAX_ALL_PAIRS else _SOME_PAIRS
    hints = (
        (_CHOSEN_PAIR, len(runs) > 2),
        (_USUAL_MOVEMENT, len(runs) >= MIN_CHECKPOINTS),
        (_NO_STEPS, all(run.step is None for run in runs)),
    )
    return Bilingual("", " ").join(
        [_COMPARED.format(pairs, tests), *(hint for hint, applies in hints if applies)]
    )


def score_counts(summary: Summary) -> Bilingual:
    """Return the numbers of scored prompts and answers, with their shares if some have no score."""
    if summary.has_no_prompts:
        return both(f"n {count(summary.n)}")
    is_partial = summary.prompt_coverage not in (None, 1.0)
    total = f"/{count(summary.prompts_expected or 0)}" if is_partial else ""
    prompt_share = f" ({percent(summary.prompt_coverage)})" if is_partial else ""
    answer_share = "" if summary.coverage in (None, 1.0) else f" ({percent(summary.coverage)})"
    prompts = f"{count(summary.prompts)}{total}"
    noun = "prompt" if summary.prompts == 1 and not total else "prompts"
    return say(
        "{prompts} {noun}{prompt_share} · {answers}{answer_share}",
        prompts=prompts,
        noun=noun,
        prompt_share=prompt_share,
        answers=counted(summary.n, "answer"),
        answer_share=answer_share,
        n=count(summary.n),
    )


def counts_in_words(summary: Summary) -> Bilingual:
    """Return the numbers of scored prompts and answers as a sentence."""
    if summary.has_no_prompts:
        return say("one value for a group of answers")
    expected = summary.prompts if summary.prompts_expected is None else summary.prompts_expected
    share = "" if summary.coverage in (None, 1.0) else percent(summary.coverage)
    share_zh, share_en = (f"（占应得分的 {share}）", f" ({share} of those to score)") if share else ("", "")
    prompts, all_prompts, answers = count(summary.prompts), count(expected), count(summary.n)
    return Bilingual(
        f"{all_prompts} 题中 {prompts} 题有得分，{answers} 个回答有得分{share_zh}",
        f"{prompts} of {all_prompts} prompts, {answers} answers{share_en}",
    )


def sizes_in_words(summaries: Iterable[Summary | None]) -> Bilingual | None:
    """Return of how many prompts, and of how many answers to them, scores have means."""
    sizes = [(item.prompts, item.n) for item in summaries if item is not None and item.prompts]
    if not sizes:
        return None
    prompts, answers = (_range(numbers) for numbers in zip(*sizes, strict=True))
    noun = "prompt" if prompts == "1" else "prompts"
    means = say("means of {prompts} {noun}", prompts=prompts, noun=noun)
    if all(n == n_prompts for n_prompts, n in sizes):
        return means
    return NOTED.format(means, say("{answers} answers", answers=answers))


def _range(numbers: Collection[int]) -> str:
    low, high = count(min(numbers)), count(max(numbers))
    return low if low == high else f"{low}–{high}"


ANCHORS = say("the judge on its anchors")


def course_of(score: ScoreSummaries, report: Report) -> Series:
    """Return the mean of a score at each checkpoint: x is the training step where every run has one."""
    steps = [run.step for run in report.data.runs]
    has_steps = None not in steps and len(set(steps)) == len(steps)
    fallen = _fallen(score, report)
    n = len(report.labels)
    is_course = sum(summary is not None and summary.mean is not None for summary in score.summaries) > 1
    best = best_of(score, n) if is_course else None
    labels = _axis_labels(report)
    return Series(
        name="",
        points=tuple(
            _point(
                score,
                i,
                report.labels[i],
                labels[i],
                x=float(steps[i] or 0) if has_steps else float(i),
                tone="worse" if i in fallen else "plain",
                mark=_mark(is_best=i == best, is_newest=i == n - 1),
            )
            for i in range(n)
        ),
    )


def _mark(*, is_best: bool, is_newest: bool) -> Mark:
    if is_best:
        return "best and newest" if is_newest else "best"
    return "newest" if is_newest else ""


def best_of(score: ScoreSummaries, checkpoints: int) -> int | None:
    """Return the index of the best mean of the first checkpoints, the newest of equal ones; None if none."""
    sign = 1 if score.higher_is_better else -1
    means = [
        (sign * summary.mean, index)
        for index, summary in enumerate(score.summaries[:checkpoints])
        if summary is not None and summary.mean is not None
    ]
    return max(means)[1] if means else None


def _fallen(score: ScoreSummaries, report: Report) -> set[int]:
    """Return the indices of the checkpoints that are shown to be worse than the best seen before them."""
    sign = 1 if score.higher_is_better else -1
    fallen, best, peak = set(), None, None
    verdicts = {
        (item.earlier, item.later): item.verdict for item in report.comparisons.get(score.address, ())
    }
    for item in report.data.groups:
        if item.address == score.address:
            verdicts[item.earlier, item.later] = item.verdict
    for index, summary in enumerate(score.summaries):
        if summary is None or summary.mean is None:
            continue
        if peak is not None and verdicts.get((peak, index)) == "worse":
            fallen.add(index)
        if best is None or sign * summary.mean >= best:
            best, peak = sign * summary.mean, index
    return fallen


def _axis_labels(report: Report) -> list[str]:
    """Return short names of checkpoints: what they do not have in common at the start."""
    parts = [re.split(r"(?<=[-_./: ])", label) for label in report.labels]
    shared = sum(1 for _ in takewhile(lambda heads: len(set(heads)) == 1, zip(*parts, strict=False)))
    return ["".join(part[shared:]) or label for part, label in zip(parts, report.labels, strict=True)]


def _point(
    score: ScoreSummaries, i: int, name: str, label: str, *, x: float, tone: Tone, mark: Mark
) -> Point:
    summary = score.summaries[i]
    if summary is None or summary.mean is None:
        return Point(x=x, label=label, value=None, hint=say("{name}: no score", name=name))
    decimals = score.decimals
    mean, words = mean_text(summary.mean, decimals), counts_in_words(summary)
    bounds = f" {minus(interval(summary.interval, decimals))}" if summary.interval else ""
    return Point(
        x=x,
        label=label,
        value=summary.mean,
        text=mean,
        interval=summary.interval,
        hint=NO_TEXT.join([f"{name}: {mean}{bounds}, ", words]),
        is_connected=_has_same_signature(score.summaries[i - 1] if i else None, summary),
        tone=tone,
        mark=mark,
    )


def _has_same_signature(previous: Summary | None, summary: Summary) -> bool:
    return previous is not None and previous.signatures == summary.signatures and len(summary.signatures) == 1


def score_chart(
    key: str, score: ScoreSummaries, title: Bilingual, report: Report, anchor: ScoreSummaries | None = None
) -> Chart:
    """Return the chart of a score over the checkpoints, with what its judge gave to the anchors."""
    scale = f" · {scale_text(score.scale)}" if score.scale else ""
    name = "" if title.en == score.name else f" · {score.name}"
    lane = None
    if anchor is not None:
        lane = course_of(anchor, report)
        lane = replace(lane, points=tuple(replace(p, mark="", tone="plain") for p in lane.points))
    return Chart(
        key=key,
        title=NO_TEXT.join([title, name, scale]),
        series=(course_of(score, report),),
        limits=(score.scale.low, score.scale.high) if score.scale else None,
        lane=lane,
        lane_title=ANCHORS,
        is_in_table=True,
    )
