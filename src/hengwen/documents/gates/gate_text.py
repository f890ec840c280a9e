"""What is said of a gate: a word, its figures, its reasons, what to do next; and how likely it is to pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hengwen.documents.missing import least_text, mend_text, missing_text
from hengwen.results.comparisons import min_clusters
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.score_id import address_of, split_address
from hengwen.text.language import COLON, COMMA, NO_TEXT, NOTED, SEMICOLON, Bilingual, both, say
from hengwen.text.numbers import (
    count,
    counted,
    decimals_for,
    interval,
    level_text,
    number,
    p_text,
    percent,
    signed,
)

if TYPE_CHECKING:
    from hengwen.monitoring.gates.results import GateReport, GateResult, TermResult
    from hengwen.monitoring.run_comparison import ScoreComparison

OUTCOMES: Mapping[str, Bilingual] = {
    "passed": Bilingual("通过", "passed"),
    "failed": Bilingual("未通过", "failed"),
    "inconclusive": Bilingual("无法判断", "inconclusive"),
    "error": Bilingual("没有得分", "not scored"),
}
NOTHING_DECIDES = Bilingual("只作警告", "only warns")
_UNCERTIFIED: Mapping[str, Bilingual] = {
    "no calibration": Bilingual("没有校准", "no calibration"),
    "not certified": Bilingual("校准未通过", "the calibration is not good enough"),
    "insufficient labels": Bilingual("标注不足", "too few labels"),
    "stale calibration": Bilingual("校准之后评审已改变", "the judge has changed since its calibration"),
}
_CALIBRATE = Bilingual(
    "请先校准：hengwen calibrate 计划 -o 文件，再加 --calibration 文件",
    "calibrate: hengwen calibrate PLAN -o FILE, then --calibration FILE",
)
_LABEL = Bilingual("请增加标注：hengwen label", "label more answers: hengwen label")
_ONLY_WARNING = Bilingual(
    "评审没有通过校准，此条件只作警告", "warning only, because the judge is not certified"
)
_NOT_COUNTED = Bilingual(
    "没有通过校准的评审不计入退出码", "judges that are not certified do not count for the exit code"
)
_REASONS: Mapping[str, Bilingual] = {
    "": NO_TEXT,
    "too uncertain": Bilingual("区间跨过界限", "undecided: the interval contains the limit"),
    "nothing scored": Bilingual("没有任何回答得分", "nothing is scored"),
    "low coverage": Bilingual(
        f"有得分的题目或回答不足 {percent(MIN_COVERAGE)}，不下结论",
        f"fewer than {percent(MIN_COVERAGE)} of the prompts, or of the answers, have a score",
    ),
    "no interval": Bilingual("无法计算区间", "no interval can be computed"),
    "low confidence": Bilingual(
        "区间的置信水平低于 95%", "the confidence level of the interval is below 95%"
    ),
    "no baseline": Bilingual("没有基线", "there is no baseline"),
    "own baseline": Bilingual("这次运行自己就是基线", "the run is its own baseline"),
    "not comparable": Bilingual("与基线不可比", "not comparable with the baseline"),
    "no values by prompt": Bilingual(
        "该分数只对整组回答给一个值，没有逐题的值",
        "the score has one value for a group of answers, none a prompt",
    ),
    "too few prompts": Bilingual("题目太少，不可能显著", "too few prompts for any result to be significant"),
    "too few checkpoints": Bilingual(
        "检查点太少，无法与检查点平常的波动区分",
        "too few checkpoints to tell a change from the usual movement of checkpoints",
    ),
    "usual movement unknown": Bilingual(
        "检查点的均值恰好在一条直线上，或之前的均值全部相同，无从得知平常波动有多大",
        "the means of the checkpoints lie on one line, or all earlier ones are equal, so the usual movement "
        "is not known",
    ),
    "order unknown": Bilingual("检查点的次序未知", "the order of the checkpoints is not known"),
    "no calibration": Bilingual("没有该分数的校准结果", "there is no calibration of this score"),
    "stale calibration": Bilingual("校准之后评审已改变", "the judge has changed since its calibration"),
    "undefined agreement": Bilingual("无法计算一致性", "the agreement is not defined"),
}
_NEXT: Mapping[str, Bilingual] = {
    "nothing scored": Bilingual("请运行：hengwen run", "run it: hengwen run"),
    "no interval": Bilingual(
        "请改用有量表、逐题取值的分数", "name a score with a scale and values by prompt"
    ),
    "low confidence": Bilingual("请把评分器的 level 设为 0.95", "set level: 0.95 for the scorer in the plan"),
    "no baseline": Bilingual(
        "请指定：hengwen runs pin 运行，或 --baseline 运行",
        "pin one: hengwen runs pin RUN, or name one: --baseline RUN",
    ),
    "own baseline": Bilingual("请固定一次较早的运行", "pin an earlier run: hengwen runs pin RUN"),
    "not comparable": Bilingual("请用相同设置运行两者", "run both with the same settings"),
    "no values by prompt": Bilingual("请改用逐题的分数", "name a score that has values by prompt"),
    "too few checkpoints": Bilingual("至少需要 5 个检查点", "at least 5 checkpoints are needed"),
    "usual movement unknown": Bilingual("请在下一个检查点之后再检验", "test again after the next checkpoint"),
    "order unknown": Bilingual("请在计划中写明 step", "set step: in the plan"),
    "no calibration": _CALIBRATE,
    "stale calibration": _CALIBRATE,
    "undefined agreement": _LABEL,
}

MAX_DECIMALS = 6
"""Largest number of decimals that tells a value from its limit."""


def gate_word(gate: GateResult) -> Bilingual:
    """Return the outcome of a gate as a word, such as "failed"; "warning (failed)" if the gate only warns."""
    word = OUTCOMES[gate.outcome]
    return Bilingual("警告（{}）", "warning ({})").format(word) if is_warning(gate) else word


def is_warning(gate: GateResult) -> bool:
    """Return whether a gate failed or is inconclusive, but the exit code ignores this outcome."""
    return gate.only_warns and gate.outcome not in ("passed", "error")


def gate_details(gate: GateResult) -> Bilingual:
    """Return the figures of a gate, its reasons and what to do next, on one line."""
    return SEMICOLON.join(gate_texts(gate))


def gate_texts(gate: GateResult) -> Iterator[Bilingual]:
    """Yield what is said of each condition of a gate, and which of its judges are not certified."""
    several = len(gate.terms) > 1
    yield from (_term_text(term, with_name=several) for term in gate.terms)
    if gate.uncertified and gate.tier == "fail":
        yield _certificate_note(gate)


def _certificate_note(gate: GateResult) -> Bilingual:
    """Return which judges are not certified, what that means for the gate, and how to certify them."""
    judges = {
        address_of(score.task, score.source): _UNCERTIFIED[reason]
        for score, reason in gate.uncertified.items()
    }
    listed = COMMA.join(Bilingual("{} {}", "{}: {}").format(*item) for item in judges.items())
    note = _ONLY_WARNING if gate.enforced is None else _NOT_COUNTED
    reasons = {*gate.uncertified.values()}
    parts = [NOTED.format(note, listed)]
    if "insufficient labels" in reasons:
        parts.append(_LABEL)
    if reasons & {"no calibration", "stale calibration"}:
        parts.append(_CALIBRATE)
    return COMMA.join(parts)


def report_title(report: GateReport) -> str:
    """Return the name of the plan and of the run."""
    return f"{report.plan}: {report.run.checkpoint} ({report.run.id})"


def _term_text(term: TermResult, *, with_name: bool) -> Bilingual:
    reason = _coverage_text(term) if term.missing and term.reason == "low coverage" else _REASONS[term.reason]
    if term.detail:
        reason = NO_TEXT.join([reason, f" ({term.detail})"])
    text = COMMA.join(part for part in (_figures(term), reason, _next_step(term)) if any(part))
    return COLON.join([term.text, text]) if with_name else text


def _coverage_text(term: TermResult) -> Bilingual:
    """Return which runs lack scores, between which ends their means lie, and that this allows no verdict."""
    decimals = max(
        2, decimals_for(term.scale, [value for item in term.missing for value in item.bounds or ()])
    )
    several = len({item.address for item in term.missing}) > 1
    texts = []
    for item in term.missing:
        name = f"{item.checkpoint} {item.address}" if several else item.checkpoint
        texts.append(missing_text(name, item.prompts, item.answers, item.bounds, decimals))
    return SEMICOLON.join([*texts, least_text()])


def reason_text(term: TermResult) -> Bilingual:
    """Return why a condition has no figures, and what to do next."""
    return SEMICOLON.join(part for part in (_REASONS[term.reason], _next_step(term)) if any(part))


def _figures(term: TermResult) -> Bilingual:
    if term.kind == "no_drop":
        return _fall_figures(term)
    if term.value is None or term.prompts is None:
        return NO_TEXT
    return _value_figures(term, term.value, term.prompts)


def term_decimals(term: TermResult) -> int:
    """Return the decimals of a condition: as many as tell its value and interval from its limit."""
    decimals = 2 if term.kind == "calibration" else decimals_for(term.scale, [term.value])
    ends = [end for end in (term.value, *(term.interval or ())) if end is not None and end != term.limit]
    while decimals < MAX_DECIMALS and any(round(end, decimals) == term.limit for end in ends):
        decimals += 1
    return decimals


def _value_figures(term: TermResult, value: float, n: int) -> Bilingual:
    if term.kind == "coverage":
        prompts, answers = (percent(share or 0.0) for share in (term.prompt_coverage, term.answer_coverage))
        return Bilingual(
            f"{prompts} 的题（{n} 题）、{answers} 的回答有得分",
            f"{prompts} of the prompts ({counted(n, 'prompt')}) and {answers} of the answers have a score",
        )
    decimals = term_decimals(term)
    figures = f"{number(value, decimals)}{_bounds(term, decimals)}"
    if term.kind == "calibration":
        return Bilingual(
            f"与人工标注的一致性（二次加权 kappa）{figures}，{n} 个标注",
            f"agreement with people (quadratic kappa) {figures}, {n} labels",
        )
    if term.kind == "score":
        return COMMA.join([figures, Bilingual(f"{n} 题", counted(n, "prompt"))]) if n else both(figures)
    fine = max(2, decimals)
    figures = f"{signed(value, fine)}{_bounds(term, fine)}"
    return Bilingual(
        f"与 {baseline_name(term)} 相差 {figures}，{n} 题{_level(term).zh}",
        f"difference from {baseline_name(term)} {figures}, {counted(n, 'prompt')}{_level(term).en}",
    )


def _fall_figures(term: TermResult) -> Bilingual:
    if not term.scores:
        return NO_TEXT
    falls = [score for score in term.scores if score.outcome == "worse"]
    tested = [score for score in term.scores if score.test is not None]
    texts = COMMA.join(_fall_text(score) for score in falls or tested)
    baseline = baseline_name(term)
    if falls:
        head = Bilingual(f"比 {baseline} 显著变差", f"significantly worse than {baseline}")
    elif term.outcome == "passed":
        head = Bilingual(f"与 {baseline} 相比未见变差", f"no fall seen from {baseline}")
    else:
        head = Bilingual(f"与 {baseline} 的差别", f"difference from {baseline}")
    n = term.prompts or 0
    return Bilingual(
        f"{head.zh}：{texts.zh}；{n} 题{_level(term).zh}",
        f"{head.en}: {texts.en}; {counted(n, 'prompt')}{_level(term).en}",
    )


def _fall_text(score: ScoreComparison) -> Bilingual:
    test = score.test
    assert test is not None  # callers pass only scores with a test
    decimals = max(2, decimals_for(score.scale, [test.difference]))
    p = "" if score.p_adjusted is None else f" {p_text(score.p_adjusted)}"
    text = f"{score.address} {signed(test.difference, decimals)}{p}"
    if score.outcome == "worse" or score.detectable is None:
        return both(text)
    value = number(score.detectable, decimals)
    return NOTED.format(
        text, Bilingual(f"可检出的最小差别 {value}", f"smallest detectable difference {value}")
    )


def _next_step(term: TermResult) -> Bilingual:
    if term.reason == "too uncertain" and term.kind == "calibration":
        return _NEXT["undefined agreement"]
    if term.reason == "too uncertain":
        if term.needed_prompts is None:
            return say("more prompts are needed")
        return say("about {n} prompts are needed", n=count(term.needed_prompts))
    if term.reason == "too few prompts" and term.level is not None:
        tasks = {split_address(score.address)[0] for score in term.scores}
        clusters = min_clusters(max(1, len(tasks)), term.level)
        return Bilingual(
            f"至少需要 {clusters} 个互相独立的题目", f"at least {clusters} independent prompts are needed"
        )
    if term.failures or (term.reason == "low coverage" and term.kind == "score"):
        return mend_text(term.failures)
    return _NEXT.get(term.reason, NO_TEXT)


def _level(term: TermResult) -> Bilingual:
    if term.level is None or term.look is None:
        return NO_TEXT
    level = level_text(term.level)
    return Bilingual(
        f"，显著性水平 {level}（第 {term.look} 次与此基线比较）",
        f", significance level {level} (run {term.look} tested against this baseline)",
    )


def baseline_name(term: TermResult) -> str:
    """Return the checkpoint of the baseline; empty if there is none."""
    return "" if term.baseline is None else term.baseline.checkpoint


def _bounds(term: TermResult, decimals: int) -> str:
    return "" if term.interval is None else f" {interval(term.interval, decimals)}"
