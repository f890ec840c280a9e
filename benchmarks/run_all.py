"""Run the benchmarks beside their peers, and write ``benchmarks/RESULTS.md``.

    make bench
    make bench ARGS="--only judges --rounds 5"
    make bench ARGS="--quick"

Everything runs in ``.venv-bench``, which has Hengwen and the peers in the versions of
``requirements-bench.txt``. The figures of each topic are kept in ``.benchmarks/topics``, so that ``--only``
measures some topics and the page still shows all that were measured on this machine with these versions.
``--quick`` uses small inputs and one round, which shows whether everything works; its page is
``.benchmarks/QUICK.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from harness.collect import run_script
from harness.environment import ROOT, Environment, prepare
from harness.figures import Problem
from harness.machine import LoadSampler, machine_facts
from harness.results import TopicResult, results_page
from harness.topics import TOPICS, Topic

CACHE = ROOT / ".benchmarks" / "topics"
PAGE = ROOT / "benchmarks" / "RESULTS.md"
QUICK_PAGE = ROOT / ".benchmarks" / "QUICK.md"


def measure_topic(
    topic: Topic, environment: Environment, machine: dict[str, str], *, rounds: int | None, is_quick: bool
) -> TopicResult:
    """Run the scripts of a topic, and print how many figures each of them measured."""
    start, entries = time.monotonic(), {}
    with LoadSampler() as sampler:
        for script in topic.scripts:
            rows = run_script(script, environment.python, rounds=rounds, is_quick=is_quick)
            entries[" ".join((script.name, *script.options))] = rows
            problems = [entry for entry in rows if isinstance(entry, Problem)]
            print(f"{topic.name}: {script.name}: {len(rows) - len(problems)} figures", flush=True)
            for problem in problems:
                print(f"  {problem.system}, {problem.case}: {problem.message}", flush=True)
    return TopicResult(
        name=topic.name,
        title=topic.title,
        measured_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        commit=_commit(),
        seconds=time.monotonic() - start,
        load=sampler.load,
        machine=machine,
        versions=environment.versions,
        missing=environment.missing,
        entries=entries,
    )


def comparable_results(versions: dict[str, str], machine: dict[str, str]) -> list[TopicResult]:
    """Return the kept results of this machine and these versions, in the order of the topics."""
    results = []
    for topic in TOPICS:
        path = CACHE / f"{topic.name}.json"
        if path.exists():
            result = TopicResult.from_json(json.loads(path.read_text("utf-8")))
            if (result.versions, result.machine) == (versions, machine):
                results.append(result)
            else:
                print(f"{topic.name}: left out, measured with other versions or on another machine")
    return results


def _commit() -> str:
    """Return the short hash of the commit; it ends with ``-dirty`` if a file except the page has changed."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{PAGE.relative_to(ROOT)}")
    return f"{commit}-dirty" if changed else commit or "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main() -> None:
    """Measure the topics, and write the page after each of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [topic.name for topic in TOPICS]
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="TOPIC", help=", ".join(names)
    )
    parser.add_argument("--rounds", type=int, help="rounds of each figure; each script has its own default")
    parser.add_argument("--quick", action="store_true", help="small inputs and one round; no RESULTS.md")
    parser.add_argument("-o", "--output", type=Path, help="the page; default: benchmarks/RESULTS.md")
    options = parser.parse_args()
    environment, machine = prepare(), machine_facts()
    for name, error in environment.missing.items():
        print(f"{name} could not be installed: {error}", file=sys.stderr)
    page = options.output or (QUICK_PAGE if options.quick else PAGE)
    CACHE.mkdir(parents=True, exist_ok=True)
    rounds = options.rounds or (1 if options.quick else None)
    quick_results = []
    for topic in TOPICS:
        if topic.name not in options.only:
            continue
        result = measure_topic(topic, environment, machine, rounds=rounds, is_quick=options.quick)
        if options.quick:
            quick_results.append(result)
        else:
            (CACHE / f"{topic.name}.json").write_text(json.dumps(result.to_json()), "utf-8")
        results = quick_results or comparable_results(environment.versions, machine)
        page.write_text(results_page(results), "utf-8")
    print(f"results: {page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}")


if __name__ == "__main__":
    main()
