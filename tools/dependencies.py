"""Write docs/dependencies.md: what each dependency is for, weighs and brings along."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

ROOT = Path(__file__).parents[1]
PURPOSES = {
    "aiohttp": "sends requests to judges and tested models, and reads replies, with the least CPU time",
    "aiolimiter": "limits calls and tokens per minute",
    "anyio": "starts the tasks of a run, and ends them together",
    "filelock": "lets one process at a time run a plan in a store",
    "httpx2": "the HTTP client of `openai`, whose replies get a limit of size",
    "jieba": "cuts Chinese words, for ROUGE, BLEU and the parts of lyrics",
    "jinja2": "prompts of plans, in a sandbox, and HTML reports",
    "langchain": "judges and tested models by LangChain's model classes",
    "numpy": "statistics, sequence metrics, score tables",
    "openai": "addresses, keys and headers of endpoints; the Batch API",
    "opencc": "makes simplified and traditional Chinese comparable",
    "orjson": "encodes the requests to endpoints",
    "platformdirs": "finds the folder of the user's settings (trusted plans)",
    "pydantic": "checks plans, rubrics and verdicts, and names the key that is wrong",
    "pypinyin": "pronunciation of Chinese characters, for rhymes",
    "python-dotenv": "reads API keys from a file `.env`",
    "pyyaml": "reads plans, rubrics and personas",
    "rapidfuzz": "longest common subsequences and edit distances",
    "regex": "patterns of users, with a time limit",
    "rich": "tables, progress and labels on terminals",
    "sacrebleu": "BLEU as published, with its signature",
    "scipy": "distributions, exact tests and optimisation",
    "sqlalchemy": "stores in SQLite and PostgreSQL",
    "starlette": "the pages of `hengwen view` and `hengwen label`",
    "tenacity": "repeats calls that failed for the moment",
    "threadpoolctl": "keeps numpy from starting threads for the small systems of a ranking",
    "typer": "the command line",
    "uvicorn": "serves these pages on this machine",
}
ARGUED_MB = 20
"""Size in MB from which a dependency needs an argument."""
ARGUMENTS = {
    "scipy": "Its tests and distributions decide every verdict; ours would be less exact.",
    "numpy": "A score table of a million values is an array; scipy needs it too.",
    "jieba": "Its words are part of published scores; a smaller dictionary gives other numbers.",
    "langchain": "Loaded only for a backend of this provider; its provider packages are extras.",
}


def required(dist: Distribution) -> Iterator[Distribution]:
    """Yield the installed distributions that a distribution requires here."""
    for line in dist.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            try:
                yield distribution(requirement.name)
            except PackageNotFoundError:
                continue


def closure(names: AbstractSet[str]) -> dict[str, Distribution]:
    """Return distributions and all that they require, by name."""
    reached: dict[str, Distribution] = {}
    waiting = [distribution(name) for name in names]
    while waiting:
        dist = waiting.pop()
        if reached.setdefault(canonicalize_name(dist.name), dist) is dist:
            waiting += required(dist)
    return reached


def megabytes(dists: dict[str, Distribution]) -> float:
    """Return the size of the files of distributions, without compiled Python."""
    paths = {Path(str(file.locate())) for dist in dists.values() for file in dist.files or ()}
    return sum(path.stat().st_size for path in paths if path.suffix != ".pyc" and path.is_file()) / 1e6


def main() -> None:
    """Write the page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    everything = closure(names)
    rows = []
    for name in sorted(names):
        without = closure(names - {name})
        brought = {key: dist for key, dist in everything.items() if key not in without}
        own = megabytes({name: everything[name]})
        rows.append((name, everything[name].version, own, max(own, megabytes(brought)), PURPOSES[name]))
    rows.sort(key=lambda row: -row[3])
    lines = [
        "# Dependencies",
        "",
        "What each one is for, and what it weighs: alone, and with all that no other dependency needs. Sizes",
        "are those of the installed files without compiled Python. `tools/dependencies.py` writes this page.",
        "",
        f"Python {sys.version_info.major}.{sys.version_info.minor}, {len(everything)} distributions, "
        f"{megabytes(everything):.0f} MB.",
        "",
        "| dependency | version | MB alone | MB with its own | for |",
        "| --- | --- | ---: | ---: | --- |",
        *(
            f"| {name} | {version} | {own:.1f} | {total:.1f} | {purpose} |"
            for name, version, own, total, purpose in rows
        ),
        "",
        f"## Those above {ARGUED_MB} MB",
        "",
        *(f"- **{name}.** {ARGUMENTS[name]}" for name, _, _, total, _ in rows if total > ARGUED_MB),
        "",
        "`hengwen --help` and `import hengwen` load none of them but typer and rich (`tests/test_lazy.py`).",
        "",
    ]
    (ROOT / "docs" / "dependencies.md").write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
