"""The first screen of runs: the decision, one line for each headline score and one for each judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf

from hengwen.documents.blocks import (
    Bar,
    Block,
    Decision,
    ScoreLine,
    Scores,
    Sentence,
    Text,
    Tone,
    Value,
    Verdict,
)
from hengwen.documents.cells import (
    CANNOT_TELL,
    ScoreName,
    bar_limits,
    cannot_tell_text,
    detectable_text,
    difference_text,
    family_text,
    mean_text,
    reward_verdicts,
    score_names,
    value_text,
)
from hengwen.documents.decision import DecisionWords, PromptChanges
from hengwen.documents.groups import at_equal_length
from hengwen.documents.judges.trust import trust_verdicts
from hengwen.documents.run.courses import best_of, comparison_note, course_of
from hengwen.documents.run.failures import failure_findings
from hengwen.documents.run.report import Report
from hengwen.documents.standings import and_list
from hengwen.results.aggregate import Summary
from hengwen.results.comparisons import Comparison, family_size
from hengwen.results.decide import ScoreDecision
from hengwen.results.group_comparison import GroupComparison
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.text.language import COLON, COMMA, MIDDLE_DOT, SEMICOLON, SENTENCE, SPACE, Bilingual, say
from hengwen.text.numbers import p_text, scale_text

WORDS: Mapping[str, tuple[Tone, Bilingual]] = {
    "worse": ("worse", say("fallen")),
    "better": ("better", say("risen")),
    "mean undecided": ("open", say("mean undecided")),
    "no difference seen": ("none", say("no difference seen")),
    "too few": ("open", CANNOT_TELL),
    "nothing scored": ("open", say("nothing scored")),
    "one checkpoint": ("plain", say("one checkpoint")),
    "not comparable": ("open", say("settings differ")),
    "order unknown": ("open", say("order unknown")),
    "missing answers": ("open", say("missing answers")),
    "not tested": ("open", say("not tested")),
}
"""Tone and words of what is known of the newest checkpoint."""
WEIGHTS: Mapping[Tone, int] = {"worse": 0, "better": 1}
"""The lines that matter most come first."""
MEAN = say("mean")
COMPARED = say("best seen before → newest")
LEGEND = say(
    "◆ best seen (the best of several, so overstated) · ○ newest · ▼ fallen from the best seen "
    "before · band: 95% interval of the mean. Bar left of 0: worse. Thick line: 95% of this test "
    "alone; thin, where longer: corrected for all {} tests. Where the line touches 0, no "
    "difference is claimed."
)
CANNOT = say("Cannot be told")
CHECK = say("Check")


def first_screen(report: Report, links: Mapping[str, str] | None = None) -> Decision:
    """Return the first screen; ``links`` has the key of the block with the prompts that fell, by address."""
    names = score_names((score.address for score in report.scores), report.data.runs)
    decimals = {score.address: score.decimals for score in report.scores}
    words = DecisionWords(
        report.decision, decimals, names, _prompt_changes(report), links, _uninformative(report)
    )
    tests = family_size(item for items in report.comparisons.values() for item in items)
    lines = sorted(_lines(report, names), key=lambda line: WEIGHTS.get(line.tone, len(WEIGHTS)))
    chosen = report.decision.checkpoint
    return words.block(
        scores=Scores(
            key="scores",
            lines=tuple(lines),
            compared=COMPARED if len(report.labels) > 1 else MEAN,
            chosen=chosen,
            legend=(LEGEND.format(tests),) if tests else (),
        )
        if lines
        else None,
        further=(*_too_few(report, names), *_doubts(report, names), *reward_verdicts(names)),
        judges=trust_verdicts(report.judges, has_commands=report.data.is_kept),
        details=tuple(_details(report, names)),
    )


def _uninformative(report: Report) -> set[str]:
    """Return the addresses of the scores that can hardly tell checkpoints apart."""
    return {finding.address for finding in report.findings if finding.short}


def _untested(report: Report) -> set[str]:
    """Return the addresses of the scores that nobody can test, where that leaves nothing to decide."""
    if report.decision.checkpoint:
        return set()
    return {score.address for score in report.decision.scores if score.problem == "not tested"}


def _doubts(report: Report, names: Mapping[str, ScoreName]) -> Iterator[Verdict]:
    """Yield what cannot be compared or told, and which scores hardly tell checkpoints apart."""
    untested = _untested(report)
    for finding in (*report.findings, *failure_findings(report)):
        is_untested = finding.address in untested and not finding.is_alarm
        if finding.is_alarm or finding.short or is_untested:
            tone, subject = finding.tone, CANNOT if finding.tone == "open" else CHECK
            if finding.short or is_untested:
                tone, word = WORDS[_verdict(report.decisions[finding.address])]
                subject = word.capitalized
            yield Verdict(
                tone=tone,
                subject=subject,
                sentence=_about(finding.address, finding.short or finding.text, names),
                link=finding.link if finding.link and report.has_rows(finding.link.rows) else None,
            )


def _too_few(report: Report, names: Mapping[str, ScoreName]) -> Iterator[Verdict]:
    """Yield in which scores no difference could have been seen, for each reason."""
    by_reason: dict[Bilingual, list[Bilingual]] = {}
    uninformative, changes = _uninformative(report), _prompt_changes(report)
    for decided in report.decision.scores:
        pair = newest_pair(report, decided.address)
        if pair is not None and decided.newest == "too few" and decided.address not in uninformative:
            moved = changes.get(decided.address)
            all_differ = moved is not None and moved.better + moved.worse == moved.prompts
            reason = cannot_tell_text(pair.clusters, all_differ=all_differ)
            by_reason.setdefault(reason, []).append(names[decided.address].words)
    for reason, listed in by_reason.items():
        yield Verdict(tone="open", subject=reason.capitalized, sentence=SENTENCE.format(and_list(listed)))


def _about(address: str, text: Bilingual, names: Mapping[str, ScoreName]) -> Bilingual:
    name = names[address].words if address in names else address
    return SENTENCE.format(COLON.join([name, text]))


def _details(report: Report, names: Mapping[str, ScoreName]) -> Iterator[Block]:
    untested = _untested(report)
    for finding in report.findings:
        if finding.short or not (finding.is_alarm or finding.address in untested):
            yield Sentence(text=_about(finding.address, finding.text, names), tone=finding.tone)
    if family_size(item for items in report.comparisons.values() for item in items):
        yield Sentence(text=comparison_note(report), is_note=True)


def _prompt_changes(report: Report) -> dict[str, PromptChanges]:
    """Return on how many prompts the newest is better and worse than the best seen before it."""
    changes = {}
    for course in report.courses:
        series, pair = course.series, newest_pair(report, course.address)
        if series is None or pair is None:
            continue
        differences, _ = series.between(pair.earlier, pair.later)
        risen, fallen = int((differences > 0).sum()), int((differences < 0).sum())
        better, worse = (risen, fallen) if course.higher_is_better else (fallen, risen)
        changes[course.address] = PromptChanges(better, worse, len(differences))
    return changes


def newest_pair(report: Report, address: str) -> Comparison | None:
    """Return the test of the newest checkpoint against the best seen before it."""
    decided = next((score for score in report.decision.scores if score.address == address), None)
    if decided is None or not decided.peak:
        return None
    earlier, later = report.labels.index(decided.peak), len(report.labels) - 1
    items = report.comparisons.get(address, ())
    return next((item for item in items if (item.earlier, item.later) == (earlier, later)), None)


def _lines(report: Report, names: Mapping[str, ScoreName]) -> Iterator[ScoreLine]:
    scores = {score.address: score for score in report.scores}
    for decided in report.decision.scores:
        score = scores[decided.address]
        pair = newest_pair(report, decided.address)
        groups = [item for item in report.data.groups if item.address == decided.address]
        line = _line(report, decided, score, names[decided.address])
        if pair is not None:
            tests = decided.tests if family_size([pair]) else 0
            yield _tested(line, pair, score, family_text(tests))
        elif groups:
            yield replace(_of_groups(line, groups, report, score), family=family_text(decided.tests))
        else:
            yield line


def _line(report: Report, decided: ScoreDecision, score: ScoreSummaries, name: ScoreName) -> ScoreLine:
    """Return the line of a score without a test."""
    decimals = score.decimals
    summary = score.summaries[-1]
    newest = summary.mean if summary else None
    peak = best_of(score, len(report.labels) - 1)
    before = score.summaries[peak] if peak is not None else None
    alone = len(report.labels) == 1 and newest is not None
    chosen = _chosen(report, score)
    low, high = (chosen.interval if chosen else None) or (None, None)
    problem = "one checkpoint" if alone else _verdict(decided)
    tone, word = WORDS[problem]
    is_judged = score.kind == "judge" and name.is_known
    return ScoreLine(
        key=f"score-{decided.address}",
        name=COMMA.join([name.head, say("judged")]) if is_judged else name.head,
        address=_address(score, report),
        scale=_scale(score),
        course=course_of(score, report) if len(report.labels) > 1 else None,
        before=mean_text(before.mean, decimals) if before else "",
        after=value_text(summary, decimals, has_interval=alone) if summary else "",
        answers=(
            report.answers_of(score, peak) if peak is not None else None,
            report.answers_of(score, len(report.labels) - 1),
        ),
        before_name=report.labels[peak] if peak is not None else "",
        after_name=report.labels[-1],
        chosen="" if chosen is None else value_text(chosen, decimals),
        tone=tone,
        word=word,
        values={
            "before": before.mean if before else None,
            "after": newest,
            "chosen": None if chosen is None else chosen.mean,
            "chosen_low": low,
            "chosen_high": high,
            "p": None,
            "prompts": None,
            "verdict": problem,
        },
    )


def _verdict(decided: ScoreDecision) -> str:
    """Return what is known of the newest checkpoint: its verdict, or why there is none."""
    return decided.newest or decided.problem or "missing answers"


def _chosen(report: Report, score: ScoreSummaries) -> Summary | None:
    """Return the values of the checkpoint to ship or keep; None if nothing was decided."""
    chosen = report.decision.checkpoint
    return score.summaries[report.labels.index(chosen)] if chosen else None


def _address(score: ScoreSummaries, report: Report) -> str:
    """Return the address of a score, without the task if no other task has a score of this name."""
    names = [item.name for item in report.scores]
    return score.name if names.count(score.name) == 1 else score.address


def _scale(score: ScoreSummaries) -> Text:
    scale, lower = scale_text(score.scale), say("lower is better")
    if score.higher_is_better:
        return scale
    return MIDDLE_DOT.join([scale, lower]) if scale else lower


def _tested(line: ScoreLine, pair: Comparison, score: ScoreSummaries, family_words: Bilingual) -> ScoreLine:
    decimals, difference = score.decimals, pair.test.difference
    family = pair.family_interval or (-inf, inf)
    values: dict[str, Value] = {
        "p": pair.p_adjusted,
        "p_alone": pair.test.p,
        "family_low": None if pair.family_interval is None else family[0],
        "family_high": None if pair.family_interval is None else family[1],
        "prompts": pair.prompts,
        "clusters": pair.clusters,
    }
    claimed = pair.family_interval or pair.interval
    ends = difference_text(difference, claimed, decimals)
    detectable = detectable_text(pair.detectable, decimals, pair.clusters, pair.prompts)
    alone = difference_text(difference, pair.interval, decimals)
    units = say("{} prompts")
    if pair.clusters != pair.prompts:
        units = say("{} prompts in {} clusters")
    units = units.format(pair.prompts, pair.clusters)
    this_alone = say("this comparison alone")
    facts = (
        units,
        COMMA.join([SPACE.join([this_alone, alone]), p_text(pair.test.p)]),
        COMMA.join([SPACE.join([family_words, ends]), p_text(pair.p_adjusted)]),
        detectable,
    )
    return replace(
        line,
        bar=Bar(
            value=difference,
            interval=pair.interval,
            family_interval=family,
            limits=bar_limits(difference, pair.interval, pair.family_interval),
            lower_is_better=not score.higher_is_better,
        ),
        difference=ends,
        p=p_text(pair.p_adjusted),
        family=family_words,
        prompts=units,
        values={**line.values, **values},
        details=(SENTENCE.format(SEMICOLON.join(facts)),),
    )


def _of_groups(
    line: ScoreLine, groups: list[GroupComparison], report: Report, score: ScoreSummaries
) -> ScoreLine:
    """Return the line of a score of whole sets: the newest against the best seen before it that is tested."""
    newest = [item for item in groups if item.later == len(report.labels) - 1]
    peak = best_of(score, len(report.labels) - 1)
    item = next((item for item in newest if item.earlier == peak), newest[-1] if newest else None)
    if item is None:
        return line
    decimals = score.decimals
    tone, word = WORDS[item.verdict]
    summaries = score.summaries
    before = summaries[item.earlier]
    return replace(
        line,
        before=mean_text(before.mean, decimals) if before else "",
        before_name=report.labels[item.earlier],
        difference=at_equal_length(item, decimals),
        p=p_text(item.p_adjusted),
        prompts=say("{units} prompts", units=item.test.units),
        tone=tone,
        word=word,
        values={
            **line.values,
            "before": before.mean if before else None,
            "p": item.p_adjusted,
            "p_alone": item.test.p,
            "prompts": item.test.units,
            "verdict": item.verdict,
        },
    )
