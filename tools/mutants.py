"""Mutation testing by mutmut: change the source a little, and count the changes that make a test fail.

An area of the source is tested by the folder of tests that mirrors it, and by a few end-to-end tests. mutmut
runs for each mutant only those tests that call the mutated function, so that a mutant takes about a second.
All mutants take hours; by default a sample is drawn, the same one for the same seed and the same source.

    python tools/mutants.py                       # 100 mutants of each area
    python tools/mutants.py engine --sample 0     # all mutants of one area
    python tools/mutants.py all                   # 100 mutants of the whole source, by all fast tests
    python tools/mutants.py store --only hengwen.store.codecs.*    # all mutants of a module

mutmut changes only the bodies of functions without decorators, and no constants of modules.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".mutants"
PACKAGE = Path("src/hengwen")
AREAS = {
    "runs": ("runs",),
    "engine": ("engine",),
    "store": ("store",),
    "stats": ("stats", "results"),
    "objective": ("objective",),
}
"""Packages of each area; the folders of tests have the same names."""
WHOLE = "all"
"""The whole source, tested by all fast tests that mirror it; only if it is named. Writing its mutants takes
minutes, and importing them as long, so they are written again for the modules of the sample alone."""
END_TO_END = {
    "runs": ("endtoend/test_judged_runs.py", "endtoend/test_persona_rules.py"),
    "engine": ("endtoend/test_judged_runs.py",),
}
"""Further tests of an area. They are slow: a mutant that survives runs all tests that call its function."""
CHILD = """import os
if os.environ.get("MUTANT_UNDER_TEST") == "stats":
    del os.environ["MUTANT_UNDER_TEST"]
"""
"""Start of each program that a test starts: mutmut cannot note which functions it calls."""
KILLED = ("killed", "timeout", "suspicious", "segfault")
STATUSES = ("killed", "survived", "no tests", "timeout")


def main() -> int:
    """Run mutmut in each area; return 1 if too few mutants of an area were killed."""
    parser = argparse.ArgumentParser(description="mutation testing of a sample")
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"default: {', '.join(AREAS)}; or {WHOLE}")
    parser.add_argument("--sample", type=int, default=100, help="mutants of an area; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", help="pattern of mutants, such as hengwen.store.codecs.*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fail-under", type=float, default=85.0, help="per cent of the mutants")
    options = parser.parse_args()
    if unknown := sorted(set(options.areas) - {*AREAS, WHOLE}):
        parser.error(f"unknown area {unknown[0]!r}; known: {', '.join(AREAS)}, {WHOLE}")
    results: dict[str, dict[str, str]] = {}
    for area in options.areas or AREAS:
        # No mutant is named none: mutmut writes all mutants, notes which tests call what, and fails.
        # It tests mutants in a second process, because some tests do not pass twice in one.
        folder = prepare(area)
        mutmut(folder, "none", jobs=options.jobs, check=False)
        names = draw(folder, options.only, options.sample, f"{options.seed} {area}")
        if area == WHOLE:
            folder = prepare(area, {name.partition(".x")[0] for name in names})
            mutmut(folder, "none", jobs=options.jobs, check=False)
        mutmut(folder, *names, jobs=options.jobs)
        statuses = statuses_in(folder)
        results[area] = {name: statuses[name] for name in names}
    return report(results, options.fail_under)


def prepare(area: str, modules: Collection[str] = ()) -> Path:
    """Copy the project into a folder for the area, with the settings of mutmut for it; return the folder.

    With modules, only these are changed. The whole source without modules has no tests, as it is not run.
    """
    folder = WORK / area
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = [path.name for path in ROOT.glob("*.md")]
    pages += ["docs", "benchmarks", "examples", "action.yml"]  # tests read them
    for name in ("src", "tests", *pages):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    shared = ROOT.parent / "shared"
    if shared.exists():  # tests look for it beside the checkout, and mutmut tests a copy in a folder
        (folder / "shared").symlink_to(shared)
    (folder / "mutants" / "src").mkdir(
        parents=True
    )  # Python never looks again into a path that was not there
    (folder / "start").mkdir()
    (folder / "start" / "sitecustomize.py").write_text(CHILD, "utf-8")
    changed = [f"{PACKAGE / name}/*" for name in AREAS.get(area, ("",))]
    if modules:
        paths = [PACKAGE.parent.joinpath(*name.split(".")) for name in modules]
        changed = sorted(f"{path}/__init__.py" if path.is_dir() else f"{path}.py" for path in paths)
    settings = {
        "also_copy": pages,
        "source_paths": ["src/"],
        "only_mutate": changed,
        "pytest_add_cli_args": ["-p", "no:cacheprovider", *(["-m", "not slow"] if area == WHOLE else [])],
        "pytest_add_cli_args_test_selection": tests_of(area) if modules or area != WHOLE else ["tests/none"],
    }
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (folder / "pyproject.toml").write_text(f"{project}\n[tool.mutmut]\n{lines}", "utf-8")
    return folder


def tests_of(area: str) -> list[str]:
    """Return the tests of an area; those of the whole source are all that do not read its text."""
    if area != WHOLE:
        return [f"tests/{name}" for name in (*AREAS[area], *END_TO_END.get(area, ()))]
    mirrored = (*(path.name for path in (ROOT / PACKAGE).iterdir()), "endtoend", "hostile")
    return [f"tests/{name}" for name in sorted(mirrored) if (ROOT / "tests" / name).is_dir()]


def mutmut(folder: Path, *names: str, jobs: int, check: bool = True) -> None:
    """Write the mutants that do not exist yet, note which tests call which function, and test some mutants.

    Raises:
        SystemExit: mutmut failed; usually a test fails without any mutant.
    """
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs), *names]
    environment = {**os.environ, "CI": "1", "PYTHONUTF8": "1"}  # CI: Hypothesis draws the same examples
    environment["PYTHONPATH"] = os.pathsep.join(map(str, [folder / "start", folder / "mutants" / "src"]))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules with mutants are long
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    (folder / "mutmut.log").write_text(done.stdout + done.stderr, "utf-8")
    if check and done.returncode:
        sys.exit(f"mutmut ended with {done.returncode}, see {folder / 'mutmut.log'}")


def draw(folder: Path, pattern: str, count: int, seed: str) -> list[str]:
    """Return the names of the mutants to test: those that match the pattern, or a sample of them."""
    names = sorted(name for name in statuses_in(folder) if fnmatch.fnmatchcase(name, pattern))
    if not names:
        sys.exit(f"no mutant of {folder.name} matches {pattern!r}, see {folder / 'mutmut.log'}")
    return names if not count or len(names) <= count else sorted(random.Random(seed).sample(names, count))


def statuses_in(folder: Path) -> dict[str, str]:
    """Return the status of every mutant, by name."""
    command = [sys.executable, "-m", "mutmut", "results", "--all", "true"]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    pairs = (line.strip().partition(": ") for line in done.stdout.splitlines())
    return {name: status for name, colon, status in pairs if colon}


def report(results: dict[str, dict[str, str]], fail_under: float) -> int:
    """Print the survivors, and tables by module and by area; return 1 if an area is below the limit."""
    modules: dict[str, Counter[str]] = {}
    for statuses in results.values():
        for name, status in statuses.items():
            if status not in KILLED:
                print(f"{status}: {name}")
            modules.setdefault(name.partition(".x")[0], Counter())[status] += 1
    print_table("module", modules)
    areas = {area: Counter(statuses.values()) for area, statuses in results.items()}
    print_table("area", areas)
    return int(any(killed_share(counts) < fail_under for counts in areas.values()))


def print_table(title: str, rows: dict[str, Counter[str]]) -> None:
    """Print the counts of each row by status."""
    print(f"\n{title:<52} mutants  killed  survived  no tests  timeout  killed %")
    for name, counts in rows.items():
        numbers = "  ".join(f"{counts[status]:{len(status)}}" for status in STATUSES)
        print(f"{name:<52} {counts.total():7}  {numbers}  {killed_share(counts):8.1f}")


def killed_share(counts: Counter[str]) -> float:
    """Return the share of killed mutants in per cent."""
    return 100 * sum(counts[status] for status in KILLED) / counts.total()


if __name__ == "__main__":
    sys.exit(main())
