"""Options of groups, which commands inherit, and former spellings of options."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from hengwen.cli import app
from hengwen.cli.ui.usage import FORMER_OPTIONS, spread

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("--store", "x.db", "--json", "run", "plan.yaml"),
        ("--store", "y.db", "run", "plan.yaml", "--store", "x.db", "--json"),
    ],
    ids=["before the command", "after the command, which counts"],
)
def test_a_shared_option_stands_before_or_after_the_command(
    hengwen: Callable, plan: Path, words: tuple[str, ...]
) -> None:
    done = hengwen(*words)
    assert (done.code, done.json["schema"]) == (0, 1)
    assert [path.name for path in plan.parent.glob("*.db")] == ["x.db"]


def test_a_shared_option_of_another_command_is_refused(hengwen: Callable) -> None:
    done = hengwen("--store", "x.db", "demo")
    assert (done.code, done.err) == (
        2,
        "hengwen: --store does not apply here; see: hengwen demo --help\n",
    )


def test_a_help_has_whole_paragraphs_and_arguments_in_capitals(hengwen: Callable) -> None:
    text = hengwen("doctor", "--help").out
    assert "Usage: hengwen doctor [OPTIONS] [PLAN]" in text
    lines = [line.strip() for line in text.splitlines()]
    start = lines.index(next(line for line in lines if line.startswith("The test checks")))
    end = lines.index("", start)
    assert all(len(line) > 60 for line in lines[start : end - 1])
    assert "Usage: hengwen init [OPTIONS] [DIR] [FILE.yaml]" in hengwen("init", "--help").out
    assert "Usage: hengwen import scores [OPTIONS] {FILE}..." in hengwen("import", "scores", "--help").out


def test_a_shared_option_is_in_the_help_of_a_command_that_takes_it(hengwen: Callable) -> None:
    assert "HENGWEN_STORE" in hengwen("report", "--help").out
    assert "HENGWEN_STORE" not in hengwen("demo", "--help").out


@pytest.mark.parametrize(("command", "option"), FORMER_OPTIONS)
def test_a_former_option_names_the_present_spelling(hengwen: Callable, command: str, option: str) -> None:
    done = hengwen(command, "plan.yaml", option)
    assert (done.code, done.err) == (
        2,
        f"hengwen: {option} is now: {FORMER_OPTIONS[command, option]}\n",
    )


def test_a_command_declares_an_inherited_option_as_the_group_does() -> None:
    group = get_command(app)
    shared = signature(group.callback.__wrapped__, eval_str=True).parameters
    pending, checked = list(group.commands.items()), 0  # type: ignore[attr-defined]
    while pending:
        name, command = pending.pop()
        pending += getattr(command, "commands", {}).items()
        function = getattr(command.callback, "function", None)
        for parameter in signature(spread(function)).parameters.values() if function else ():
            if parameter.name in shared:
                assert parameter.annotation == shared[parameter.name].annotation, (name, parameter.name)
                assert parameter.default == shared[parameter.name].default, (name, parameter.name)
                checked += 1
    assert checked > 100
