"""Measure how long ``hengwen report`` takes, how large its page is, and how fast the page sorts and filters.

    .venv/bin/python benchmarks/bench_report.py [--sizes 360 10000] [--source FILE] [--rounds 3]

The answers are lyrics of six checkpoints from ``../shared/data/muchin-checkpoints.jsonl``, copies of which
differ in some characters, with two judges. The whole command is measured, with the start of Python. The page
is opened in Chromium, which the variable CHROMIUM names or Debian has. Targets: 360 answers in 3 s and
2.5 MB, 10,000 in 10 s and 15 MB; sorting and filtering in 200 ms.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench_main_job import LYRICS, measured, write_plan
from harness.figures import Figure, Problem, print_entries, script_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.figures import Entry

SECOND_JUDGE = "  - rubric: persona_generic\n    options: {markers: [月, 风]}\n"
LIMITS = {360: (3.0, 2.5), 10_000: (10.0, 15.0)}
"""Seconds and megabytes, by the number of answers."""
ACTIONS = {
    "sort by the prompt": "document.querySelectorAll('.answers th button')[1].click()",
    "sort by a score": "document.querySelectorAll('.answers th button')[3].click()",
    "search a word": "const form = document.querySelector('.filters'); form.elements.text.value = '月光';"
    "form.dispatchEvent(new Event('input'))",
}


def page_figures(case: str, page: Path) -> Iterator[Entry]:
    """Measure the page in Chromium: opening, sorting, filtering; each with the new layout."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield Problem(case=f"{case}: browser", message="needs playwright and Chromium")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(page.as_uri())
        loaded = opened.evaluate("performance.getEntriesByType('navigation')[0].duration")
        yield Figure(case=f"{case}: open", value=loaded, unit="ms")
        for name, action in ACTIONS.items():
            script = f"() => {{ const start = performance.now(); {action}; document.body.offsetHeight;"
            value = opened.evaluate(f"{script} return performance.now() - start }}")
            yield Figure(case=f"{case}: {name}", value=value, unit="ms", high=200)
        browser.close()


def figures(sizes: list[int], source: Path, rounds: int) -> Iterator[Entry]:
    """Measure reports with numbers of answers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in sizes:
            plan, case = write_plan(folder, source, size), f"report of {size:,} lyrics with 2 judges"
            plan.write_text(plan.read_text("utf-8").replace("checkpoints:", f"{SECOND_JUDGE}checkpoints:"))
            store, page = folder / f"{size}.db", folder / f"{size}.html"
            measured(["run", str(plan), "--store", str(store), "--quiet"])
            seconds, megabytes = LIMITS.get(size, (None, None))
            for _ in range(rounds):
                wall, cpu, memory = measured(["report", "--store", str(store), "-o", str(page), "--quiet"])
                yield Figure(case=case, value=wall, unit="s", high=seconds)
                yield Figure(case=case, value=cpu, unit="s of CPU")
                yield Figure(case=f"{case}: memory", value=memory.peak, unit="MB")
                yield Figure(case=f"{case}: page", value=page.stat().st_size / 1e6, unit="MB", high=megabytes)
                yield from page_figures(case, page)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[360, 10_000])
    parser.add_argument("--source", type=Path, default=LYRICS)
    options = parser.parse_args()
    print_entries(figures(options.sizes, options.source, options.rounds), as_json=options.json)


if __name__ == "__main__":
    main()
