"""Scorers of a plan: by name or location, several times in one task, each under its own name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rows import each_row

from hengwen import run_plan
from hengwen.errors import ConfigError
from hengwen.plans.load_scorer import RenamedScorer, load_scorer
from hengwen.plans.plan import ScorerSpec, load_plan
from hengwen.plans.suite import load_suite
from hengwen.protocols import EvaluationContext, GroupScorer, SampleValidator
from hengwen.records import Response, Sample, Scale
from hengwen.store import open_store

LINES = """\
from dataclasses import dataclass
from hengwen import Score

@dataclass(frozen=True)
class LineCount:
    expected: int = 8
    names = ("line_count.match",)

    @property
    def signature(self):
        return f"line_count|expected:{self.expected}|v:1"

    def score(self, sample, response):
        match = float(len(response.text.splitlines()) == self.expected)
        return [Score(name=self.names[0], value=match, signature=self.signature)]


class Novelty:
    signature = "novelty|v:1"
    names = ("novelty",)

    reads = ("earlier",)

    def score(self, sample, response, context):
        new = response.text not in [answer.text for answer in context.earlier]
        return [Score(name="novelty", value=float(new), signature=self.signature)]

    def check_sample(self, sample):
        return ["a sample"]


class Spread:
    signature, names = "spread|v:1", ("chars.spread", "words.spread")

    def score(self, sample, response):
        return [Score(name=name, value=1, signature=self.signature) for name in self.names]


class Text:
    signature, names = "text|v:1", "text"

    def score(self, sample, response):
        return []


class Nothing:
    pass
"""
PLAN = """\
name: p
tasks:
  - name: t
    samples: samples.jsonl
    scorers: {scorers}
checkpoints:
  - {{name: a, responses: a.jsonl}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with scorers, samples and answers, and work elsewhere."""
    plans = tmp_path / "plans"
    plans.mkdir()
    (plans / "lines.py").write_text(LINES, "utf-8")
    sample = {"id": "1", "input": "写词", "metadata": {"template": "(verse)\ncR\ncR\ncc"}}
    (plans / "samples.jsonl").write_text(json.dumps(sample), "utf-8")
    answers = [{"id": "1", "repeat": n, "output": "(verse)\n月光\n海洋\n风起"} for n in (1, 2)]
    (plans / "a.jsonl").write_text("\n".join(map(json.dumps, answers)), "utf-8")
    monkeypatch.chdir(tmp_path)
    return plans


def run_scorers(folder: Path, scorers: str) -> dict[str, list[float]]:
    path = folder / "plan.yaml"
    path.write_text(PLAN.format(scorers=scorers), "utf-8")
    with open_store("sqlite://") as store:
        result = run_plan(path, store=store, trust=True)
        assert result.failures == {}
        values: dict[str, list[float]] = {}
        for row in store.rows(result.runs):
            values.setdefault(row.score.name, []).append(getattr(row.outcome, "value", None))
        return values


def test_both_lyric_rule_sets_stand_side_by_side(folder: Path) -> None:
    values = run_scorers(folder, "[lyric, {lyric: {rules: muchin}, name: muchin}]")
    assert values["lyric.total"] == [110, 110]
    assert values["muchin.total"] != values["lyric.total"]
    assert {name.partition(".")[0] for name in values} == {"lyric", "muchin"}
    assert len(values) == 16


def test_two_scorers_of_sets_stand_side_by_side(folder: Path) -> None:
    values = run_scorers(folder, "[self_bleu, {self_bleu: {tokenize: char}, name: chars}]")
    assert set(values) == {"self_bleu.repeats", "chars.repeats"}


def test_equal_scorers_under_two_names_give_both_scores(folder: Path) -> None:
    values = run_scorers(folder, "[{length: , name: x}, {length: , name: y}]")
    assert values["x.characters"] == values["y.characters"] == [7 + 6, 7 + 6]


def test_a_scorer_of_a_file_is_found_from_the_folder_of_the_plan(folder: Path) -> None:
    values = run_scorers(folder, "[{lines.py:LineCount: {expected: 4}}, lines.py:Novelty]")
    assert values == {"line_count.match": [1, 1], "novelty": [1, 0]}


def test_a_function_of_a_file_is_a_scorer(folder: Path) -> None:
    code = "def ends(sample, response, mark='起'):\n    return response.text.endswith(mark)\n"
    code += "def size(sample, response):\n    return len(response.text) if sample.references else None\n"
    (folder / "ends.py").write_text(code, "utf-8")
    values = run_scorers(folder, "[ends.py:ends, {ends.py:ends: {mark: 月}, name: moon}, ends.py:size]")
    assert values == {"ends": [1, 1], "moon": [0, 0], "size": [None, None]}
    scorer = load_scorer(f"{folder}/ends.py:ends", {"mark": "月"})
    assert scorer.signature.startswith('ends|mark:"月"|code:')
    (score,) = scorer.score(Sample(id="1"), Response(sample_id="1", text="起"))
    assert score.scale == Scale(low=0, high=1, discrete=True)
    with pytest.raises(ConfigError, match="'ends': no option 'marks'"):
        load_scorer(f"{folder}/ends.py:ends", {"marks": "月"})


def test_a_changed_file_scores_again(folder: Path) -> None:
    assert run_scorers(folder, "[lines.py:LineCount]") == {"line_count.match": [0, 0]}
    path = folder / "plan.yaml"
    with open_store("sqlite://") as store:
        run_plan(path, store=store, trust=True)
        (folder / "lines.py").write_text(LINES.replace("expected: int = 8", "expected: int = 4"), "utf-8")
        result = run_plan(path, store=store, trust=True)
        assert {row.outcome.value for row in store.rows(result.runs)} == {1}


def test_a_corpus_is_found_from_the_folder_of_the_plan(folder: Path) -> None:
    (folder / "train.txt").write_text("月光落在海洋上面\n", "utf-8")
    assert run_scorers(folder, "[{leakage: {corpus: train.txt}}]")["leakage.containment"] == [0, 0]


def test_a_renamed_scorer_keeps_its_optional_interfaces(folder: Path) -> None:
    location = f"{folder}/lines.py:Novelty"
    scorer = load_scorer(location, {}, score_prefix="new")
    assert isinstance(scorer, RenamedScorer)
    assert set(scorer.reads) == {"earlier"}
    assert isinstance(scorer, SampleValidator)
    sample, answer = Sample(id="1"), Response(sample_id="1", text="x")
    (outcome,) = scorer.score(sample, answer, EvaluationContext(earlier=[answer]))
    assert (outcome.name, outcome.value, outcome.signature) == ("new", 0, scorer.signature)
    assert list(scorer.check_sample(sample)) == ["a sample"]
    assert scorer.signature.startswith("novelty|v:1|code:")
    assert scorer.signature.endswith("|name:new")


def test_a_renamed_scorer_of_sets_keeps_its_scope() -> None:
    scorer = load_scorer("distinct_n", {"scope": "repeats"}, score_prefix="variety")
    assert isinstance(scorer, GroupScorer)
    assert (scorer.scope, scorer.names) == ("repeats", ("variety.repeats",))


def test_different_first_parts_are_kept_behind_the_name(folder: Path) -> None:
    scorer = load_scorer(f"{folder}/lines.py:Spread", {}, score_prefix="x")
    assert scorer.names == ("x.chars.spread", "x.words.spread")


def test_a_scorer_without_a_name_of_the_plan_is_left_alone() -> None:
    assert type(load_scorer("length", {})).__name__ == "Length"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Text", "names must be a list of score names, got 'text'"),
        ("Nothing", "needs signature, names, and score() or score_set()"),
    ],
)
def test_a_class_that_is_no_scorer_is_refused(name: str, message: str, folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scorer(f"{folder}/lines.py:{name}", {})
    assert message in str(caught.value)


def test_an_unknown_option_of_a_scorer_of_a_file_is_named(folder: Path) -> None:
    with pytest.raises(ConfigError, match="'expect'; did you mean 'expected'"):
        load_scorer(f"{folder}/lines.py:LineCount", {"expect": 1})


def test_two_scorers_with_the_same_score_names_are_told_how_to_differ(folder: Path) -> None:
    path = folder / "plan.yaml"
    path.write_text(PLAN.format(scorers="[lyric, {lyric: {rules: muchin}}]"), "utf-8")
    with pytest.raises(ConfigError, match="gives 'lyric.total' twice; set name: on one of the scorers"):
        load_suite(load_plan(path))


@each_row(
    ("data", "scorer", "options", "name"),
    [
        ("lyric", "lyric", {}, None),
        ({"lyric": None}, "lyric", {}, None),
        ({"lyric": {"rules": "muchin"}, "name": "x"}, "lyric", {"rules": "muchin"}, "x"),
        ({"name": "lyric", "options": {"rules": "muchin"}}, "lyric", {"rules": "muchin"}, None),
        ({"scorer": "lyric", "name": "x", "options": {}}, "lyric", {}, "x"),
    ],
)
def test_the_forms_of_a_scorer(data: object, scorer: str, options: dict, name: str | None) -> None:
    spec = ScorerSpec.model_validate(data)
    assert (spec.name, spec.options, spec.score_prefix) == (scorer, options, name)


def test_a_scorer_of_a_plan_built_in_python_is_taken_as_it_is() -> None:
    spec = ScorerSpec(name="lyric", options={"rules": "muchin"}, score_prefix="x")
    assert ScorerSpec.model_validate(spec) is spec


def test_a_scorer_chooses_its_settings_from_all_samples() -> None:
    samples = [Sample(id=str(n), references=("今晚月色真美",)) for n in range(2)]
    scorer = load_scorer("bleu", {}, score_prefix="x", samples=samples)
    assert "|tok:zh|" in scorer.signature


@pytest.mark.parametrize(
    ("scorers", "message"),
    [
        ("[{lyric: {}, length: {}}]", "a scorer is a name, or NAME: {OPTION: VALUE} with an optional name:"),
        ("[{lyric: {}, name: 'a b'}]", "a name starts with a letter or digit"),
        ("[{scorer: lyric, rules: muchin}]", "unknown key 'rules'"),
        ("[{lyric: muchin, name: x}]", "the options of 'lyric' must be a mapping"),
        ("[5]", "a scorer is a name, or NAME: {OPTION: VALUE} with an optional name:, got 5"),
    ],
)
def test_a_wrong_form_of_a_scorer_is_named_by_line(folder: Path, scorers: str, message: str) -> None:
    path = folder / "plan.yaml"
    path.write_text(PLAN.format(scorers=scorers), "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_plan(path)
    assert str(caught.value).startswith(f"{path}:5: ")
    assert message in str(caught.value)
