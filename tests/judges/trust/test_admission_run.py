"""The admission test separates judges that know the levels from those that guess, fail or look at length."""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import re

import pytest
from rows import each_row

from hengwen.errors import BackendError, StoreError
from hengwen.judges import Panel, RubricJudge, RulesJudge, admission_test
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.rule import RuleSet
from hengwen.judges.rules.text_rules import PlainText
from hengwen.judges.trust.admission_plan import AdmissionItem, load_cases, plan_admission
from hengwen.judges.trust.admission_report import CHECK_NAMES, CRITERIA, MIN_BASES
from hengwen.judges.trust.admission_run import FreshCallBackend, judge_factory_for, without_example
from hengwen.prompts import load_rubric
from hengwen.prompts.rubric import packaged_rubrics
from hengwen.protocols import Judge
from hengwen.records import Reply, Response, Sample, Usage
from hengwen.stats.mean_interval import wilson

RUBRIC = load_rubric("persona_generic")
CASES = load_cases()
TRUE_LEVELS = {
    example.response.in_language(language): example.level
    for example in RUBRIC.examples
    for language in ("zh", "en")
}
PADDING = (CASES.padding.zh, CASES.padding.en)
SPEAKERS = {
    answer.in_language(language): character.persona.in_language(language)
    for character in CASES.personas
    for answer in character.answers.values()
    for language in ("zh", "en")
}


def knowing(text, persona, round_no, sample):
    """Return the correct level of every packaged answer; padding changes nothing."""
    for padding in PADDING:
        text = text.removesuffix(f"\n{padding}")
    if text in SPEAKERS:
        return 1.0 if SPEAKERS[text] == persona else 0.25
    return TRUE_LEVELS.get(text, 0.0)


def guessing(text, persona, round_no, sample):
    return random.Random(f"{text}{persona}{round_no}").choice(list(RUBRIC.levels))


def by_length(text, persona, round_no, sample):
    return 1.0 if len(text) >= 120 else 0.75 if len(text) >= 60 else 0.5 if len(text) >= 25 else 0.25


STATUSES = {
    "knows": (
        knowing,
        "admitted",
        ["passed"] * 6,
    ),
    "guesses": (guessing, "not admitted", [None, None, None, "failed", None, "failed"]),
    "is constant": (lambda *_: 0.5, "not admitted", [None, None, "failed", "failed", "passed", "passed"]),
    "looks at length": (by_length, "not admitted", [None, None, "failed", "failed", None, "passed"]),
    "knows, but is blind to copies of copies": (
        lambda text, *rest: (
            1.0 if text.count("\n") == 3 and len(set(text.split("\n"))) == 1 else knowing(text, *rest)
        ),
        "not admitted",
        ["passed", "passed", "passed", "failed", "passed", "passed"],
    ),
    "knows no character": (
        lambda text, *rest: 1.0 if text in SPEAKERS else knowing(text, *rest),
        "not admitted",
        ["passed", "passed", "failed", "passed", "passed", "passed"],
    ),
    "is one level too high": (
        lambda *query: min(1.0, knowing(*query) + 0.25),
        "inconclusive",
        ["unclear", "passed", "passed", "passed", "passed", "passed"],
    ),
    "knows, but changes its mind": (
        lambda text, persona, round_no, sample: knowing(text, persona, round_no, sample) / (1 + round_no),
        "not admitted",
        ["passed", "passed", "passed", "passed", "passed", "failed"],
    ),
    "gives no verdict": (lambda *_: "parse_error", "inconclusive", ["unclear"] * 6),
    "has no endpoint": (lambda *_: BackendError("down", status="timeout"), "inconclusive", ["unclear"] * 6),
    "is broken": (lambda *_: TypeError("odd"), "inconclusive", ["unclear"] * 6),
    "does not apply": (lambda *_: "not_applicable", "inconclusive", ["unclear"] * 6),
    "knows, but refuses half": (
        lambda text, *rest: "refused" if len(text) % 2 else knowing(text, *rest),
        "inconclusive",
        [None, None, None, "unclear", None, None],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("level_of", "verdict", "statuses"), STATUSES.values(), ids=STATUSES)
def test_a_judge_gets_the_verdict_it_deserves(run_admission, level_of, verdict, statuses, language):
    report = run_admission(level_of, language=language)
    assert report.verdict == verdict
    for check, status in zip(report.checks, statuses, strict=True):
        assert status in (None, check.status), check.name
    assert report.silent == (report["degraded"].n == 0)


def test_a_missing_verdict_is_neither_passed_nor_failed(run_admission):
    report = run_admission(lambda text, *rest: "refused" if text in SPEAKERS else knowing(text, *rest))
    swaps = report["persona_swap"]
    assert (swaps.n, swaps.passed, swaps.failed, swaps.no_verdict) == (0, 0, 0, 8)
    assert (swaps.rate, swaps.interval, swaps.status) == (None, None, "unclear")
    assert swaps.trials[0].message == "refused: no"
    assert swaps.trials[0].values == (None, None)
    degraded = report["degraded"]
    assert (degraded.n, degraded.passed, degraded.no_verdict) == (5, 5, 40)
    assert degraded.status == "unclear", "all five passed, but coverage is far too low"


def test_an_example_is_judged_without_being_shown_and_the_others_are_kept(function_judge):
    variants = []

    def make(*, rubric, persona, round_no):
        variants.append((rubric, persona, round_no))
        return function_judge(knowing, persona, round_no)

    asyncio.run(admission_test(function_judge(knowing), RUBRIC, make=make))
    held_out = [rubric for rubric, persona, round_no in variants if persona is None and round_no == 0]
    assert len(held_out) == len(RUBRIC.examples)
    for index, rubric in enumerate(held_out):
        assert rubric.examples == [*RUBRIC.examples[:index], *RUBRIC.examples[index + 1 :]]
    unchanged = [(persona, round_no) for rubric, persona, round_no in variants if rubric.hash == RUBRIC.hash]
    assert len(unchanged) == 2 * 3
    assert None not in dict(unchanged)


@each_row("name", packaged_rubrics())
def test_a_rubric_without_an_example_has_a_hash_and_a_prompt_of_its_own(name):
    rubric = load_rubric(name)
    assert rubric.hash, "computed before: the copy must not inherit it"
    hashes = {without_example(rubric, index).hash for index in range(len(rubric.examples))}
    assert len(hashes | {rubric.hash}) == len(rubric.examples) + 1
    shorter = without_example(rubric, 0)
    assert {**shorter.model_dump(), "examples": None} == {**rubric.model_dump(), "examples": None}
    assert list(shorter.criteria) == list(rubric.criteria)


class Server:
    """Backend that reads the answer and the persona in the prompt and replies with the correct level."""

    endpoint = "http://fake/v1"

    def __init__(self, signature="fake/one|temp:0"):
        self.signature = signature
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        user = request.messages[-1][1]
        parts = dict(re.findall(r"^<<<\w+:([\w-]+)\n(.*?)\n\w+>>>$", user, re.MULTILINE | re.DOTALL))
        value = knowing(parts["response"], parts.get("persona"), 0, None)
        label = next(label for label, level in RUBRIC.labels.items() if level == value)
        verdict = {"reason": "r", "criteria": dict.fromkeys(RUBRIC.criteria, label), "level": label}
        return Reply(text=json.dumps(verdict), model="one", usage=Usage(calls=1, input_tokens=10))

    async def close(self):
        return None


@each_row("language", ["zh", "en"])
def test_a_rubric_judge_is_rebuilt_without_the_example_that_it_judges(language):
    server = Server()
    judge = RubricJudge(rubric=RUBRIC, backend=server, language=language, persona="the task's own")
    report = asyncio.run(admission_test(judge, RUBRIC, language=language))
    assert report.verdict == "admitted"
    assert report.judge == judge.signature
    assert len(server.requests) == report.verdicts == report.usage.calls == 97
    leaked = [
        example.response.in_language(language)
        for request in server.requests
        for example in RUBRIC.examples
        if all(example.response.in_language(language) in content for _, content in request.messages)
    ]
    assert not leaked, "an answer to judge stands among the examples of its own prompt"
    assert sum("the task's own" in request.messages[1][1] for request in server.requests) == 3 * 3 + 5 + 3


def test_no_two_rounds_share_a_call_so_that_no_ledger_answers_a_repeat():
    server = Server()
    asyncio.run(admission_test(RubricJudge(rubric=RUBRIC, backend=server), RUBRIC))
    keys = [request.key(server.endpoint) for request in server.requests]
    assert len(set(keys)) == len(keys) == 97


def variant_of(judge: RubricJudge | Panel, persona: str | None) -> Judge:
    factory = judge_factory_for(judge)
    assert factory is not None
    return factory(rubric=RUBRIC, persona=persona, round_no=0)


def test_all_options_of_a_rubric_judge_are_kept_in_the_variants():
    judge = RubricJudge(
        rubric=RUBRIC, backend=Server(), language="en", persona="p", name="n", samples=3, strip_think=False
    )
    copy = variant_of(judge, persona=None)
    assert copy.signature == judge.signature
    assert copy.names == judge.names
    for option in set(inspect.signature(RubricJudge).parameters) - {"evidence_signature"}:
        assert hasattr(judge, option), "a variant cannot be made without it"
    other = variant_of(judge, persona="q")
    assert other.signature != judge.signature


def test_a_capped_judge_is_tested_without_its_caps():
    judge = RubricJudge(rubric=RUBRIC, backend=Server())
    under_rules = CappedJudge(judge, RuleSet((PlainText(),)))
    report = asyncio.run(admission_test(under_rules, RUBRIC))
    assert (report.verdict, report.judge) == ("admitted", judge.signature)


def test_a_later_round_shifts_the_repeat_beyond_all_samples():
    server = Server()
    judge = RubricJudge(rubric=RUBRIC, backend=FreshCallBackend(server, 2), samples=2)
    asyncio.run(judge.judge(Sample(id="1", input="?"), Response(sample_id="1", text="x")))
    assert [request.repeat for request in server.requests] == [201, 202]
    assert judge.backend.endpoint == server.endpoint


def test_a_panel_is_rebuilt_from_all_its_members():
    servers = [Server("fake/one"), Server("fake/two")]
    panel = Panel(judges=[RubricJudge(rubric=RUBRIC, backend=server) for server in servers], name="jury")
    report = asyncio.run(admission_test(panel, RUBRIC))
    assert (report.verdict, report.usage.calls) == ("admitted", 2 * report.verdicts)
    rebuilt = variant_of(panel, persona=None)
    assert (rebuilt.names, rebuilt.signature) == (panel.names, panel.signature)


@each_row("name", packaged_rubrics())
def test_the_rules_judge_is_not_admitted_for_it_reads_no_meaning(name):
    rubric = load_rubric(name)
    report = asyncio.run(admission_test(RulesJudge(rubric=rubric), rubric))
    assert report.verdict == ("inconclusive" if name == "lyric_craft" else "not admitted")
    assert (report.bases < MIN_BASES) == (name == "lyric_craft")
    kinds = report["degraded"].by_kind
    assert kinds["off_topic"]["passed"] == kinds["scrambled"]["passed"] == 0
    assert kinds["duplicated"]["failed"] == 0
    assert report["repeats"].rate == 1.0
    applies = "persona" in rubric.uses
    assert report["persona_swap"].status == ("failed" if applies else "not_applicable")


def test_an_unknown_judge_gets_the_persona_with_the_input(function_judge):
    inputs = []

    def level_of(text, persona, round_no, sample):
        inputs.append(sample.text)
        persona = next((text for text in SPEAKERS.values() if text in sample.text), None)
        return knowing(text, persona, round_no, sample)

    report = asyncio.run(admission_test(function_judge(level_of), RUBRIC))
    assert [check.status for check in report.checks] == ["unclear", "unclear", *["passed"] * 4]
    assert report.verdict == "inconclusive"
    assert "pass make=" in report["examples_exact"].note
    assert any(text.startswith("（人设：老戥") for text in inputs)


def test_a_panel_with_an_unknown_member_cannot_be_rebuilt(function_judge):
    members = [function_judge(knowing), function_judge(knowing)]
    for number, member in enumerate(members):
        member.names, member.signature = ("persona_generic.level",), f"fake {number}|v:1"
    assert judge_factory_for(Panel(judges=members)) is None


def test_a_rubric_without_persona_or_examples_leaves_checks_out_not_failed(run_admission, small):
    report = run_admission(knowing, small.model_copy(update={"uses": ["input", "response"]}))
    assert [check.status for check in report.checks] == ["not_applicable"] * 3 + ["unclear"] * 3
    assert report.verdict == "inconclusive"
    assert "pass good answers as items=" in report["degraded"].note
    assert (report.verdicts, report.silent) == (0, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": 1}, "repeats must be at least 2, got 1"),
        ({"language": "fr"}, "language must be 'zh' or 'en', got 'fr'"),
        ({"concurrency": 0}, "concurrency must be at least 1, got 0"),
        (
            {"items": [AdmissionItem(sample=Sample(id="x"), text="t", level=0.3)]},
            "'x' has level 0.3, which",
        ),
    ],
)
def test_an_invalid_option_raises(run_admission, options, message):
    with pytest.raises(ValueError, match=message):
        run_admission(knowing, **options)


def test_a_judge_of_another_rubric_is_refused(run_admission):
    with pytest.raises(ValueError, match="gave 5, but rubric 'persona_generic' has levels from 0 to 1"):
        run_admission(lambda *_: 5.0)


def test_a_full_disk_stops_it(run_admission):
    with pytest.raises(StoreError):
        run_admission(lambda *_: StoreError("disk full"))


@pytest.mark.slow
@pytest.mark.parametrize("name", packaged_rubrics())
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_plan_says_how_many_verdicts_there_will_be(run_admission, name, language):
    rubric = load_rubric(name)
    queries = []
    report = run_admission(lambda *query: queries.append(query) or 1.0, rubric, language=language, repeats=2)
    assert (
        len(queries) == report.verdicts == len(plan_admission(rubric, language=language, repeats=2).queries)
    )


def test_the_report_is_plain_ordered_and_repeatable(run_admission):
    report = run_admission(knowing)
    data = json.loads(json.dumps(report.as_dict()))
    assert list(data["checks"]) == list(CHECK_NAMES) == list(CRITERIA)
    assert data["verdict"] == "admitted"
    assert data["checks"]["persona_swap"]["interval"] == list(wilson(8, 8))
    assert len(data["checks"]["degraded"]["trials"]) == 45
    assert report == run_admission(knowing)
    with pytest.raises(StopIteration):
        _ = report["none"]
