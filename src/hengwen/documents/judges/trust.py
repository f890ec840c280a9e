"""One line for each judge: what kind it is, how it was tested, how it agrees with people, and its anchors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from hengwen.documents.blocks import Tone, Verdict
from hengwen.documents.judges.calibration_words import DECISIONS, WITHIN
from hengwen.documents.judges.doctor import DECISIONS as ADMISSIONS
from hengwen.documents.judges.doctor import OF_CHECKS, attack_words, check_words
from hengwen.judges.calibration.statistics import Estimate
from hengwen.judges.trust.admission_report import AdmissionRecord
from hengwen.monitoring.judge_trust import JudgeTrust, KnownAgreement, PanelMember
from hengwen.text.language import COLON, COMMA, LIST_COMMA, MIDDLE_DOT, NOTED, SEMICOLON, Bilingual
from hengwen.text.numbers import count, counted, interval, minus, number, one_line

_KINDS = {
    "rules": Bilingual("按规则评审，不是语言模型", "by rules, not by a language model"),
    "imported": Bilingual("由别的工具给分", "scores of another tool"),
    "named": Bilingual("只知道名字", "only its name is known"),
}
_OF_PAIRS = ("pairs", "named")
"""Kinds of judges that compare two answers."""
_JUDGES = Bilingual("评审", "Judges")
_NEVER_TESTED = Bilingual("从未检验", "never tested")
_NO_PEOPLE = Bilingual(
    "没有人的判定（--human 只比较排名）", "people: no verdicts (--human compares rankings only)"
)
_UNTESTED_ON_PAIRS = Bilingual(
    "单独评判一个回答时已准入，两两比较未经检验", "admitted on single answers, untested on pairs"
)
_BY_DOUBT: tuple[Tone, ...] = ("plain", "open", "untested", "rejected")
_NO_ANCHORS = Bilingual("没有锚点", "no anchors")
_UNKNOWN = Bilingual("已准入，与人的一致性未知", "admitted, agreement with people not known")
_TESTED = {
    ("admitted", "certified"): Bilingual("已准入，通过校准", "admitted and certified"),
    ("admitted", "insufficient"): _UNKNOWN,
    ("admitted", ""): _UNKNOWN,
    ("", "certified"): Bilingual("通过校准，准入未知", "certified, admission not known"),
    ("inconclusive", "certified"): Bilingual("通过校准，准入未定", "certified, admission inconclusive"),
}
"""Words for the verdict of an admission test and the decision of a calibration; empty if there was none."""
MOVED = 0.005
"""Means of anchors that differ by less than this are printed as equal."""


def trust_verdicts(
    judges: Sequence[JudgeTrust],
    counts: Mapping[str, int] = MappingProxyType({}),
    *,
    has_commands: bool = True,
) -> tuple[Verdict, ...]:
    """Return one line for each judge, with the number of its verdicts if ``counts`` has its name.

    With ``has_commands``, it says how to find out what is not known.
    """
    return tuple(_verdict(judge, counts.get(judge.judge), has_commands=has_commands) for judge in judges)


def trust_summary(judges: Sequence[JudgeTrust]) -> Verdict:
    """Return one line for many judges: how many of them have which state."""
    states = Counter(_state(judge) for judge in judges)
    (tone, _), _ = max(states.items(), key=lambda item: _BY_DOUBT.index(item[0][0]))
    if len(states) == 1:
        (_, word), n = states.popitem()
        sentence = Bilingual("共 {} 位，均{}。", "all {} {}.").format(n, word)
        return Verdict(tone=tone, subject=_JUDGES, sentence=sentence)
    numbered = Bilingual("{} 位{}", "{} {}")
    listed = LIST_COMMA.join(numbered.format(n, word) for (_, word), n in states.most_common())
    sentence = Bilingual("共 {} 位，{}。", "of {}, {}.").format(len(judges), listed)
    return Verdict(tone=tone, subject=_JUDGES, sentence=sentence)


def trust_record(judges: Sequence[JudgeTrust]) -> list[dict[str, Any]]:
    """Return what is known of judges as plain values, ready for JSON."""
    return [
        {
            **asdict(judge),
            "anchors": [anchor._asdict() for anchor in judge.anchors],
            "members": [member._asdict() for member in judge.members],
        }
        for judge in judges
    ]


def _verdict(judge: JudgeTrust, verdicts: int | None, *, has_commands: bool) -> Verdict:
    tone, word = _state(judge)
    parts = [*_kind(judge), *_admission(judge), *_people(judge)]
    if verdicts is not None:
        parts.insert(1, Bilingual(f"{count(verdicts)} 条判定", counted(verdicts, "verdict")))
    if judge.kind not in _OF_PAIRS:
        parts.append(_anchors(judge))
    if judge.rubric:
        parts.append(Bilingual(f"评分标准 {judge.rubric}", f"rubric {judge.rubric}"))
    commands = "; ".join(_commands(judge)) if has_commands else ""
    if commands:
        parts.append(Bilingual(f"检验：{commands}", f"to test: {commands}"))
    name = one_line(f"{judge.task}/{judge.judge}" if judge.task else judge.judge, 80)
    return Verdict(
        tone=tone,
        subject=Bilingual(f"评审 {name}", f"judge {name}"),
        sentence=COLON.join([word, MIDDLE_DOT.join(parts)]),
    )


def _state(judge: JudgeTrust) -> tuple[Tone, Bilingual]:
    """Return the verdict on a judge; a judge without evidence looks no better than one that failed."""
    admission = "" if judge.admission is None else judge.admission.verdict
    agreement = "" if judge.agreement is None else judge.agreement.decision
    if admission == "not admitted":
        return "rejected", Bilingual("未准入", "not admitted")
    if agreement == "not certified":
        return "rejected", DECISIONS["not certified"]
    if not (admission or agreement or any(member.verdict for member in judge.members)):
        return "untested", _NEVER_TESTED
    if judge.kind in _OF_PAIRS and admission == "admitted":
        return "open", _UNTESTED_ON_PAIRS
    if (admission, agreement) == ("admitted", "certified"):
        return "plain", _TESTED[admission, agreement]
    word = _TESTED.get((admission, agreement))
    return ("untested", Bilingual("几乎未经检验", "hardly tested")) if word is None else ("open", word)


def _kind(judge: JudgeTrust) -> Iterator[Bilingual]:
    if judge.members:
        yield Bilingual("评审团：{}", "panel of {}").format(LIST_COMMA.join(map(_member, judge.members)))
    elif judge.kind in _KINDS:
        yield _KINDS[judge.kind]
    else:
        names = ", ".join(one_line(name, 80) for name in judge.models) or one_line(judge.doctor_name, 80)
        yield Bilingual(f"模型 {names}" if names else "模型名未知", f"model {names or 'unknown'}")


def _member(member: PanelMember) -> Bilingual:
    word = ADMISSIONS[member.verdict][0] if member.verdict else _NEVER_TESTED
    return NOTED.format(one_line(member.name, 80), word)


def _admission(judge: JudgeTrust) -> Iterator[Bilingual]:
    record = judge.admission
    if judge.members and all(member.verdict for member in judge.members):
        return
    if record is None:
        yield Bilingual("未做准入测试", "admission never tested")
        return
    result = NOTED.format(ADMISSIONS[record.verdict][0], _counts(record))
    yield Bilingual("准入测试 {}：{}", "admission {}: {}").format(record.tested[:10], result)
    if record.attacks:
        words = attack_words(record.fooled, record.informative, record.attacks)
        yield COLON.join([Bilingual("攻击", "attacks"), words])


def _commands(judge: JudgeTrust) -> Iterator[str]:
    """Yield the commands that find out what is not known of a judge."""
    is_tested = judge.members and all(member.verdict for member in judge.members)
    if judge.admission is None and not is_tested:
        yield f"hengwen doctor {judge.doctor_options}"
    if judge.agreement is None and judge.kind not in (*_OF_PAIRS, "imported"):
        yield "hengwen label PLAN"


def _counts(record: AdmissionRecord) -> Bilingual:
    """Return the counts of the checks that failed; if none failed, those of all trials together."""
    failed = [
        name for name, status in record.problems.items() if status == "failed" and name in record.checks
    ]
    if failed:
        return SEMICOLON.join(OF_CHECKS.format(check_words(name), *record.checks[name]) for name in failed)
    passed, n = (sum(counts[i] for counts in record.checks.values()) for i in range(2))
    return Bilingual(f"{n} 项中通过 {passed} 项", f"passed {passed} of {n} trials")


def _people(judge: JudgeTrust) -> Iterator[Bilingual]:
    if judge.is_stale:
        yield Bilingual(
            "校准已失效（评审或评分标准已变）", "the calibration is stale (judge or rubric changed)"
        )
    agreement = judge.agreement
    if agreement is not None:
        words = COMMA.join([_kappas(agreement), DECISIONS[agreement.decision]])
        yield COLON.join([Bilingual("与人", "people"), words])
    elif judge.kind in _OF_PAIRS:
        yield _NO_PEOPLE
    elif judge.kind == "imported":
        yield Bilingual("没有人工标注（导入时用 rater 一列）", "people: no labels (import a column rater)")
    else:
        yield Bilingual("没有人工标注", "people: no labels")


def _kappas(agreement: KnownAgreement) -> Bilingual:
    n = agreement.n
    kappa = Bilingual("{0} 个标注，kappa {1}", "kappa {1} on {2}").format(
        count(n), _estimate(agreement.kappa), counted(n, "label")
    )
    if agreement.within is None:
        return kappa
    within = Bilingual("{0} {1}", "{1} {0}").format(WITHIN, _estimate(agreement.within))
    return COMMA.join([kappa, within])


def _estimate(estimate: Estimate) -> str | Bilingual:
    if estimate.value is None:
        return Bilingual("无定义", "undefined")
    low, high = estimate.low, estimate.high
    ends = "" if low is None or high is None else f" {minus(interval((low, high), 2))}"
    return f"{minus(number(estimate.value, 2))}{ends}"


def _anchors(judge: JudgeTrust) -> Bilingual:
    if not judge.anchors:
        return _NO_ANCHORS
    means = [anchor.mean for anchor in judge.anchors]
    first, last, n = number(means[0], 2), number(means[-1], 2), judge.anchors[-1].n
    if len(means) == 1:
        return Bilingual(f"{n} 个锚点的均值 {first}", f"anchors {first} (n={n})")
    if max(means) - min(means) < MOVED:
        return Bilingual(f"{n} 个锚点每次都是 {first}", f"anchors {first} in every run (n={n})")
    return Bilingual(f"{n} 个锚点 {first} → {last}", f"anchors {first} → {last} (n={n})")
