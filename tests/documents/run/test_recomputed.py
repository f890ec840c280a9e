"""Every number of the first screen, computed again from the rows of the store by plain numpy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.documents.run.numpy_tests import (
    PairTest,
    Values,
    at_equal_length,
    distinct_share,
    near,
    pair_tests,
    tokens_of,
    values_by_address,
)

from hengwen import RunComparison, compare_runs, drift_report, open_store, report_document, run_plan
from hengwen.documents.blocks import Decision, Document
from hengwen.documents.compare.document import compare_document
from hengwen.documents.decision import decision_record
from hengwen.documents.drift.document import drift_document
from hengwen.importers.muchin import import_muchin
from hengwen.monitoring.drift.score_drift import DriftReport
from hengwen.personas.persona import write_folder
from hengwen.personas.suites import example_suite
from hengwen.records import Response
from hengwen.runs.imported.record import import_scores
from hengwen.text.language import Bilingual

pytestmark = pytest.mark.slow


@dataclass
class Screen:
    """A report, and what it is computed from again."""

    record: dict[str, Any]
    """The decision in the record of the document."""
    comparisons: list[dict[str, Any]]
    lines: dict[str, Mapping[str, Any]]
    """The values of the lines of the first screen, by address."""
    labels: list[str]
    run_ids: list[str]
    values: dict[str, Values]
    tests: dict[tuple[str, int, int], PairTest]
    texts: list[list[Response]]
    documents: list[Document]
    """The report, the drift report, and the comparison of the newest with the best seen before it."""
    drift: DriftReport
    pair: RunComparison

    def worse(self, score: dict[str, Any]) -> set[str]:
        """Return the checkpoints that a test shows to be worse than another."""
        if score["is_group"]:
            return {item["checkpoint"] for item in score["standings"] if item["standing"] == "worse"}
        return {
            self.labels[later if test.difference < 0 else earlier]
            for (address, earlier, later), test in self.tests.items()
            if address == score["address"] and test.is_change
        }


def judged_elsewhere(path: Path) -> Path:
    """Write scores of another tool: two judges, of levels and of points, the last checkpoint worse in one."""
    rng, rows = np.random.default_rng(4), ["model,step,question_id,judge,judge_score"]
    for prompt in range(40):
        ease = rng.normal()
        for step in (100, 200, 300):
            latent = 5.5 + 1.5 * ease + rng.normal() + (step == 200) - 1.2 * (step == 300)
            rows.append(f"m-{step},{step},q{prompt},strict,{int(np.clip(round(latent), 1, 10))}")
            rows.append(f"m-{step},{step},q{prompt},kind,{np.clip(6 + ease + rng.normal(), 1, 10):.3f}")
    path.write_text("\n".join(rows), "utf-8")
    return path


@pytest.fixture(scope="module", params=["lyrics", "demo", "persona", "imported"])
def screen(
    request: pytest.FixtureRequest,
    shared: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Screen:
    tmp_path = tmp_path_factory.mktemp("plan")
    plan = Path(str(files("hengwen.demo") / "data" / "plan.yaml"))
    if request.param == "lyrics":
        plan = import_muchin(shared("data/muchin-checkpoints.jsonl"), tmp_path / "plan").plan
    if request.param == "persona":
        write_folder(tmp_path / "persona", example_suite())
        plan = tmp_path / "persona" / "plan.yaml"
    with open_store(tmp_path / "x.db") as store:
        if request.param == "imported":
            runs = import_scores(judged_elsewhere(tmp_path / "judged.csv"), store, scale="1-10").runs
        else:
            runs = run_plan(plan, store=store).runs
        document = report_document(store, runs)
        rows = list(store.rows(runs))
        texts = [list(store.responses(run)) for run in runs]
        drift, labels = drift_report(store, runs), [run.checkpoint for run in runs]
        peaks = [score["peak"] for score in cast("Any", document.record["decision"])["scores"]]
        pair = compare_runs(store, peaks[0], labels[-1], plan=runs[0].plan)
    decision, first = cast("dict[str, Any]", document.record["decision"]), document.blocks[0]
    assert isinstance(first, Decision)
    assert first.scores is not None
    addresses = [score["address"] for score in decision["scores"]]
    known = values_by_address(rows, labels)
    values = {address: known[address] for address in addresses if address in known}
    summary = cast("dict[str, Any]", document.record["summary"])
    return Screen(
        record=decision,
        comparisons=summary["comparisons"],
        lines={line.key.removeprefix("score-"): line.values for line in first.scores.lines},
        labels=labels,
        run_ids=[run.id for run in runs],
        values=values,
        tests=pair_tests(values, len(labels)),
        texts=texts,
        documents=[document, drift_document(drift), compare_document(pair)],
        drift=drift,
        pair=pair,
    )


def test_the_first_screen_is_what_numpy_computes(screen: Screen) -> None:
    assert screen.values.keys() == {
        score["address"] for score in screen.record["scores"] if not score["is_group"]
    }
    assert len(screen.values) >= 2
    listed = set(screen.labels)
    for score in screen.record["scores"]:
        listed -= screen.worse(score)
        check_standings(screen, score)
        if score["is_group"]:
            check_set(screen, score)
        else:
            assert score["tests"] == sum(test.n >= 6 for test in screen.tests.values())
            check_newest(screen, score)
            check_trailing(screen, score)
    assert list(screen.record["on_every_list"]) == [label for label in screen.labels if label in listed]
    is_any_worse = listed != set(screen.labels)
    assert (screen.record["verdict"] == "ship") == (bool(listed) and is_any_worse)
    for record in screen.comparisons:
        earlier, later = (screen.run_ids.index(record[end]) for end in ("earlier", "later"))
        test = screen.tests[record["address"], earlier, later]
        assert record["ci"] == pytest.approx(test.interval, abs=1e-6)
        assert (record["p"], record["p_adjusted"]) == (near(test.p), near(test.p_adjusted))


def test_who_is_out_and_who_is_left_is_what_numpy_computes(screen: Screen) -> None:
    worse = {label for score in screen.record["scores"] for label in screen.worse(score)}
    for document in screen.documents[:2]:
        first = document.blocks[0]
        assert isinstance(first, Decision)
        texts = {
            verdict.subject.en: str(verdict.sentence)
            for verdict in (*first.bullets, *first.judges)
            if isinstance(verdict.subject, Bilingual)
        }
        named = {label for label in screen.labels if f"{label} (" in texts.get("Out", "")}
        assert named == (set() if screen.record["verdict"] == "keep" else worse)
        rivals = {label for label in screen.labels if label in texts.get("Undecided", "")}
        assert not rivals & worse or screen.record["verdict"] != "ship"
        if screen.record["verdict"] == "ship" and len(screen.labels) - len(worse) > 1:
            assert rivals == set(screen.labels) - worse


def test_drift_and_compare_have_the_numbers_of_the_report(screen: Screen) -> None:
    of_drift, of_report = (leaves(item) for item in (decision_record(screen.drift.decision), screen.record))
    assert [of_drift[kind] for kind in (str, bool)] == [of_report[kind] for kind in (str, bool)]
    assert of_drift[float] == pytest.approx(of_report[float])
    words = {"too few": "too few prompts", "no difference seen": "no difference seen"}
    newest = {score["address"]: score["newest"] for score in screen.record["scores"]}
    unchanged = [score for score in screen.drift.scores if score.differs in words.values()]
    assert all(score.differs == words.get(newest[score.address], score.differs) for score in unchanged)
    for score in screen.drift.scores:
        if score.address in screen.values:
            means = screen.values[score.address].table.mean(axis=0).tolist()
            assert [item.mean for item in score.means] == pytest.approx(means)
    columns = [screen.labels.index(run.checkpoint) for run in (screen.pair.before, screen.pair.after)]
    values = {
        address: replace(score, table=score.table[:, columns]) for address, score in screen.values.items()
    }
    tests = pair_tests(values, 2)
    compared = {score.address: score for score in screen.pair.headline if score.test is not None}
    assert compared.keys() == values.keys()
    for address, of_pair in compared.items():
        assert of_pair.test is not None
        assert of_pair.interval is not None
        expected = tests[address, 0, 1]
        assert of_pair.means == pytest.approx(tuple(values[address].table.mean(axis=0)))
        assert (of_pair.test.difference, of_pair.test.p) == (
            pytest.approx(expected.difference),
            near(expected.p),
        )
        assert of_pair.interval.bounds == pytest.approx(expected.interval, abs=1e-6)
        assert of_pair.p_adjusted is None or of_pair.p_adjusted == near(expected.p_adjusted)
        assert (of_pair.outcome in ("better", "worse")) == expected.is_change


def test_every_number_of_a_sentence_is_one_of_the_computed_numbers(screen: Screen) -> None:
    groups = [document.record["groups"] for document in screen.documents]
    computed = {*leaves([screen.record, groups])[float]} | {
        float(number)
        for address, score in screen.values.items()
        for earlier, later in combinations(range(len(screen.labels)), 2)
        for number in counts_of(score, earlier, later)
    }
    computed |= {number for score in screen.pair.headline for number in score.means or ()}
    computed |= {score.test.difference for score in screen.pair.headline if score.test}
    computed |= {score.test.p for score in screen.pair.headline if score.test}
    computed |= {score.p_adjusted for score in screen.pair.headline if score.p_adjusted}
    computed |= {float(len(of_task)) for of_task in answers_of_tasks(screen)}
    computed |= {float(sum(not text for text in of_task)) for of_task in answers_of_tasks(screen)}
    texts = [text for document in screen.documents for text in sentences_of(document)]
    shown = [(text, token) for text in texts for token in NUMBER.findall(without_names(text, screen))]
    assert len(shown) >= 4
    for text, token in shown:
        places = len(token.partition(".")[2])
        unit = 100.0 if f"{token}%" in text else 1.0
        is_near = any(abs(abs(number) * unit - float(token)) <= 0.51 * 10**-places for number in computed)
        assert is_near or token == ".001", f"{token} in: {text}"


NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+(?![\w])")


def sentences_of(document: Document) -> list[str]:
    """Return the title and the reasons of a decision, without lines of judges."""
    first = document.blocks[0]
    assert isinstance(first, Decision)
    texts = [first.title, *(verdict.sentence for verdict in first.bullets)]
    return [text.en for text in texts if isinstance(text, Bilingual)]


def without_names(text: str, screen: Screen) -> str:
    for name in sorted([*screen.labels, *screen.values], key=len, reverse=True):
        text = text.replace(name, " ")
    return text


def leaves(record: object) -> dict[type, list[Any]]:
    """Return the texts, the numbers and the truth values in a record, each in its order."""
    if isinstance(record, dict):
        record = list(record.values())
    if isinstance(record, list | tuple):
        parts = [leaves(item) for item in record]
        return {kind: [leaf for part in parts for leaf in part[kind]] for kind in (str, float, bool)}
    kinds: tuple[tuple[type, Any], ...] = ((str, str), (bool, bool), (float, int | float))
    kind = next((kind for kind, instances in kinds if isinstance(record, instances)), None)
    return {name: [record] if name is kind else [] for name in (str, float, bool)}


def answers_of_tasks(screen: Screen) -> list[list[str]]:
    """Return the answers of each task in each run, without white space around them."""
    return [
        [response.text.strip() for response in responses if response.task == task]
        for responses in screen.texts
        for task in {response.task for response in responses}
    ]


def counts_of(score: Values, earlier: int, later: int) -> list[float]:
    """Return how many prompts rise, fall, stay equal, and their number; and what the commonest value is."""
    change = score.table[:, later] - score.table[:, earlier]
    values, times = np.unique(score.table, return_counts=True)
    counts = [int((change > 0).sum()), int((change < 0).sum()), int((change == 0).sum()), len(change)]
    return [*counts, float(values[times.argmax()]), float(times.max() / score.table.size)]


def best_of(means: list[float]) -> int:
    """Return the index of the best mean, the newest of equal ones."""
    return max(range(len(means)), key=lambda index: (round(means[index], 12), index))


def check_standings(screen: Screen, score: dict[str, Any]) -> None:
    """Compare the means, the best seen and the list of those not worse."""
    means = [item["mean"] for item in score["standings"]]
    if not score["is_group"]:
        assert means == pytest.approx(screen.values[score["address"]].table.mean(axis=0).tolist())
    peak, seen = best_of(means[:-1]), best_of(means)
    assert (score["best_seen"], score["peak"]) == (screen.labels[seen], screen.labels[peak])
    worse = screen.worse(score)
    assert score["not_worse"] == [label for label in screen.labels if label not in worse]
    line = screen.lines[score["address"]]
    assert (line["before"], line["after"]) == pytest.approx((means[peak], means[-1]))
    chosen = screen.labels.index(screen.record["checkpoint"])
    assert line["chosen"] == pytest.approx(means[chosen])
    assert line["chosen_low"] <= means[chosen] <= line["chosen_high"]


def check_newest(screen: Screen, score: dict[str, Any]) -> None:
    """Compare the test of the newest checkpoint against the best seen before it."""
    address = score["address"]
    line, peak = screen.lines[address], screen.labels.index(score["peak"])
    test = screen.tests[address, peak, len(screen.labels) - 1]
    assert (score["change"], score["prompts"]) == (pytest.approx(test.difference), test.prompts)
    assert (score["newest"] in ("worse", "better")) == test.is_change
    assert (line["prompts"], line["clusters"]) == (test.prompts, test.n)
    assert (line["p"], line["p_alone"]) == (near(test.p_adjusted), near(test.p))
    assert line["p"] == score["p"]
    low, high = test.interval
    span = screen.values[address].span
    family = (
        max(min(low, test.difference - test.half), -span),
        min(max(high, test.difference + test.half), span),
    )
    tolerance = 0.003 * span
    assert (line["family_low"], line["family_high"]) == pytest.approx(family, rel=0.03, abs=tolerance)


def check_trailing(screen: Screen, score: dict[str, Any]) -> None:
    """Compare how far each checkpoint trails, and how many prompts would tell."""
    for item in score["standings"]:
        if not item["better"]:
            continue
        index, better = (screen.labels.index(item[key]) for key in ("checkpoint", "better"))
        test = screen.tests[score["address"], min(index, better), max(index, better)]
        assert item["difference"] == pytest.approx(test.difference if index > better else -test.difference)
        assert (item["p"], item["p_alone"]) == (near(test.p_adjusted), near(test.p))
        if item["prompts_needed"] is not None and test.n == test.prompts:
            assert item["prompts_needed"] == pytest.approx(test.prompts_needed(), rel=0.06)


def check_set(screen: Screen, score: dict[str, Any]) -> None:
    """Compare the share of distinct pairs of tokens, and its change at equal length."""
    task = score["address"].partition("/")[0]
    by_run = [tokens_of(responses, task) for responses in screen.texts]
    for item, answers in zip(score["standings"], by_run, strict=True):
        assert item["mean"] == pytest.approx(distinct_share({"": list(answers.values())}))
    first, second = at_equal_length(by_run[screen.labels.index(score["peak"])], by_run[-1])
    change = distinct_share(second) - distinct_share(first)
    assert score["change"] == pytest.approx(change, abs=1e-6)
    rng, exceeded = np.random.default_rng(5), []
    for _ in range(200):
        moved = {prompt for prompt in first if rng.random() < 0.5}
        sides = [
            {prompt: (b if prompt in moved else a)[prompt] for prompt in first}
            for a, b in ((first, second), (second, first))
        ]
        apart = abs(distinct_share(sides[1]) - distinct_share(sides[0]))
        exceeded.append(apart >= abs(change) - 1e-9)
    assert screen.lines[score["address"]]["p_alone"] == pytest.approx(float(np.mean(exceeded)), abs=0.16)
