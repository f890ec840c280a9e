"""Compute published figures again from published verdicts, scores and answers.

    .venv/bin/python benchmarks/published/figures.py alpaca|mtbench|wildbench|llmdrift|pandalm|pythia

The data are in ``../shared/data/published``; its README names sources and licences.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
import sys
import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen import compare_runs, drift_report, import_scores, import_verdicts, open_store
from hengwen.importers.verdicts import VerdictFile
from hengwen.judges.calibration import measure_agreement
from hengwen.results.aggregate import aggregate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hengwen.store import Store

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "published"
BOARDS = {
    "alpaca_eval_gpt4": "alpaca_eval_1_leaderboard.csv",
    "weighted_alpaca_eval_gpt4_turbo": "alpaca_eval_2_leaderboard.csv",
    "alpaca_eval_cot_gpt4_turbo_fn": "alpaca_eval_2_cot_leaderboard.csv",
}


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the data."""
    with gzip.open(DATA / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, name: str, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write rows as a table."""
    listed = list(rows)
    path = folder / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(listed[0]))
        table.writeheader()
        table.writerows(listed)
    return path


def alpaca(folder: Path, store: Store) -> Iterator[str]:
    """The win rates of the leaderboards of AlpacaEval."""
    rows = rows_of("alpaca_eval_annotations")
    columns = {"model_a": "baseline", "model_b": "model", "question": "instruction"}
    for judge, board in BOARDS.items():
        with (DATA / board).open(encoding="utf-8") as file:
            published = {row[""]: float(row["win_rate"]) for row in csv.DictReader(file)}
        unique = {
            (row["model"], row["instruction"]): row
            for row in rows
            if row["judge"] == judge and row["model"] in published and row["model"] != row["baseline"]
        }
        result = import_verdicts(write(folder, judge, unique.values()), store, columns=columns)
        names = {run.id: run.checkpoint for run in result.runs}
        rates = {names[key.run_id]: item for key, item in aggregate(store.table(result.runs)).items()}
        gaps = {name: abs(100 * (item.mean or 0) - published[name]) for name, item in rates.items()}
        worst = max(gaps, key=gaps.__getitem__)
        failures = sum(result.failures.values())
        yield (
            f"{board}: {len(gaps)} models, {result.scores} verdicts, {failures} failures; "
            f"largest difference from the published rate {gaps[worst]:.3f} points ({worst})"
        )


def mtbench(folder: Path, _: Store) -> Iterator[str]:
    """The agreement of GPT-4 with people on MT-bench, by turn."""
    path = write(folder, "votes", rows_of("mtbench_human_vs_gpt4"))
    people, judge = (
        list(VerdictFile(path, [("winner", column), ("question", "question_id")]))
        for column in ("human_winner", "gpt4_pair_winner")
    )
    for turn in (1, 2):
        pairs = [
            (vote.winner, verdict.winner)
            for vote, verdict in zip(people, judge, strict=True)
            if vote.turn == turn and vote.winner is not None and verdict.winner is not None
        ]
        decided = [pair for pair in pairs if 0.5 not in pair]
        shares = [
            100 * sum(vote == verdict for vote, verdict in some) / len(some) for some in (pairs, decided)
        ]
        yield (
            f"turn {turn}: {shares[0]:.1f} % of {len(pairs)} votes with ties, "
            f"{shares[1]:.1f} % of {len(decided)} without"
        )


def wildbench(folder: Path, store: Store) -> Iterator[str]:
    """The differences between two judges of WildBench, and two versions of its set, on the same answers."""
    answers: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows_of("wildbench_scores"):
        answer = row["model"], row["session"], row["hash_output"]
        answers.setdefault(answer, {})[f"{row['judge']} {row['version']}"] = float(row["score"])
    judges = sorted({judge for scores in answers.values() for judge in scores})
    for first, second in combinations(judges, 2):
        if first.split()[0] != second.split()[0] and first.split()[1] != second.split()[1]:
            continue  # another judge and another version of the set at once
        models: dict[str, list[dict[str, object]]] = {}
        for (model, session, _), scores in answers.items():
            if first in scores and second in scores:
                models.setdefault(model, []).extend(
                    {"model": judge, "id": session, "score": scores[judge]} for judge in (first, second)
                )
        for model, rows in sorted(models.items()):
            path = write(folder, f"{model} {first} {second}".replace("/", "_"), rows)
            before, after = import_scores(path, store, judge="wildbench").runs
            (score,) = compare_runs(store, before, after).scores
            low, high = score.interval.bounds
            change = score.means[1] - score.means[0]
            answers_of_both = len(rows) // 2
            yield (
                f"{first} -> {second}, {model}: {change:+.3f} [{low:.3f}, {high:.3f}] (n = {answers_of_both})"
            )


def llmdrift(folder: Path, store: Store) -> Iterator[str]:
    """The share of right answers of two versions of a model to "is N prime"."""
    answer_word = re.compile(r"\b(yes|no)\b", re.IGNORECASE)  # the last one of an answer counts
    rows = []
    for row in rows_of("llmdrift_primes"):
        verdicts = answer_word.findall(row["answer"])
        score = "" if not verdicts else float(verdicts[-1].casefold() == row["ref_answer"].casefold())
        rows.append({"model": row["model"], "id": f"{row['dataset']} {row['id']}", "score": score})
    result = import_scores(write(folder, "primes", rows), store, scorer="right")
    for run in result.runs:
        (summary,) = aggregate(store.table([run])).values()
        low, high = summary.interval or (0.0, 0.0)
        mean, failures = 100 * (summary.mean or 0), sum(summary.failures.values())
        interval = f"[{100 * low:.1f}, {100 * high:.1f}]"
        of_all = mean * summary.n / (summary.n + failures)
        yield (
            f"{run.checkpoint}: {mean:.1f} % {interval} of {summary.n} answers, {failures} failures; "
            f"{of_all:.1f} % if failures are wrong"
        )
    for family in ("gpt-4", "gpt-3.5"):
        before, after = sorted(
            (run for run in result.runs if family in run.checkpoint), key=lambda r: r.checkpoint
        )
        (score,) = compare_runs(store, before, after).scores
        low, high = (100 * bound for bound in score.interval.bounds)
        yield f"{family}: {score.outcome}, difference [{low:.1f}, {high:.1f}] points"


def pandalm(folder: Path, store: Store) -> Iterator[str]:
    """The kappas of the annotators of PandaLM, and the accuracy of two judges."""
    rows = rows_of("pandalm_verdicts")
    for first, second in ((1, 2), (1, 3), (2, 3)):
        values = [[float(row[f"annotator{number}"]) for row in rows] for number in (first, second)]
        kappa = measure_agreement(values[0], values[1], levels=[0, 1, 2]).kappa
        interval = f"[{kappa.low:.3f}, {kappa.high:.3f}]"
        yield f"kappa of annotators {first} and {second}: {kappa.value:.3f} {interval} (n = {len(rows)})"
    gold = [Counter(row[f"annotator{number}"] for number in (1, 2, 3)).most_common(1)[0][0] for row in rows]
    for judge in ("gpt35", "pandalm7b"):
        verdicts = [{"Tie": "0"}.get(row[judge], row[judge]) for row in rows]
        correct = [
            float(verdict == label) if verdict in ("0", "1", "2") else ""
            for verdict, label in zip(verdicts, gold, strict=True)
        ]
        table = (
            {"id": f"{row['cmp_key']} {row['idx']}", "model": judge, "score": score}
            for row, score in zip(rows, correct, strict=True)
        )
        result = import_scores(write(folder, judge, table), store, scorer="right")
        (summary,) = aggregate(store.table(result.runs)).values()
        failures = sum(summary.failures.values())
        right = (summary.mean or 0) * summary.n
        ties = sum(label == "0" for label, score in zip(gold, correct, strict=True) if score == "")
        low, high = summary.interval or (0.0, 0.0)
        shares = right / summary.n, right / len(rows), (right + ties) / len(rows)
        parsed, wrong, tied = (f"{100 * share:.2f} %" for share in shares)
        yield (
            f"{judge}: {parsed} [{100 * low:.1f}, {100 * high:.1f}] of {summary.n} verdicts, "
            f"{failures} failures; failures counted wrong {wrong}, failures counted as ties {tied}"
        )


def pythia(folder: Path, store: Store) -> Iterator[str]:
    """The course of a model over its training steps, from means and standard errors only."""
    courses: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows_of("pythia_evals"):
        courses.setdefault((row["release"], row["model"], row["shots"]), []).append(row)
    longest = max(courses, key=lambda key: (len({row["step"] for row in courses[key]}), key))
    tasks = ("lambada_openai", "arc_easy", "piqa")
    rows = [row for row in courses[longest] if row["task"] in tasks and row["acc"]]
    result = import_scores(
        write(folder, "course", rows), store, columns={"score": "acc", "stderr": "acc_stderr"}
    )
    yield f"{' '.join(longest)}: {len(result.runs)} checkpoints, {result.scores} means"
    for score in drift_report(store, plan=result.runs[0].plan).scores:
        summaries = [aggregate(store.table([run])).items() for run in (result.runs[0], result.runs[-1])]
        means = [
            item.mean for items in summaries for key, item in items if key.score.address == score.address
        ]
        error = score.steps.mean_error if score.steps else None
        yield f"{score.address}: {means[0]:.3f} -> {means[-1]:.3f}, standard error {error:.4f}"


FIGURES = {
    "alpaca": alpaca,
    "mtbench": mtbench,
    "wildbench": wildbench,
    "llmdrift": llmdrift,
    "pandalm": pandalm,
    "pythia": pythia,
}


def main() -> None:
    """Print the figures of one publication."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", choices=FIGURES)
    name = parser.parse_args().name
    if not DATA.exists():
        sys.exit(f"{DATA}: not here")
    with tempfile.TemporaryDirectory() as folder, open_store("sqlite://") as store:
        for line in FIGURES[name](Path(folder), store):
            print(line)


if __name__ == "__main__":
    main()
