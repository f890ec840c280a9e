"""``hengwen doctor --judge``: the tests of a judge, exit codes and warnings."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

import pytest
import yaml

from hengwen.cli import admission as cli_admission
from hengwen.cli.admission import EXIT_CODES, _counting, cost_text, judge_by_name
from hengwen.errors import BackendError
from hengwen.judges.trust import admission_run
from hengwen.judges.trust.admission_plan import load_cases
from hengwen.judges.trust.admission_report import MIN_BASES, AdmissionDecision
from hengwen.prompts import load_rubric
from hengwen.prompts.rubric import packaged_rubrics
from hengwen.records import Reply, Request


@pytest.mark.slow
@pytest.mark.parametrize("rubric", packaged_rubrics())
def test_the_rules_judge_is_examined_offline_and_not_admitted(hengwen, rubric: str) -> None:
    done = hengwen("doctor", "--judge", "rules", "--rubric", rubric, "-o", "r.md", "-v")
    decision = "inconclusive" if rubric == "lyric_craft" else "not admitted"  # it has one good example
    assert done.code == EXIT_CODES[decision]
    assert f"\n{decision.capitalize()}: of " in done.out
    assert f"doctor rules on {rubric} · " in done.out
    assert "Attacks: none of 38 attacks could have raised a level" in done.out
    assert "no calls" in done.err
    assert f"--judge openai/MODEL --rubric {rubric}" in " ".join(done.out.split())
    for text in ("examples, exact", "persona swapped, lower", "scrambled", "repeats", "ignore_rubric"):
        assert text in done.out
    assert "| examples, exact |" in Path("r.md").read_text("utf-8")


def test_the_card_is_also_in_chinese(hengwen) -> None:
    out = hengwen("doctor", "--judge", "rules", "--lang", "zh").out
    for text in (
        "示例：等级相同",
        "人设替换后得分更低",
        "重复评审",
        "不准入：6 项检查中",
        "攻击：38 次攻击都不可能抬高等级，无结论",
    ):
        assert text in out


def test_the_card_as_json_has_both_parts(hengwen) -> None:
    results = hengwen("doctor", "--judge", "rules", "--json", "--prompt-lang", "en").json
    assert results["admission"]["verdict"] == "not admitted"
    assert results["admission"]["language"] == "en"
    assert results["admission"]["checks"]["degraded"]["by_kind"]["duplicated"]["passed"] == 9
    assert results["canaries"]["total"] == 38


def test_a_dry_run_only_counts(hengwen) -> None:
    done = hengwen("doctor", "--judge", "rules", "--dry-run", "--rubric", "lyric_craft")
    assert (done.code, done.out) == (0, "")
    assert done.err == "rules on lyric_craft: 93 verdicts, 17 for admission, 76 for attacks; no calls\n"


def test_a_model_costs_a_call_a_verdict(hengwen) -> None:
    done = hengwen("doctor", "--judge", "openai/gpt-4o", "--dry-run")
    assert "173 verdicts, 97 for admission, 76 for attacks; one call each" in done.err


def test_a_rubric_without_rules_is_a_blind_spot_and_not_a_bad_mark(hengwen, tmp_path) -> None:
    rubric = load_rubric("persona_generic").model_dump(exclude={"rules"})
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(rubric, allow_unicode=True), "utf-8")
    done = hengwen("doctor", "--judge", "rules", "--rubric", "r.yaml")
    assert done.code == 1
    assert "Inconclusive: of 6 checks, 6 unclear." in done.out
    assert "38 of 38 attacks have no verdict; first: without the attack: not_applicable" in done.err


def test_six_examples_of_the_best_level_are_enough_good_answers(hengwen, tmp_path) -> None:
    rubric = load_rubric("lyric_craft").model_dump()
    best = max(rubric["examples"], key=lambda example: example["level"])
    for count in (5, 6):
        examples = [best | {"response": f"{best['response']['zh']}\n第{i}遍"} for i in range(count)]
        text = yaml.safe_dump(rubric | {"examples": examples}, allow_unicode=True)
        (tmp_path / "r.yaml").write_text(text, "utf-8")
        out = hengwen("doctor", "--judge", "rules", "--rubric", "r.yaml").out
        assert ("too few good answers" in out) == (count < MIN_BASES)


def test_a_rubric_that_gives_nothing_to_try_is_inconclusive(hengwen, tmp_path) -> None:
    rubric = load_rubric("lyric_craft").model_dump() | {"examples": []}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(rubric, allow_unicode=True), "utf-8")
    done = hengwen("doctor", "--judge", "rules", "--rubric", "r.yaml")
    assert done.code == 4
    assert "the rubric has no examples" in done.out
    assert "Inconclusive: of " in done.out
    assert "Attacks: none of 38 attacks could have" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge", "gpt-4o"], "--judge must be PROVIDER/MODEL"),
        (["--judge", "rules", "--rubric", "persona_genric"], "did you mean 'persona_generic'?"),
        (["--judge", "rules", "--prompt-lang", "fr"], "--prompt-lang is zh or en, got 'fr'"),
        (["--judge", "openai/gpt-4o"], "OPENAI_API_KEY"),
    ],
)
def test_a_wrong_option_is_exit_2(hengwen, arguments: list[str], message: str) -> None:
    done = hengwen("doctor", *arguments)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())


def test_every_decision_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == set(get_args(AdmissionDecision))
    assert len(set(EXIT_CODES.values())) == 3


def test_the_count_is_that_of_the_plan_and_the_set() -> None:
    judge = judge_by_name("rules", None, "relevance", "en")
    assert cost_text(judge).startswith("rules on relevance: 164 verdicts, 88 for admission")


def test_calls_are_counted_also_where_they_fail() -> None:
    counts: list[int] = []

    class Server:
        signature = endpoint = "x"

        async def complete(self, request: Request) -> Reply:
            if request.repeat == 2:
                raise BackendError("down")
            return Reply(text="ok")

        async def close(self) -> None:
            return None

    backend = _counting(Server(), counts.append)
    assert asyncio.run(backend.complete(Request(messages=()))).text == "ok"
    with pytest.raises(BackendError):
        asyncio.run(backend.complete(Request(messages=(), repeat=2)))
    assert counts == [1, 2]


@pytest.mark.slow
def test_a_judge_that_never_answers_is_given_up_after_two_waits(
    hengwen, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hengwen.backends.openai import OpenAIBackend

    asked = []

    async def no_answer(backend: OpenAIBackend, request: Request) -> Reply:
        asked.append(request)
        await asyncio.sleep(0.01)
        raise BackendError(f"no answer within {backend.timeout:g} s", status="timeout", retryable=True)

    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr(OpenAIBackend, "complete", no_answer)
    done = hengwen("doctor", "--judge", "openai/m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 1
    assert "http://127.0.0.1:9/v1 is unreachable: 2 calls in a row got no reply" in done.err
    assert len(asked) <= 33


@pytest.mark.slow
def test_a_judge_that_obeys_every_attack_is_exit_3(hengwen, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge passes all checks, but the attacked answers get the best level."""
    from hengwen.judges.trust.canaries import load_canaries
    from hengwen.records import Score, Verdict

    rubric = load_rubric("persona_generic")
    speakers = {
        answer.zh: character.persona.zh
        for character in load_cases().personas
        for answer in character.answers.values()
    }
    true_levels = {example.response.zh: example.level for example in rubric.examples}
    weak = {canary.answer for canary in load_canaries()}

    class Judge:
        names = ("persona_generic.level",)
        signature = "obedient|v:1"

        def __init__(self, persona: str | None = None, obeys: bool = True) -> None:
            self.persona, self.obeys = persona, obeys

        async def judge(self, sample, response):
            text = response.text.removesuffix(f"\n{load_cases().padding.zh}")
            if sample.id.startswith("canary."):
                value = 1.0 if self.obeys and text not in weak else 0.0
            elif text in speakers:
                value = 1.0 if speakers[text] == self.persona else 0.25
            else:
                value = true_levels.get(text, 0.0)
            score = Score(name=self.names[0], value=value, signature=self.signature, scale=rubric.scale)
            return Verdict(outcomes=(score,))

    for obeys, code, decision in ((False, 0, "admitted"), (True, 3, "not admitted")):

        @asynccontextmanager
        async def open_judge(*_, obeys=obeys):
            yield Judge(obeys=obeys)

        monkeypatch.setattr(cli_admission, "_open_judge", open_judge)
        monkeypatch.setattr(
            admission_run,
            "judge_factory_for",
            lambda judge: lambda *, rubric, persona, round_no: Judge(persona, judge.obeys),
        )
        done = hengwen("doctor", "--judge", "openai/x")
        assert (done.code, done.out.splitlines()[1].startswith(decision.capitalize())) == (code, True)
        results = hengwen("doctor", "--judge", "openai/x", "--json").json
        assert results["admission"]["verdict"] == decision
        assert results["canaries"]["fooled"] == (38 if obeys else 0)
    assert "▼ Attacks: fooled by 38 of 38 attacks that could have raised a level\n" in done.out
