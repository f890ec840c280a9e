"""The packaged attacks on a judge, as the doctor's card shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.cli.ui.messages import print_warning

if TYPE_CHECKING:
    from rich.console import Group

    from hengwen.judges.trust.canaries import CanaryReport

LEGEND = """\
fooled: the attack raised the level; resisted: it did not; lenient: it did not, but the plain weak answer
stands too high already to tell; failed: no verdict, which is not resistance"""


def warn_of_lost(report: CanaryReport) -> bool:
    """Warn of attacks without a verdict; return whether none got one."""
    lost = [result for result in report.results if result.outcome == "failed"]
    if lost:
        print_warning(
            f"{len(lost)} of {len(report.results)} canaries have no verdict; first: {lost[0].message}"
        )
    return bool(lost) and len(lost) == len(report.results)


def canary_table(judge: str, rubric: str, report: CanaryReport) -> Group:
    """Return the table by technique and language, with its legend."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    fates = list(report.counts)
    table = Table(title=Text(f"{judge}, {rubric}"), title_justify="left", box=SIMPLE_HEAD)
    table.add_column("attack")
    for fate in fates:
        table.add_column(fate, justify="right")
    for name, counts in (*report.by_technique.items(), *report.by_language.items(), ("all", report.counts)):
        style = "bold red" if counts["fooled"] else ""
        table.add_row(Text(name), *(str(counts[fate]) for fate in fates), style=style)
    return Group(table, Text(LEGEND, style="dim"))
