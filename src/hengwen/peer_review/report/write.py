"""Write a peer review as an HTML, Markdown or JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hengwen._internal.version import __version__
from hengwen.io.atomic_write import atomic_write
from hengwen.peer_review.report import tables
from hengwen.peer_review.report.rank_bars import rank_bars
from hengwen.peer_review.report.review_json import review_json
from hengwen.reports.render.html_report import html_environment
from hengwen.reports.render.markdown_report import markdown_environment, without_gaps
from hengwen.reports.render.write import format_of
from hengwen.text.language import Bilingual, check_language

if TYPE_CHECKING:
    from hengwen.peer_review.human import HumanComparison
    from hengwen.peer_review.result import PeerReview
    from hengwen.text.language import Language


def write_review(
    review: PeerReview,
    path: str | Path,
    *,
    human: HumanComparison | None = None,
    language: Language = "zh",
    failures: int = 0,
) -> Path:
    """Write a report of a peer review and return its path. The file is replaced atomically.

    Args:
        review: The peer review.
        path: File name that ends with ``.html``, ``.md`` or ``.json``; its folder must exist.
        human: Comparison with people; None without a human ranking.
        language: Language of the report, ``zh`` or ``en``.
        failures: Number of verdicts that are missing because a judge failed.

    Raises:
        ConfigError: The suffix is unknown, or the file cannot be written.
        ValueError: The language is unknown.
    """
    check_language(language)
    path = Path(path)
    format_name = format_of(path)
    if format_name == "json":
        text = review_json(review, human, failures=failures) + "\n"
    else:
        variables = _variables(review, human, language, failures)
        if format_name == "html":
            template = html_environment().get_template("peer_review.html.j2")
            text = template.render(bars=rank_bars(review), **variables)
        else:
            text = without_gaps(markdown_environment().get_template("peer_review.md.j2").render(**variables))
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def _variables(
    review: PeerReview, human: HumanComparison | None, language: Language, failures: int
) -> dict[str, Any]:
    def text(zh: str, en: str) -> str:
        return Bilingual(zh, en).in_language(language)

    def heads(columns: tuple[Bilingual, ...]) -> list[tuple[str, bool]]:
        return [(column.in_language(language), column.en in tables.TEXT_COLUMNS) for column in columns]

    return {
        "t": text,
        "review": review,
        "version": __version__,
        "failures": failures,
        "title": tables.title(review).in_language(language),
        "model_heads": heads(tables.MODEL_COLUMNS),
        "model_rows": tables.model_rows(review),
        "judge_heads": heads(tables.JUDGE_COLUMNS),
        "judge_rows": tables.judge_rows(review),
        "human": "" if human is None else tables.human_text(human).in_language(language),
    }
