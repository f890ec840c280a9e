"""The commands of both READMEs run in their order, and print what the READMEs show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh.md"}
EXIT_CODES = {"gate": 3, "calibrate": 3}


def console_steps(page: Path) -> list[tuple[list[str], list[str]]]:
    """Return the commands of a page with the lines that it shows of their output; make is left out."""
    steps: list[tuple[list[str], list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((shlex.split(line[2:], comments=True), []))
            elif line != "…":
                steps[-1][1].append(line)
    return [step for step in steps if step[0][0] == "hengwen"]


@pytest.mark.slow
@pytest.mark.parametrize("language", PAGES)
def test_the_commands_of_a_readme_run_in_order_and_print_what_it_shows(
    hengwen, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HENGWEN_LANG")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8" if language == "zh" else "C.UTF-8")
    monkeypatch.setenv("COLUMNS", "80")
    steps = console_steps(PAGES[language])
    assert [command[1] for command, _ in steps] == [
        *("init", "validate", "run", "report", "compare", "drift", "gate", "power", "calibrate"),
    ]
    for command, lines in steps:
        done = hengwen(*command[1:])
        assert done.code == EXIT_CODES.get(command[1], 0), (command, done.err)
        for line in lines:
            assert line in done.out.splitlines(), (command, line, done.out)


def test_both_readmes_are_short_and_show_the_same_commands() -> None:
    assert all(len(page.read_text("utf-8").splitlines()) <= 160 for page in PAGES.values())
    english, chinese = ([command for command, _ in console_steps(page)] for page in PAGES.values())
    assert english == chinese
