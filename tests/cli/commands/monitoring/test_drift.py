"""``hengwen drift``: what is printed, in which width and language, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from hengwen import Failure, Row, Run, Scale, Score, open_store

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(hengwen) -> None:
    """A store with the runs of the packaged demo."""
    from importlib.resources import files

    assert hengwen("run", files("hengwen.demo") / "data" / "plan.yaml", "--quiet").code == 0


def record(
    means: list[float],
    *,
    human: bool = False,
    missing: int = 0,
    noise: float = 0.02,
    prompts: int = 12,
    **fields: object,
) -> None:
    """Record runs of checkpoints c0, c1, ... in the store of the folder."""
    rng = np.random.default_rng(0)
    with open_store("hengwen.db") as store:
        ledger = store.ledger()
        for index, mean in enumerate(means):
            key = {"run_id": f"r{index}", "task": "t", "checkpoint": f"c{index}", "repeat": 1}
            ledger.begin(
                Run(
                    id=f"r{index}",
                    plan="p",
                    plan_hash="",
                    checkpoint=f"c{index}",
                    **{"order": index, "started": f"2026-01-{index + 1:02d}", **fields},
                )
            )
            for prompt in range(prompts):
                rest = {"signature": "s|v:1"}
                value = float(np.clip(mean + rng.normal(0, noise), 0, 1))
                outcome: Score | Failure = Score(
                    name="s.value", value=value, scale=Scale(low=0, high=1), **rest
                )
                if index == len(means) - 1 and prompt < missing:
                    outcome = Failure(name="s.value", status="missing", message="no answer", **rest)
                rows = [Row(**key, sample_id=f"p{prompt}", cluster=f"p{prompt}", outcome=outcome)]
                if human:
                    label = Score(name="human.s.value", value=float(prompt), kind="human", **rest)
                    rows.append(Row(**key, sample_id=f"p{prompt}", cluster=f"p{prompt}", outcome=label))
                ledger.record_rows(rows)
        ledger.commit()


FALL = [0.9, 0.87, 0.74, 0.62, 0.55, 0.4, 0.33, 0.2, 0.12]
JITTER = [0.5, 0.7, 0.45, 0.65, 0.52, 0.6]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_table_fits_the_width(
    hengwen, demo: None, language: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = hengwen("drift", "--lang", language)
    assert done.code == 0
    assert max(map(cell_len, done.out.splitlines())) <= width


def test_a_drift_is_said_in_words_with_its_evidence(hengwen, tmp_path: Path) -> None:
    record(FALL)
    done = hengwen("drift")
    lines = [line.strip() for line in done.out.splitlines()]
    assert lines[0] == "p: c0 → c8, 9 checkpoints"
    assert (
        "the baseline begins with c0 (the first checkpoint; choose another with: hengwen runs pin)" in lines
    )
    family = "more than usual: p corrected for 2 tests (Holm); run 1 tested against this baseline"
    assert f"{family}, so p up to .030 is significant" in lines
    assert "t/s.value: differ; drift for the worse" in lines
    assert "Is that more than checkpoints usually move? Drift for the worse" in lines
    assert any(
        line.startswith("trend line from first to last: -0.8") and "p < .0001" in line for line in lines
    )
    assert any(
        "(Mann-Kendall) S -36, p < .0001" in line and "change point (Pettitt) at c" in line for line in lines
    )
    assert any(line.startswith("order of the means") and "(CIN) 36/36 [18.0]" in line for line in lines)
    assert any(line.startswith("variance by source (12 prompts): ") for line in lines)
    assert "verdicts on one answer" not in done.out
    assert "changes of prompts (for a first look, not tested, not reduced, there are no repeats):" in lines


@pytest.mark.parametrize(("language", "word"), [("en", "drift"), ("zh", "漂移")])
def test_the_word_drift_stands_only_where_the_second_question_says_so(
    hengwen, tmp_path: Path, language: str, word: str
) -> None:
    record(JITTER)
    out = hengwen("drift", "--lang", language).out
    assert word not in out.lower()
    assert {"en": "differ; no change beyond the usual movement seen", "zh": "有差别；未见超出平常波动的变化"}[
        language
    ] in out
    record([0.9, 0.8, 0.7, 0.57, 0.52, 0.4])
    assert word in hengwen("drift", "--lang", language).out


@pytest.mark.parametrize(
    ("means", "fields", "text"),
    [
        ([0.5], {}, "t/s.value: only one checkpoint"),
        ([0.5], {}, "two checkpoints are needed; run the next one first"),
        ([0.5, 0.9], {}, "t/s.value: differ; cannot be told from the usual movement"),
        ([0.5, 0.9], {}, "4 checkpoints are needed to know how far one usually moves"),
        ([0.5, 0.9, 0.4], {}, "any difference among all 3 checkpoints (Friedman): p "),
        ([0.5, 0.9], {}, "change differently or have repeats that differ (not known apart) "),
        ([1.5] * 5, {}, "all checkpoints have the same mean"),
        ([1.5] * 5, {}, "no variance: all scores of 12 prompts are equal"),
        ([0.25, 0.75], {"noise": 0.0}, "all prompts changed by the same amount, so none is named"),
        ([0.0, 0.25, 0.5, 0.75], {"noise": 0.0}, "t/s.value: differ; cannot be told from the usual movement"),
        ([0.0, 0.25, 0.5, 0.75], {"noise": 0.0}, "the means of all checkpoints lie on one line, so the "),
        ([0.5, 0.9, 0.5], {}, "Differ; but no difference is seen between c0 and c2"),
        (
            [*JITTER, 0.57],
            {},
            "Differ; but no difference is seen between the mean of 6 checkpoints (c0 … c5) and",
        ),
        (
            [0.5, 0.9],
            {"prompts": 1},
            "only one independent prompt, so the smallest detectable difference is not",
        ),
        (
            [0.5, 0.9, 0.6],
            {"prompts": 1, "order": 0},
            "t/s.value: too few prompts; order of checkpoints unknown",
        ),
        (
            [0.5, 0.9, 0.6],
            {"prompts": 1, "order": 0},
            "at least 7 independent prompts are needed for any result",
        ),
        (
            [0.5, 0.9, 0.6],
            {"prompts": 1},
            "fewer than 2 independent prompts have a score at every checkpoint",
        ),
        ([0.5, 0.6, 0.4, 0.7], {"order": 0}, "differ; order of checkpoints unknown"),
        ([0.5, 0.6, 0.4, 0.7], {"order": 0}, "give every checkpoint a step, or list them in training order"),
    ],
)
def test_few_constant_and_unordered_checkpoints_are_said_in_words(
    hengwen, tmp_path: Path, means: list[float], fields: dict[str, object], text: str
) -> None:
    record(means, **fields)
    done = hengwen("drift")
    assert (done.code, text in " ".join(done.out.split())) == (0, True), done.out


@pytest.mark.parametrize(
    ("means", "zh", "en"),
    [
        (
            [0.0, 0.25, 0.5, 0.75],
            "各检查点的均值恰好在一条直线上，无从得知平常波动有多大",
            "the means of all checkpoints lie on one line, so the usual movement is not known",
        ),
        (
            [0.5, 0.5, 0.5, 0.5, 0.25],
            "之前的检查点均值全部相同，无从得知平常波动有多大",
            "all earlier checkpoints have the same mean, so the usual movement is not known",
        ),
    ],
)
def test_an_unknown_usual_movement_is_no_answer_and_has_its_reason(
    hengwen, tmp_path: Path, means: list[float], zh: str, en: str
) -> None:
    record(means, noise=0.0)
    assert hengwen("drift", "--json").json["scores"][0]["drifts"] == "cannot be told from the usual movement"
    for language, answer, reason in (
        ("en", "cannot be told from the usual movement", en),
        ("zh", "无法与平常波动区分", zh),
    ):
        lines = [line.strip() for line in hengwen("drift", "--lang", language).out.splitlines()]
        assert any(answer in line for line in lines)
        assert reason in lines


def test_an_unknown_error_of_a_mean_is_said(hengwen, tmp_path: Path) -> None:
    record([0.5, 0.52, 0.5, 0.49, 0.51], prompts=1)
    text = (
        "the error of a mean on these prompts is not known (too few independent prompts), so this test uses "
    )
    assert text + "only the scatter of the earlier means" in hengwen("drift").out.replace("\n    ", " ")
    chinese = hengwen("drift", "--lang", "zh").out
    assert "这些题目上均值的误差未知（互相独立的题目太少），此检验只用之前各均值的波动" in chinese
    assert hengwen("drift", "--json").json["scores"][0]["steps"]["mean_error"] is None


def test_a_trend_and_a_newest_mean_in_opposite_directions_are_said(hengwen, tmp_path: Path) -> None:
    record([*np.linspace(0.2, 0.9, 40), 0.0], started="2026-01-01")
    text = "t/s.value: differ; drift, trend for the better, newest checkpoint for the worse"
    assert text in hengwen("drift").out
    assert "发生漂移，趋势变好，最新检查点变差" in hengwen("drift", "--lang", "zh").out


def test_missing_scores_are_said_in_words(hengwen, tmp_path: Path) -> None:
    record(JITTER, missing=2)
    out = hengwen("drift").out
    assert "t/s.value: too many missing scores for a verdict" in out
    assert "c5 left out: only 83.3% of the prompts have a score, below 95%" in out


def test_human_rankings_of_the_store_and_of_a_file_are_compared(hengwen, tmp_path: Path) -> None:
    record(JITTER, human=True)
    assert "human ranking at c5 (p not corrected): tau-b " in hengwen("drift").out
    Path("h.csv").write_text(
        "checkpoint,value\n" + "".join(f"c{k},{m}\n" for k, m in enumerate(JITTER)), "utf-8"
    )
    out = hengwen("drift", "--human", "h.csv").out
    assert (
        "human ranking of the checkpoints (p not corrected): tau-b +1.00, p = .0028, CIN 0/15, LIS 6/6" in out
    )
    assert "human ranking at" not in out
    Path("h.csv").write_text("id,value\n" + "".join(f"p{k},{k}\n" for k in range(12)), "utf-8")
    assert hengwen("drift", "--human", "h.csv").out.count("human ranking at") == 6


def test_json_has_all_numbers(hengwen, tmp_path: Path) -> None:
    record(FALL, human=True)
    document = hengwen("drift", "--json").json
    assert (document["schema"], document["plan"], document["baseline"], document["newest"]) == (
        1,
        "p",
        "r0",
        "r8",
    )
    assert document["looks"]["drift"] == 1
    assert document["families"]["drift"] == {"correction": "holm", "tests": 2}
    (score,) = document["scores"]
    assert (score["differs"], score["drifts"], score["direction"]) == ("differ", "drift", "worse")
    assert score["steps"]["slope"]["signal_to_noise"] > 5
    assert score["difference"]["interval"]["bounds"] == score["difference"]["interval"]["t"]
    assert score["course"]["metrics"]["lis"]["value"] == 1
    assert len(score["human"]) == 9


def test_a_read_only_store_is_looked_at_without_a_record(hengwen, tmp_path: Path) -> None:
    record(JITTER)
    for _ in range(2):
        done = hengwen("drift", "--store", "file:hengwen.db?mode=ro", "--json")
        assert (done.code, done.json["looks"]["drift"]) == (0, 1)
    assert json.loads(hengwen("drift", "--json").out)["looks"]["drift"] == 1


def test_quiet_prints_warnings_only(hengwen, tmp_path: Path) -> None:
    facts: dict[str, object] = {"versions": {}, "tasks": {}}
    record(JITTER, facts={"prompts": "x", **facts})
    with open_store("hengwen.db") as store:
        ledger = store.ledger()
        ledger.begin(Run(id="o", plan="p", plan_hash="", checkpoint="old", facts={"prompts": "y", **facts}))
        ledger.commit()
    done = hengwen("drift", "-q")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "hengwen: warning: left out, because their tasks or prompts differ from the newest run: old\n"
    )
    record([0.5])
    assert "hengwen: warning: run by an older version, so whether they" in hengwen("drift", "-q").err


def test_too_few_prompts_are_said_with_the_number_that_it_takes(hengwen, tmp_path: Path) -> None:
    with open_store("hengwen.db") as store:
        ledger = store.ledger()
        for index in range(3):
            ledger.begin(Run(id=f"r{index}", plan="p", plan_hash="", checkpoint=f"c{index}", order=index))
            key = {"run_id": f"r{index}", "task": "t", "checkpoint": f"c{index}", "repeat": 1}
            for prompt in range(5):
                score = Score(name="j.level", value=index + prompt / 10, signature="j", kind="judge")
                ledger.record_rows([Row(**key, sample_id=f"p{prompt}", cluster=f"p{prompt}", outcome=score)])
        ledger.commit()
    out = hengwen("drift").out
    assert "t/j.level: too few prompts; cannot be told from the usual movement" in out
    assert "at least 8 independent prompts are needed for any result to be significant" in out
    assert "verdicts on one answer unknown" in out


def test_judgments_of_unknown_value_are_counted(hengwen, tmp_path: Path) -> None:
    details = {"method": "samples", "labels": ["B", "C"]}
    with open_store("hengwen.db") as store:
        ledger = store.ledger()
        for index in range(2):
            ledger.begin(Run(id=f"r{index}", plan="p", plan_hash="", checkpoint=f"c{index}", order=index))
            key = {"run_id": f"r{index}", "task": "t", "checkpoint": f"c{index}", "repeat": 1}
            for prompt in range(8):
                value = 0.1 * prompt
                score = Score(name="j.level", value=value, signature="j", kind="judge", details=details)
                ledger.record_rows([Row(**key, sample_id=f"p{prompt}", cluster=f"p{prompt}", outcome=score)])
        ledger.commit()
    out = " ".join(hengwen("drift").out.split())
    assert "verdicts on one answer unknown (8 answers with levels whose values are not known)" in out
    chinese = "".join(hengwen("drift", "--lang", "zh").out.split())
    assert "（8个回答的评审等级不知对应何值）" in chinese


@pytest.fixture
def long(hengwen) -> None:
    """A store with 27 checkpoints, of which the third is pinned, and human values of all answers."""
    rng = np.random.default_rng(4)
    record(rng.uniform(0.4, 0.6, 27).tolist(), human=True, started="2026-01-01")
    assert hengwen("runs", "pin", "c2").code == 0


def test_many_checkpoints_are_shortened_and_have_p_values_of_blocks(hengwen, long: None) -> None:
    lines = [line.strip() for line in hengwen("drift").out.splitlines()]
    assert lines[:3] == [
        "p: c2 → c26, 25 checkpoints",
        "the baseline begins with c2",
        "2 checkpoints before the baseline are left out",
    ]
    assert any(line.startswith("means: c2 ") and " …, c24 " in line for line in lines)
    assert any(line.startswith("mean of 24 checkpoints (c2 … c25) → c26: ") for line in lines)
    assert any("CIN" in line and ", p* = " in line for line in lines)
    assert any(line.startswith("p* keeps 5 neighbouring checkpoints together") for line in lines)
    assert sum(line.startswith("human ranking at ") for line in lines) == 6
    assert "19 earlier checkpoints: see --json" in lines


def test_the_number_of_the_look_and_its_level_are_printed(hengwen, long: None) -> None:
    hengwen("drift", "-q")
    out = hengwen("drift", *(f"c{index}" for index in range(2, 20))).out
    family = "p corrected for 2 tests (Holm); run 2 tested against this baseline, so p up to .0076"
    assert f"do they differ: {family} is significant" in out
    assert f"more than usual: {family} is significant" in out


def test_unordered_unequal_and_clustered_answers_are_said_in_words(hengwen, tmp_path: Path) -> None:
    with open_store("hengwen.db") as store:
        ledger = store.ledger()
        for index in range(4):
            ledger.begin(Run(id=f"r{index}", plan="p", plan_hash="", checkpoint=f"c{index}", order=index))
            key = {"run_id": f"r{index}", "task": "t", "checkpoint": f"c{index}"}
            for prompt in range(20):
                name, cluster = f"p{prompt}", f"song{prompt // 2}"
                for repeat in range(1, index + 2):
                    score = Score(name="s.value", value=(prompt * repeat * (index + 1)) % 7, signature="s")
                    row = Row(**key, sample_id=name, repeat=repeat, cluster=cluster, outcome=score)
                    ledger.record_rows([row])
        ledger.commit()
    out = hengwen("drift").out
    assert "20 prompts in 10 clusters" in out
    assert "20 prompts with more answers at one checkpoint: equally many of each are used" in out
    assert "Mann-Kendall needs 5 checkpoints; Pettitt needs 8 checkpoints" in out


def test_scores_of_scorers_and_of_judges_can_be_named_together(hengwen, demo: None) -> None:
    alone = hengwen("drift", "--score", "lyrics/lyric.total")
    assert (alone.code, alone.err) == (0, "")
    assert "lyrics/lyric.total" in alone.out
    assert "persona_generic" not in alone.out
    both = hengwen("drift", "--score", "lyrics/lyric.total", "--score", "persona/persona_generic.level")
    assert both.code == 0
    assert "persona/persona_generic.level" in both.out
