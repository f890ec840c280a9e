"""Write the figures of all topics to a Markdown page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import floor, log10
from statistics import median
from typing import TYPE_CHECKING, Any

from .figures import HENGWEN, Entry, Figure, Problem
from .machine import Load

if TYPE_CHECKING:
    from collections.abc import Sequence

MISSED = "**no**"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicResult:
    """Figures of a topic, and how they were measured."""

    name: str
    """Name of the topic."""
    title: str
    """Heading of the section."""
    measured_at: str
    """Date and time (UTC)."""
    commit: str
    """Commit of the source."""
    seconds: float
    """Duration of the measurement."""
    load: Load
    """Load of the machine."""
    machine: dict[str, str]
    """Facts of the machine."""
    versions: dict[str, str]
    """Versions of the packages."""
    missing: dict[str, str] = field(default_factory=dict)
    """Error of each peer that could not be installed."""
    entries: dict[str, list[Entry]]
    """Figures and problems by script."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> TopicResult:
        """Return the result that ``to_json`` wrote."""
        entries = {
            script: [Problem(**entry) if "message" in entry else Figure(**entry) for entry in rows]
            for script, rows in fields["entries"].items()
        }
        return cls(**{**fields, "load": Load(**fields["load"]), "entries": entries})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All rounds of a figure."""

    figure: Figure
    """Figure of the first round."""
    values: tuple[float, ...]
    """Values of all rounds."""
    ratio: float | None
    """Hengwen's median divided by this peer's; None for Hengwen, and where Hengwen has no figure."""

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        figure, value = self.figure, median(self.values)
        if not figure.target:
            return None
        if figure.ratio_high is not None:
            return self.ratio is not None and self.ratio <= figure.ratio_high
        return (figure.low is None or value >= figure.low) and (figure.high is None or value <= figure.high)


def rows_of(entries: Sequence[Entry]) -> list[Row]:
    """Combine the rounds of each figure, in the order in which cases and systems first appear."""
    rounds: dict[tuple[str, str], dict[str, list[Figure]]] = {}
    for entry in entries:
        if isinstance(entry, Figure):
            rounds.setdefault((entry.case, entry.unit), {}).setdefault(entry.system, []).append(entry)
    rows = []
    for systems in rounds.values():
        values = {system: tuple(figure.value for figure in figures) for system, figures in systems.items()}
        for system, figures in systems.items():
            ratio = None
            if system != HENGWEN and HENGWEN in values and median(values[system]):
                ratio = median(values[HENGWEN]) / median(values[system])
            rows.append(Row(figure=figures[0], values=values[system], ratio=ratio))
    return rows


def number(value: float) -> str:
    """Return a number with three significant digits."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.{max(0, 2 - floor(log10(abs(value))))}f}"


def results_page(results: Sequence[TopicResult]) -> str:
    """Return the page; all results share the machine and the versions of the first."""
    first = results[0]
    lines = [
        "# Benchmark results",
        "",
        "`make bench` writes this page. CPU time counts all processes of a system and depends less on other",
        "programs than wall time. Each row shows the median and the range of all rounds. Ratio: Hengwen's",
        "median divided by the peer's. Peers are measured in the same run and on the same machine.",
        "",
        *_table(["machine", ""], [[name, text] for name, text in first.machine.items()]),
        "",
        *_table(["package", "version"], [[name, text] for name, text in first.versions.items()]),
        "",
    ]
    if first.missing:
        lines += ["Peers that could not be installed:", ""]
        lines += [f"- {name}: {_escape(error)}" for name, error in first.missing.items()]
        lines.append("")
    lines += ["## Targets", "", *_table(["topic", "met", "missed", "not measured"], _overview(results))]
    for result in results:
        lines += ["", *_section(result)]
    return "\n".join(lines) + "\n"


def _overview(results: Sequence[TopicResult]) -> list[list[str]]:
    table = []
    for result in results:
        entries = [entry for entries in result.entries.values() for entry in entries]
        outcomes = [row.is_met for rows in map(rows_of, result.entries.values()) for row in rows]
        problems = sum(isinstance(entry, Problem) for entry in entries)
        counts = (outcomes.count(True), outcomes.count(False), problems)
        table.append([result.title, *map(str, counts)])
    return table


def _section(result: TopicResult) -> list[str]:
    lines = [f"## {result.title}", ""]
    lines.append(f"Measured {result.measured_at} at commit {result.commit} in {result.seconds:.0f} s.")
    lines.append(result.load.note)
    for script, entries in result.entries.items():
        lines += ["", f"`{script}`"]
        rows = [_cells(row) for row in rows_of(entries)]
        if rows:
            header = ["case", "system", "median", "range", "unit", "rounds", "ratio", "target", "met"]
            lines += ["", *_table(header, rows)]
        problems = [entry for entry in entries if isinstance(entry, Problem)]
        if problems:
            lines += ["", "Not measured:", ""]
            lines += [f"- {item.system}, {_escape(item.case)}: {_escape(item.message)}" for item in problems]
    return lines


def _cells(row: Row) -> list[str]:
    figure, values = row.figure, row.values
    spread = f"{number(min(values))} to {number(max(values))}" if len(values) > 1 else ""
    met = {True: "yes", False: MISSED, None: ""}[row.is_met]
    ratio = "" if row.ratio is None else number(row.ratio)
    middle = number(median(values))
    return [
        figure.case,
        figure.system,
        middle,
        spread,
        figure.unit,
        str(len(values)),
        ratio,
        figure.target,
        met,
    ]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *([_escape(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
