"""Names and sentences of the source: locals say what they hold, prose has no riddles."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "hengwen"
MODULES = sorted(SRC.rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

VAGUE_NAMES = {"found", "one", "place", "asked", "said", "wanted", "shown", "made"}
RIDDLES = re.compile(
    r"\bwhat is no\b|\bso many\b|\bwhoever\b|\bonce more than\b|\bis made anew\b|\bare told\b|\bbut for\b"
    r"|\bsays so kindly\b|\bthrough the house\b|\bit is bought\b",
    re.IGNORECASE,
)
ARGUMENT_OF = re.compile(r"^\s+\w+: Of (the|a|an|its|each)\b", re.MULTILINE)


PROMPT_TEXT = {SRC / "judges" / "rules" / "copy_rules.py"}
"""Files with sentences that are part of a judge's prompt: another wording would be another prompt."""


def vague_names(path: Path) -> list[str]:
    """Return the vague names that a module assigns to or takes as parameters."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
    return [name for name in names if name in VAGUE_NAMES]


def test_locals_are_named_after_what_they_hold() -> None:
    names = {str(path.relative_to(ROOT)): vague_names(path) for path in MODULES}
    assert {path: vague for path, vague in names.items() if vague} == {}


def test_prose_has_no_riddles() -> None:
    riddles = []
    for path in [*MODULES, *PAGES]:
        text = path.read_text("utf-8")
        patterns = [ARGUMENT_OF] if path in PROMPT_TEXT else [ARGUMENT_OF, RIDDLES]
        riddles += [
            f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match.group().strip()}"
            for pattern in patterns
            for match in pattern.finditer(text)
        ]
    assert riddles == []
