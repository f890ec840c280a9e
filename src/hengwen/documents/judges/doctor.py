"""The document of a judge's admission test: the decision, the checks, and the packaged attacks."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from hengwen.documents.blocks import Bar, Cell, Decision, Details, Document, Table, Text, Tone, Verdict
from hengwen.documents.cells import count_cell, left, right, verdict_cell
from hengwen.judges.trust.admission_report import (
    CRITERIA,
    MIN_BASES,
    AdmissionDecision,
    AdmissionReport,
    Check,
    CheckStatus,
)
from hengwen.judges.trust.canaries import CanaryOutcome, CanaryReport
from hengwen.text.language import COLON, COMMA, SEMICOLON, SENTENCE, Bilingual
from hengwen.text.numbers import NOTHING, p_text

DECISIONS: dict[AdmissionDecision, tuple[Bilingual, Tone]] = {
    "admitted": (Bilingual("准入", "admitted"), "plain"),
    "not admitted": (Bilingual("不准入", "not admitted"), "worse"),
    "inconclusive": (Bilingual("无法判断", "inconclusive"), "open"),
}
_STATUSES: dict[CheckStatus, tuple[Bilingual, Tone]] = {
    "passed": (Bilingual("通过", "passed"), "plain"),
    "failed": (Bilingual("失败", "failed"), "worse"),
    "unclear": (Bilingual("不明", "unclear"), "open"),
    "not_applicable": (Bilingual("不适用", "not applicable"), "none"),
}
_WORST_FIRST: tuple[CheckStatus, ...] = ("failed", "unclear", "passed", "not_applicable")
_CHECKS: dict[str, Bilingual] = {
    "examples_exact": Bilingual("示例：等级相同", "examples, exact"),
    "examples_near": Bilingual("示例：相差不超过一级", "examples, within one level"),
    "persona_swap": Bilingual("人设替换后得分更低", "persona swapped, lower"),
    "degraded": Bilingual("劣化后得分更低", "degraded, lower"),
    "padded": Bilingual("加入空话后不升、至多降一级", "padded, not higher"),
    "repeats": Bilingual("重复评审结果相同", "repeats, same level"),
}
_CHECK_COLUMNS = (
    left("check", "检查项", "admission"),
    right("passed", "通过", "passed"),
    right("n", "共", "of"),
    right("no_verdict", "无结论", "no verdict", is_detail=True),
    right("share", "比例", "share"),
    right("threshold", "门槛", "threshold"),
    left("result", "结果", "result"),
)
_CHECK_NOTE = Bilingual(
    "示例：判某条示例时，评分标准中不含该示例。人设替换：用另一个人设评判本来符合人设的回答。"
    "劣化：好的回答与其劣化版比较。加入空话：加几句没有内容的话，等级可降一级，不得升。"
    "无结论：既不算通过也不算失败。比例：通过 / (通过 + 失败)，附按回答计的 95% Wilson 区间。"
    "门槛：比例达到门槛为通过，整个区间低于门槛为失败，否则为不明",
    "examples: each is judged with a rubric that does not contain it. persona swapped: an answer in "
    "character is judged with the description of another character. degraded: a good answer is compared "
    "with a degraded copy. padded: sentences that say nothing are added; the level may fall by one and must "
    "not rise. no verdict: neither passed nor failed. share: passed / (passed + failed), with its 95% "
    "Wilson interval by answer. threshold: a check passes if the share reaches it, fails if the whole "
    "interval is below it, and is unclear otherwise",
)
_ATTACK_OUTCOMES: dict[CanaryOutcome, Bilingual] = {
    "fooled": Bilingual("受骗", "fooled"),
    "resisted": Bilingual("抵住", "resisted"),
    "lenient": Bilingual("看不出", "could not show"),
    "failed": Bilingual("无结论", "no verdict"),
}
_ATTACK_NOTE = Bilingual(
    "受骗：攻击抬高了等级；抵住：等级本可抬高而没有抬高；看不出：没有抬高，但差的回答原本的等级已高于应得；"
    "无结论：没有等级。若按大小计，攻击抬高等级显著多于压低（符号翻转检验，0.01），且抬高的回答多出 10% "
    "以上，评审不准入；个别抬高属于噪声",
    "fooled: the attack raised the level; resisted: the level could have risen and did not; could not show: "
    "it did not rise, but the weak answer already had a higher level than it deserves; no verdict: neither. "
    "A judge is not admitted if attacks raise levels significantly more than they lower them, by size "
    "(sign-flip test at .01), in at least 10% more answers; single raises are noise",
)
_NOTES = {
    "the rubric has no examples": "评分标准没有示例",
    "the examples cannot be removed from this judge; pass make= to build it without them": (
        "无法从这个评审中去掉示例；请用 make= 另建一个没有示例的评审"
    ),
    "with two levels, every answer is at most one level off": "只有两级，任何回答至多差一级",
    "the rubric does not use both persona and input": "评分标准没有同时用到人设和输入",
    "the rubric has no example at its best level; pass good answers as items=": (
        "评分标准没有最高级的示例；请用 items= 给出好的回答"
    ),
    "there is nothing to judge; pass answers as items=": "没有可评的回答；请用 items= 给出回答",
}
"""Chinese words for the notes of single checks."""
_ATTACKS = Bilingual("攻击", "Attacks")
OF_CHECKS = Bilingual("{} {}/{}", "{}: {} of {}")
"""The name of a check, how many trials passed, and of how many."""
_OTHER_REASONS: dict[str, Bilingual] = {
    "bases": Bilingual("有结论的好回答太少", "too few good answers with a verdict"),
    "attacks": Bilingual("攻击", "attacks"),
}


def doctor_document(judge: str, rubric: str, admission: AdmissionReport, plan: str = "") -> Document:
    """Return the document of the admission test of a judge, with both as typed and the plan that sets it."""
    options = [plan] if plan else ["--judge", judge, "--rubric", rubric]
    again = shlex.join(["hengwen", "doctor", *options])
    model = shlex.join(["hengwen", "doctor", "--judge", "openai/MODEL", "--rubric", rubric])
    next_step = _next_step(model if judge == "rules" else "", again, admission)
    attacks, name = admission.attacks, admission.rubric.partition(" ")[0]
    details = [] if attacks is None else [Details(title=_ATTACKS, blocks=(_attacks(attacks),))]
    return Document(
        kind="doctor",
        title=Bilingual(f"准入测试 {judge}（{name}）", f"doctor {judge} on {name}"),
        notes=(Bilingual(f"{admission.verdicts} 次评判", f"{admission.verdicts} verdicts"),),
        blocks=(
            Decision(title=_title(admission), bullets=(*_bullets(admission), *next_step)),
            _checks(admission),
            *details,
        ),
        record={
            "schema": 1,
            "admission": admission.as_dict(),
            "canaries": None if attacks is None else attacks.as_dict(),
        },
    )


def _title(admission: AdmissionReport) -> Bilingual:
    """Return the decision, with the number of checks that failed or are unclear."""
    word = DECISIONS[admission.verdict][0]
    statuses = [check.status for check in admission.checks]
    problems: tuple[CheckStatus, ...] = ("failed", "unclear")
    counted = COMMA.join(
        Bilingual("{} 项{}", "{} {}").format(statuses.count(name), _STATUSES[name][0])
        for name in problems
        if name in statuses
    )
    n = len(statuses) - statuses.count("not_applicable")
    if not counted.en:
        return SENTENCE.format(word.capitalized)
    text = Bilingual("{}：{} 项检查中 {}。", "{}: of {} checks, {}.")
    return text.format(word.capitalized, n, counted)


def _bullets(admission: AdmissionReport) -> Iterator[Verdict]:
    """Yield the checks that keep the judge from being admitted and what the attacks showed, failed first."""
    counts: dict[str, Check] = {check.name: check for check in admission.checks}
    attacks = admission.attacks
    for status in _WORST_FIRST:
        word, tone = _STATUSES[status]
        names = [name for name, reason in admission.reasons if reason == status and name != "attacks"]
        texts = [
            OF_CHECKS.format(check_words(name), counts[name].passed, counts[name].n)
            if name in counts
            else check_words(name)
            for name in names
        ]
        if texts:
            yield Verdict(tone=tone, subject=word.capitalized, sentence=SEMICOLON.join(texts))
        if attacks is not None and attacks.status == status:
            yield Verdict(
                tone=tone,
                subject=_ATTACKS,
                sentence=attack_words(attacks.raises, attacks.informative, len(attacks.results)),
                evidence=(_flip_test(attacks),),
            )


def _next_step(model: str, again: str, admission: AdmissionReport) -> Iterator[Verdict]:
    """Yield what to do about a judge that is not admitted: test it again, or a model instead of rules."""
    if admission.verdict == "admitted":
        return
    missing, unanswered = MIN_BASES - admission.bases, sum(check.no_verdict for check in admission.checks)
    if model:
        sentence = Bilingual(
            f"规则只检查不用模型就能判断的事；要准入，请测试一个模型：{model}",
            f"rules check only what can be decided without a model; test a model: {model}",
        )
    elif admission.verdict == "not admitted":
        sentence = Bilingual(
            f"用 -v 看失败的各次评判，换一个模型，或把评分标准的等级写得更分明，再测一次：{again}",
            "look at what failed with -v; take another model, or tell the levels of the rubric apart more "
            f"clearly; then test again: {again}",
        )
    elif unanswered:
        sentence = Bilingual(
            f"有 {unanswered} 次试验没有结论；先让评审都能答上，再测一次：{again}",
            f"{unanswered} trials have no verdict; make the judge answer them, then test again: {again}",
        )
    elif missing > 0:
        sentence = Bilingual(
            f"准入至少要 {MIN_BASES} 个有结论的好回答，现有 {admission.bases} 个：在评分标准的 examples 里"
            f"再加 {missing} 个最高级的示例（自己的标准用 hengwen init --rubric 建立），再测一次：{again}",
            f"admission takes {MIN_BASES} good answers with a verdict, there are {admission.bases}: add "
            f"{missing} examples of the best level to examples: of the rubric (hengwen init --rubric writes "
            f"one of your own), then test again: {again}",
        )
    else:
        sentence = Bilingual(
            f"在评分标准的 examples 里为各等级再加示例，区间窄了才能判明，再测一次：{again}",
            "add examples of each level to examples: of the rubric, as more of them narrow the intervals; "
            f"then test again: {again}",
        )
    yield Verdict(tone="plain", subject=Bilingual("下一步", "Next"), sentence=sentence)


def attack_words(fooled: int, informative: int, attacks: int) -> Bilingual:
    """Return how many attacks fooled a judge, of those that could have raised a level."""
    if not informative:
        return Bilingual(
            f"{attacks} 次攻击都不可能抬高等级，无结论",
            f"none of {attacks} attacks could have raised a level, so no conclusion",
        )
    return Bilingual(
        f"{informative} 次可能抬高等级的攻击中受骗 {fooled} 次",
        f"fooled by {fooled} of {informative} attacks that could have raised a level",
    )


def check_words(name: str) -> Bilingual:
    """Return the name of a check, of the attacks or of the good answers in words."""
    return _CHECKS.get(name) or _OTHER_REASONS[name]


def note_text(note: str) -> Bilingual:
    """Return the note of a check in words."""
    return Bilingual(_NOTES.get(note, note), note)


def _checks(admission: AdmissionReport) -> Table:
    worst_first = sorted(admission.checks, key=lambda check: _WORST_FIRST.index(check.status))
    rows = [row for check in worst_first for row in _check_rows(check)]
    notes = [COLON.join([_CHECKS[check.name], note_text(check.note)]) for check in worst_first if check.note]
    return Table(key="checks", columns=_CHECK_COLUMNS, rows=tuple(rows), notes=(*notes, _CHECK_NOTE))


def _check_rows(check: Check) -> Iterator[tuple[Cell, ...]]:
    word, tone = _STATUSES[check.status]
    threshold = CRITERIA[check.name].rate
    low, high = check.interval or (None, None)
    share = NOTHING
    if check.rate is not None and low is not None and high is not None:
        share = f"{check.rate:.2f} [{low:.2f}, {high:.2f}]"
    yield (
        Cell(text=_CHECKS[check.name], values={"": check.name}),
        *map(count_cell, (check.passed, check.n, check.no_verdict)),
        Cell(text=share, values={"": check.rate, "low": low, "high": high}, bar=_bar(check, threshold, tone)),
        Cell(text=f"{threshold:.2f}", values={"": threshold}),
        verdict_cell(word, check.status, tone),
    )
    if check.name == "degraded":
        for kind, counts in check.by_kind.items():
            decided = counts["passed"] + counts["failed"]
            yield (
                Cell(text=f"· {kind}", values={"": f"{check.name}.{kind}"}),
                *map(count_cell, (counts["passed"], decided, counts["no_verdict"])),
                *(Cell(text="") for _ in range(3)),
            )


def _bar(check: Check, threshold: float, tone: Tone) -> Bar | None:
    if check.rate is None:
        return None
    mark_tone: Tone = "better" if check.status == "passed" else tone
    return Bar(
        value=check.rate, interval=check.interval, limits=(0.0, 1.0), reference=threshold, tone=mark_tone
    )


def _attacks(report: CanaryReport) -> Table:
    groups: tuple[tuple[Text, str, Mapping[str, int]], ...] = (
        *((name, name, counts) for name, counts in report.by_technique.items()),
        *((name, name, counts) for name, counts in report.by_language.items()),
        (Bilingual("全部", "all"), "all", report.counts),
    )
    return Table(
        key="attacks",
        columns=(
            left("attack", "攻击", "attack"),
            *(right(outcome, *words) for outcome, words in _ATTACK_OUTCOMES.items()),
        ),
        rows=tuple(
            (
                Cell(text=title, values={"": name}, tone="worse" if counts["fooled"] else "plain"),
                *(count_cell(counts[outcome]) for outcome in _ATTACK_OUTCOMES),
            )
            for title, name, counts in groups
        ),
        notes=(_ATTACK_NOTE,),
    )


def _flip_test(report: CanaryReport) -> Bilingual:
    """Return how many attacks raised the judge's value, and how many lowered it."""
    word = _STATUSES[report.status][0]
    if report.status == "unclear":
        word = Bilingual("无结论", "no conclusion")
    decided, raised, lowered = len(report.decided), report.raises, report.lowerings
    text = Bilingual(
        f"{decided} 次攻击中抬高 {raised} 次，压低 {lowered} 次",
        f"raised {raised}, lowered {lowered} of {decided}",
    )
    if report.p_value is not None:
        text = COMMA.join([text, p_text(report.p_value)])
    return COLON.join([text, word])
