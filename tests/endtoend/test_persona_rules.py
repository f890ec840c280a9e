"""Rules beside a judge in whole runs: arithmetic by hand, repeated calls, incomplete tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hengwen import open_store
from hengwen.documents.render.write import schema_text
from hengwen.errors import ConfigError, DataError
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite
from hengwen.records import Failure, Score

pytestmark = pytest.mark.slow

# what is alike: one letter of ten is 1 - 2 / 20 = 0.9, one of eight is 0.875, one of seven 0.857
ONE = ["一二三四五六七八九十", "一二三四五六七八九百", "千二三四五六七八九百"]
TWO = ["春花秋月何时了", "春花秋月几时了", "往事知多少啊"]
SUM = ["答案是 2181 哦", "答案是 2180 吧", "我不会算呢"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(path: Path, items: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), "utf-8")


def write(folder: Path, *, answers: Sequence[Sequence[str]] = (ONE, TWO, SUM), **task: Any) -> Path:
    """A task of three samples; the second has a reference, the third a number."""
    samples: list[dict[str, Any]] = [
        {"id": "a", "input": "数数", "metadata": {"brief": "数到十"}},
        {"id": "b", "input": "吟诗", "references": ["往事知多少"], "metadata": {"brief": "吟一句"}},
        {"id": "c", "input": "3^7-log2(64)=?", "metadata": {"number": 2181, "brief": "算一算"}},
    ]
    rows(folder / "live.jsonl", samples)
    named_answers = zip("abc", answers, strict=True)
    rows(
        folder / "day.jsonl",
        [
            {"id": name, "repeat": repeat, "output": text}
            for name, texts in named_answers
            for repeat, text in enumerate(texts, 1)
        ],
    )
    spec = {
        "name": "live",
        "samples": "live.jsonl",
        "repeats": 3,
        "rules": ["broken", "near_duplicate", "target_copy", "plain_text", "number"],
        "judges": [{"rubric": "muice_live"}],
        "scale": {"mean_times": 10},
        **task,
    }
    plan = {"name": "p", "tasks": [spec], "checkpoints": [{"name": "day", "responses": "day.jsonl"}]}
    path = folder / "plan.yaml"
    path.write_text(json.dumps(plan, ensure_ascii=False), "utf-8")  # JSON is YAML
    return path


def judged_by(server: Any) -> tuple[str, ...]:
    return ("--judge", "openai/tiny", "--base-url", server.url)


def finals(folder: Path, name: str = "muice_live.final") -> dict[tuple[str, int], Score | Failure]:
    with open_store(folder / "hengwen.db") as store:
        newest = store.runs()[0]
        return {
            (row.sample_id or "", row.repeat or 0): row.outcome
            for row in store.rows([newest])
            if row.score.name == name
        }


def test_the_arithmetic_of_the_protocol_on_an_example_by_hand(run, judge_server, folder: Path) -> None:
    # the judge gives B = 0.75 to all nine:
    # a: 0.75, 0 (like answer 1), 0 (like answer 2, which is a repeat itself)          mean 0.25
    # b: 0.75, 0 (0.857 like answer 1), 0.5 (the reference but for a particle)         mean 5/12
    # c: 0.75, 0 (0.857 or more like answer 1: 答案是2181, 答案是2180), 0.75           mean 0.5
    plan = write(folder)
    code, report, err = run(plan, *judged_by(judge_server))
    assert (code, err.count("warning")) == (0, 0)
    values = {key: outcome.value for key, outcome in finals(folder).items()}
    assert values == {
        ("a", 1): 0.75,
        ("a", 2): 0,
        ("a", 3): 0,
        ("b", 1): 0.75,
        ("b", 2): 0,
        ("b", 3): 0.5,
        ("c", 1): 0.75,
        ("c", 2): 0,
        ("c", 3): 0.75,
    }
    scores = report["runs"][0]["scores"]
    mean = (0.25 + 1.25 / 3 + 0.5) / 3
    assert scores["live/muice_live.level"]["mean"] == 0.75
    assert scores["live/muice_live.final"]["mean"] == pytest.approx(mean)
    published = scores["live/muice_live.published"]
    assert published["mean"] == pytest.approx(10 * mean)
    assert published["ci"] == [pytest.approx(10 * end) for end in scores["live/muice_live.final"]["ci"]]
    assert (published["method"], published["scale"]["high"]) == ("scorer", 10)
    assert list(scores).index("live/muice_live.published") < list(scores).index("live/muice_live.level")


def test_the_details_name_the_repeat_and_the_rule(run, judge_server, folder: Path) -> None:
    run(write(folder), *judged_by(judge_server))
    third = finals(folder)["a", 3]
    assert isinstance(third, Score)
    assert third.details == {
        "raw": 0.75,
        "cap": 0,
        "by": ["near_duplicate"],
        "dup_of": 2,
        "similarity": 0.9,
        "flags": ["duplicate"],
    }
    copy = finals(folder)["b", 3]
    assert isinstance(copy, Score)
    assert copy.details["copies"] == {"target_copy": "particle_only"}
    assert copy.details["flags"] == ["leak_suspect"]
    code_score = finals(folder, "near_duplicate.similarity")["a", 3]
    assert isinstance(code_score, Score)
    assert (code_score.value, code_score.kind) == (0.9, "scorer")


def with_repeats(options: dict[str, object]) -> list[object]:
    """Rules with other caps, and such a rule of repeats."""
    rest = ["target_copy", {"plain_text": {"cap": 0.25}}, {"number": {"cap": 0}}]
    return ["broken", {"near_duplicate": options}, *rest]


CAPS_MOVED = with_repeats({"zero_from": 0.95, "review_from": 0.5})


def test_the_score_at_other_thresholds_stands_beside(run, judge_server, folder: Path) -> None:
    run(write(folder), *judged_by(judge_server))
    at = {t: {p: o.value for p, o in finals(folder, f"muice_live.final_at_{t}").items()} for t in (0.8, 0.9)}
    assert at[0.8]["b", 2] == 0
    assert at[0.9]["b", 2] == 0.75, "0.857 is below 0.9"
    assert at[0.9]["a", 2] == 0, "0.9 is not"


def test_another_threshold_or_cap_needs_no_new_verdict(run, judge_server, folder: Path) -> None:
    run(write(folder), *judged_by(judge_server))
    assert len(judge_server.prompts) == 9
    for rules in (with_repeats({"zero_from": 0.88, "extra_thresholds": []}), CAPS_MOVED):
        code, _, _ = run(write(folder, rules=rules), *judged_by(judge_server))
        assert code == 0
    assert len(judge_server.prompts) == 9
    assert finals(folder)["a", 2].value == 0.75, "0.9 is below 0.95"
    run(write(folder), *judged_by(judge_server))
    assert finals(folder)["a", 2].value == 0
    assert len(judge_server.prompts) == 9


def test_a_verdict_that_came_after_a_repair_is_not_requested_again(run, judge_server, folder: Path) -> None:
    text = json.dumps({"choices": [{"message": {"content": "五星"}, "finish_reason": "stop"}]})
    judge_server.misbehave = lambda number: (200, text) if number <= 4 else None
    code, before, _ = run(write(folder), *judged_by(judge_server))
    calls = len(judge_server.prompts)
    assert (code, calls > 9) == (0, True)
    raw = before["runs"][0]["scores"]["live/muice_live.level"]
    code, after, _ = run(write(folder, rules=CAPS_MOVED), *judged_by(judge_server))
    assert (code, len(judge_server.prompts)) == (0, calls)
    assert after["runs"][0]["scores"]["live/muice_live.level"] == raw
    assert finals(folder)["a", 2].value == 0.75, "0.9 is below 0.95"


def test_a_rule_more_is_a_fact_more_and_asks_again(run, judge_server, folder: Path) -> None:
    run(write(folder, rules=["broken"]), *judged_by(judge_server))
    run(write(folder, rules=["broken", "plain_text"]), *judged_by(judge_server))
    assert len(judge_server.prompts) == 18
    assert "没有标签或标记" not in judge_server.prompts[0]
    assert "没有标签或标记" in judge_server.prompts[-1]


def test_without_rules_nothing_of_a_prompt_or_a_signature_changes(run, judge_server, folder: Path) -> None:
    bare = run(write(folder, rules=[], scale=None), *judged_by(judge_server))[1]
    signature = bare["runs"][0]["scores"]["live/muice_live.level"]["signature"]
    assert "facts" not in signature
    assert "规则查得" not in "".join(judge_server.prompts)
    scaled = run(write(folder, rules=[]), *judged_by(judge_server))[1]
    scores = scaled["runs"][0]["scores"]
    assert scores["live/muice_live.level"]["signature"] == signature
    assert scores["live/muice_live.published"]["mean"] == 7.5, "of the level, where there are no rules"
    assert "live/muice_live.final" not in scores
    assert len(judge_server.prompts) == 9


def test_the_way_to_the_level_needs_no_new_verdict(run, judge_server, folder: Path) -> None:
    for how in ("holistic", "min_aspect", "median_aspect"):
        judges = [{"rubric": "muice_live", "level_from": how}]
        code, report, _ = run(write(folder, judges=judges), *judged_by(judge_server))
        assert code == 0
        signature = report["runs"][0]["scores"]["live/muice_live.level"]["signature"]
        assert (f"|level:{how}|" in signature) == (how != "holistic")
    assert len(judge_server.prompts) == 9


def test_a_note_is_an_instruction_of_this_task_alone(run, judge_server, folder: Path) -> None:
    run(write(folder), *judged_by(judge_server))
    note = {"zh": "只比较风格的差异。", "en": "Judge the difference in style."}
    run(write(folder, judges=[{"rubric": "muice_live", "note": note}]), *judged_by(judge_server))
    assert len(judge_server.prompts) == 18
    system = json.loads(judge_server.prompts[-1])[0]["content"]
    assert note["zh"] in system
    assert note["en"] not in system
    assert note["zh"] not in judge_server.prompts[0]


def test_the_judge_sees_the_persona_as_the_subject_was_told_it(run, judge_server, folder: Path) -> None:
    plan = write(folder, prompt={"system": "你叫沐雪。{{ brief }}。"})
    run(plan, *judged_by(judge_server))
    prompts = [prompt for prompt in judge_server.prompts if "你叫沐雪。吟一句。" in prompt]
    assert len(prompts) == 3
    assert not any("{{" in prompt for prompt in judge_server.prompts)
    wrong = write(folder, prompt={"system": "你叫沐雪。{{ mood }}。"})
    code, _, err = run(wrong, *judged_by(judge_server), "--fresh")
    assert (code, len(judge_server.prompts)) == (2, 9)
    assert "sample 'a': prompt template: 'mood' is undefined" in err


def test_a_missing_verdict_leaves_the_task_incomplete_and_the_rest_of_it_unmoved(
    run, judge_server, folder: Path
) -> None:
    words = json.dumps({"choices": [{"message": {"content": "五星好评"}, "finish_reason": "stop"}]})
    judge_server.misbehave = lambda number: (
        (200, words) if TWO[0] in judge_server.prompts[number - 1] else None
    )
    plan = write(folder)
    code, report, err = run(plan, *judged_by(judge_server), "-j", "1")
    scores = report["runs"][0]["scores"]
    published = scores["live/muice_live.published"]
    assert (code, published["mean"], published["n"], published["failures"]) == (0, None, 0, {"missing": 1})
    assert (
        "day: no live/muice_live.published: incomplete: 1 of 9 answers have no verdict (1 parse_error)" in err
    )
    final = scores["live/muice_live.final"]
    assert (final["n"], final["failures"]) == (8, {"parse_error": 1})
    failed = [outcome for outcome in finals(folder).values() if isinstance(outcome, Failure)]
    assert [outcome.status for outcome in failed] == ["parse_error"]
    judge_server.misbehave = lambda _: None
    code, report, err = run(plan, *judged_by(judge_server))
    again = report["runs"][0]["scores"]["live/muice_live.published"]
    assert (code, again["mean"], "incomplete" in err) == (
        0,
        pytest.approx(10 * (0.25 + 1.25 / 3 + 0.5) / 3),
        False,
    )


def test_a_judge_that_is_not_there_is_exit_1_and_no_low_score(run, folder: Path) -> None:
    nobody = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    path = write(folder, judges=[{"rubric": "muice_live", "backend": "j"}])
    plan = json.loads(path.read_text("utf-8"))
    plan["backends"] = {"j": {**nobody, "retries": 0, "give_up_after": 0}}
    path.write_text(json.dumps(plan, ensure_ascii=False), "utf-8")
    code, report, err = run(path, "-j", "1")
    scores = report["runs"][0]["scores"]
    assert code == 1
    assert "gave up http://127.0.0.1:9/v1" in err
    assert scores["live/muice_live.final"]["mean"] is None
    assert scores["live/muice_live.published"]["mean"] is None
    assert scores["live/broken.match"]["n"] == 9, "the rules say what they see all the same"


def test_part_of_the_samples_is_an_incomplete_task(run, judge_server, folder: Path) -> None:
    plan = write(folder)
    code, report, err = run(plan, *judged_by(judge_server), "-n", "2")
    assert (code, report["runs"][0]["scores"]["live/muice_live.published"]["mean"]) == (0, None)
    assert "incomplete: 3 of 9 answers have no verdict (3 not in this run)" in err
    whole = run(plan, *judged_by(judge_server))[1]["runs"][0]["scores"]["live/muice_live.published"]
    assert (whole["mean"] is None, len(judge_server.prompts)) == (False, 9)
    after = run(plan, *judged_by(judge_server), "-n", "2")[1]["runs"][0]["scores"]
    assert after["live/muice_live.published"] == whole, "what is there is complete, whatever was asked for"


def test_fewer_repeats_than_the_plan_wants_are_an_incomplete_task(run, judge_server, folder: Path) -> None:
    plan = write(folder, answers=(ONE, TWO[:2], SUM))
    _, _, err = run(plan, *judged_by(judge_server))
    assert "incomplete: 1 of 9 answers have no verdict (1 not in this run)" in err


def test_the_sum_is_published_with_its_normalised_value_and_a_warning(
    run, judge_server, folder: Path
) -> None:
    plan = write(folder, rules=["broken"], repeats=1, scale={"sum_divided_by": 10}, answers=[["好"]] * 3)
    code, report, err = run(plan, *judged_by(judge_server))
    scores = report["runs"][0]["scores"]
    assert code == 0
    assert scores["live/muice_live.published"]["mean"] == pytest.approx(3 * 0.75 / 10)
    assert scores["live/muice_live.normalised"]["mean"] == pytest.approx(7.5)
    assert "the sum over 3 prompts divided by 10 has maximum 0.3, not 10 (10 needs 100 prompts)" in err


def test_a_later_run_adopts_both_scores_and_publishes_the_same(run, judge_server, folder: Path) -> None:
    plan = write(folder)
    first = run(plan, *judged_by(judge_server))[1]["runs"][0]
    spec = json.loads(plan.read_text("utf-8"))
    spec["tasks"][0]["scorers"] = ["distinct_n"]  # another run of the same series
    plan.write_text(json.dumps(spec, ensure_ascii=False), "utf-8")
    second = run(plan, *judged_by(judge_server))[1]["runs"][0]
    assert second["id"] != first["id"]
    for name in ("level", "final", "final_at_0.9", "published"):
        address = f"live/muice_live.{name}"
        assert second["scores"][address] == first["scores"][address]
    assert len(judge_server.prompts) == 9


def test_a_panel_under_rules(run, judge_server, folder: Path) -> None:
    backend = {"provider": "openai", "base_url": judge_server.url}
    plan = write(folder, judges=[{"rubric": "muice_live", "panel": ["j1", "j2"]}])
    spec = json.loads(plan.read_text("utf-8"))
    spec["backends"] = {name: {**backend, "model": name} for name in ("j1", "j2")}
    plan.write_text(json.dumps(spec, ensure_ascii=False), "utf-8")
    code, report, _ = run(plan)
    assert (code, len(judge_server.prompts)) == (0, 18)
    assert finals(folder)["a", 3].value == 0
    assert report["runs"][0]["scores"]["live/muice_live.published"]["n"] == 9


def test_the_whole_path_offline_with_the_rules_judge(run, folder: Path, tmp_path: Path) -> None:
    rows(folder / "train.jsonl", [{"label": SUM[2]}])
    rules = ["broken", "near_duplicate", "target_copy", "plain_text", "number"]
    plan = write(folder, rules=[*rules, {"leakage": {"corpus": "train.jsonl"}}])
    code, report, _ = run(plan, "--lang", "zh", "-o", "r.html", "-o", "r.md", "-o", "r.json")
    scores = report["runs"][0]["scores"]
    assert code == 0
    assert scores["live/leakage.containment"]["n"] == 9
    assert finals(folder)["c", 3].value <= 0.5
    assert finals(folder)["a", 2].details["raw"] > 0, "repeats are left to the rule"
    assert scores["live/muice_live.published"]["mean"] == pytest.approx(
        10 * scores["live/muice_live.final"]["mean"]
    )
    html = (tmp_path / "r.html").read_text("utf-8")
    table = html[html.index('<table id="live/headline">') :]
    assert 0 < table.index("muice_live.level") < table.index("muice_live.final") < table.index("任务得分")
    assert "由 0.75 降为 0：near_duplicate（同一题的先前回答中，最像的是第 1 次" in html
    assert "muice_live.published<br>任务得分" in (tmp_path / "r.md").read_text("utf-8").replace("\\", "")
    import jsonschema

    jsonschema.validate(json.loads((tmp_path / "r.json").read_text("utf-8")), json.loads(schema_text("run")))
    again = run(plan)[1]
    assert again["runs"] == report["runs"]


def test_a_wrong_exemption_is_told_with_its_line(folder: Path) -> None:
    plan = write(folder)
    samples = (folder / "live.jsonl").read_text("utf-8").replace('"number": 2181', '"exempt": ["nubmer"]')
    (folder / "live.jsonl").write_text(samples, "utf-8")
    with pytest.raises(DataError, match=r"live.jsonl:3: .*unknown rule 'nubmer'; did you mean 'number'"):
        load_suite(load_plan(plan))


def test_a_score_that_a_rule_and_a_scorer_give_is_told(folder: Path) -> None:
    rows(folder / "train.jsonl", [{"label": "好"}])
    leakage = {"leakage": {"corpus": str(folder / "train.jsonl")}}
    plan = write(folder, scorers=[leakage], rules=[leakage])
    with pytest.raises(ConfigError, match="gives 'leakage.containment' twice; .*remove a scorer"):
        load_suite(load_plan(plan))


def test_an_anchor_under_rules_has_both_scores_and_a_persona_that_it_can_fill(
    run, judge_server, folder: Path
) -> None:
    plan = write(folder, prompt={"system": "你叫沐雪。{{ brief }}。"})
    spec = json.loads(plan.read_text("utf-8"))
    plan.write_text(json.dumps({**spec, "anchors": "anchors.jsonl"}, ensure_ascii=False), "utf-8")
    anchor = {
        "task": "live",
        "id": "z",
        "input": "数数",
        "output": "# 一",
        "score": "muice_live.level",
        "value": 0.5,
        "metadata": {"brief": "数一数"},
    }
    rows(folder / "anchors.jsonl", [anchor])
    code, report, _ = run(plan, *judged_by(judge_server))
    scores = report["runs"][0]["scores"]
    assert code == 0
    assert scores["live/anchor.muice_live.level"]["mean"] == 0.75
    assert scores["live/anchor.muice_live.final"]["mean"] == 0.5
    assert any("你叫沐雪。数一数。" in prompt for prompt in judge_server.prompts)
    rows(folder / "anchors.jsonl", [{**anchor, "metadata": {}}])
    code, _, err = run(plan, *judged_by(judge_server))
    assert code == 2
    assert "anchors.jsonl:1: " in err
    assert "'brief' is undefined" in err
