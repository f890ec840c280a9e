"""Every number of the first screen, computed again from the rows of the store by plain numpy."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import combinations, pairwise
from math import inf
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hengwen import RunComparison, compare_runs, drift_report, open_store, report_document, run_plan
from hengwen.documents.blocks import Decision, Document
from hengwen.documents.compare.document import compare_document
from hengwen.documents.decision import decision_record
from hengwen.documents.drift.document import drift_document
from hengwen.importers.muchin import import_muchin
from hengwen.monitoring.drift.score_drift import DriftReport
from hengwen.objective.text.tokenize import mixed_tokens
from hengwen.personas.folder import write_folder
from hengwen.personas.suites import example_suite
from hengwen.records import Response, Row, Score
from hengwen.runs.imported.record import import_scores
from hengwen.text.language import Bilingual

pytestmark = pytest.mark.slow
Floats = NDArray[np.float64]
FLIPS = 20_000


@dataclass
class Values:
    """One score: a row for each prompt, a column for each checkpoint."""

    table: Floats
    clusters: list[str]
    span: float
    is_discrete: bool

    def differences(self, earlier: int, later: int) -> tuple[Floats, Floats]:
        """Return the sum of the differences in each cluster, and the number of prompts of each."""
        names, codes = np.unique(self.clusters, return_inverse=True)
        change = self.table[:, later] - self.table[:, earlier]
        sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
        return np.bincount(codes, change, len(names)).astype(np.float64), sizes


def values_by_address(rows: Iterable[Row], checkpoints: list[str]) -> dict[str, Values]:
    """Return the mean of each prompt over its repeats; all checkpoints have all prompts."""
    answers: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    clusters: dict[str, str] = {}
    scales = {}
    for row in rows:
        if isinstance(row.outcome, Score) and row.sample_id is not None and row.score.role == "answer":
            answers[row.score.address][row.sample_id, row.checkpoint].append(row.outcome.value)
            clusters[row.sample_id] = row.cluster
            scales[row.score.address] = row.outcome.scale
    values = {}
    for address, by_prompt in answers.items():
        prompts = sorted({prompt for prompt, _ in by_prompt})
        scale = scales[address]
        values[address] = Values(
            table=np.array([[np.mean(by_prompt[p, c]) for c in checkpoints] for p in prompts]),
            clusters=[clusters[prompt] for prompt in prompts],
            span=scale.high - scale.low,
            is_discrete=scale.discrete,
        )
    return values


def z_of(totals: Floats, squares: float, n: int) -> Floats:
    """Return the normal quantile of the t values of totals of n clusters."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(totals**2 / squares, n) if squares > 0 else np.zeros(np.shape(totals))
        t = np.sqrt(share * (n - 1) / (n - share))
    return np.asarray(stats.norm.isf(stats.t.sf(t, n - 1)))


@dataclass
class PairTest:
    """The test of one pair in one score."""

    difference: float
    error: float
    n: int
    prompts: int
    p: float
    p_adjusted: float
    critical: float
    interval: tuple[float, float]

    @property
    def is_change(self) -> bool:
        return self.p_adjusted <= 0.05 and (self.interval[0] > 0 or self.interval[1] < 0)

    @property
    def half(self) -> float:
        """Half of the width of the interval at the critical value of the family."""
        return float(stats.t.isf(stats.norm.sf(self.critical), self.n - 1)) * self.error

    def prompts_needed(self) -> int:
        level = 2 * stats.norm.sf(self.critical)
        deviation = self.error * self.n**0.5
        for n in range(12, 5000):
            limit, shift = stats.t.isf(level / 2, n - 1), abs(self.difference) / (deviation / n**0.5)
            if stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift) >= 0.8:
                return n
        raise AssertionError("too many prompts")


def interval_of(sums: Floats, sizes: Floats, reach: float, weight: float, span: float) -> tuple[float, float]:
    """Return the interval with pseudo-clusters of ``weight`` times the mean size at plus and minus reach."""
    size = weight * sizes.mean()
    sums, sizes = np.append(sums, [-reach * size, reach * size]), np.append(sizes, [size, size])
    mean, groups = sums.sum() / sizes.sum(), len(sums)
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    error = ((groups - 1) / groups * ((left_out - mean) ** 2).sum()) ** 0.5
    half = stats.t.isf(0.025, sizes.sum() ** 2 / (sizes**2).sum() - 1) * error
    return max(mean - half, -span), min(mean + half, span)


def pair_tests(values: dict[str, Values], checkpoints: int) -> dict[tuple[str, int, int], PairTest]:
    """Return the tests of all pairs of checkpoints in all scores, which are one family."""
    rng = np.random.default_rng(99)
    signs = {}
    names, observed, flipped = [], [], []
    for address, score in values.items():
        clusters = tuple(np.unique(score.clusters))
        task = address.partition("/")[0]
        if task not in signs:
            signs[task] = rng.choice([-1.0, 1.0], (FLIPS, len(clusters)))
        for pair in combinations(range(checkpoints), 2):
            sums, _ = score.differences(*pair)
            sums = np.where(abs(sums) < 1e-9, 0, sums)
            names.append((address, *pair))
            observed.append(float(z_of(sums.sum()[None], sums @ sums, len(sums))[0]))
            flipped.append(z_of(signs[task] @ sums, sums @ sums, len(sums)))
    is_small = [len(set(values[address].clusters)) < 6 for address, *_ in names]
    order = np.lexsort((-np.array(observed), is_small))[
        : is_small.count(False)
    ]  # with fewer than 6: no family
    least = np.array(observed)[order] * (1 - 1e-7)
    largest = np.maximum.accumulate(np.array(flipped)[order][::-1], axis=0)[::-1]
    adjusted = np.maximum.accumulate((largest >= least[:, None]).mean(axis=1))
    end = min(int((adjusted <= 0.05).sum()), len(order) - 1)
    tests = {}
    places = {int(index): place for place, index in enumerate(order)}
    for index, (address, earlier, later) in enumerate(names):
        place = places.get(index)
        score = values[address]
        sums, sizes = score.differences(earlier, later)
        pairs = combinations(range(checkpoints), 2)
        reach = max(float(abs(score.table[:, b] - score.table[:, a]).max()) for a, b in pairs)
        weight = 1.0 if score.is_discrete else 2 / 3
        reach = score.span if score.is_discrete else reach
        tests[names[index]] = PairTest(
            difference=float(sums.sum() / sizes.sum()),
            error=float((len(sums) * sums.var(ddof=1)) ** 0.5 / sizes.sum()),
            n=len(sums),
            prompts=int(sizes.sum()),
            p=float((flipped[index] >= observed[index] * (1 - 1e-7)).mean()),
            p_adjusted=1.0 if place is None else float(adjusted[place]),
            critical=inf if place is None else float(np.quantile(largest[min(place, end)], 0.95)),
            interval=interval_of(sums, sizes, reach, weight, score.span),
        )
    return tests


def near(p: float) -> object:
    """Return what equals a p-value but for the errors of two samples of flips."""
    return pytest.approx(p, abs=0.001 + 4.5 * (p * (1 - p) * (1 / FLIPS + 1 / 9999)) ** 0.5)


def distinct_share(texts: dict[str, list[list[str]]]) -> float:
    """Return the share of distinct pairs of tokens."""
    grams = [gram for answers in texts.values() for tokens in answers for gram in pairwise(tokens)]
    return len(set(grams)) / len(grams)


def tokens_of(responses: Iterable[Response], task: str) -> dict[tuple[str, int], list[str]]:
    return {(r.sample_id, r.repeat): list(mixed_tokens(r.text)) for r in responses if r.task == task}


def at_equal_length(
    first: dict[tuple[str, int], list[str]], second: dict[tuple[str, int], list[str]]
) -> tuple[dict[str, list[list[str]]], dict[str, list[list[str]]]]:
    sides: tuple[dict[str, list[list[str]]], ...] = (defaultdict(list), defaultdict(list))
    for key in first.keys() & second.keys():
        size = min(len(first[key]), len(second[key]))
        sides[0][key[0]].append(first[key][:size])
        sides[1][key[0]].append(second[key][:size])
    return sides[0], sides[1]


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
