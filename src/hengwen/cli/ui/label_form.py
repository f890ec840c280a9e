"""The form of ``hengwen label``: shows an answer, hears a level. Answers are the text of strangers."""

from __future__ import annotations

import getpass
import re
import unicodedata
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hengwen.io.text_safety import strip_controls
from hengwen.labels.file import LabelFile
from hengwen.reports.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.labels.queue import Question
    from hengwen.prompts.language import Language
    from hengwen.prompts.rubric import Rubric
    from hengwen.records import LabelKey

COMMANDS = {"s": "跳过 skip", "u": "撤销 undo", "?": "说明 help", "q": "退出 quit"}


class LabelSession:
    """Asks one rater about one answer after another.

    Args:
        questions: In the order to ask.
        file: Where labels go.
        rater: Who labels.
        language: Of the levels.
        show: Name checkpoint and repeat.
    """

    def __init__(
        self, questions: Sequence[Question], file: LabelFile, rater: str, *, language: Language, show: bool
    ) -> None:
        self._file = file
        self._rater = rater
        self._language: Language = language
        self._show = show
        self._console = Console(highlight=False)
        self._total = len(questions)
        mine = {label.key: label for label in file.labels() if label.rater == rater}
        places = [_place(question) for question in questions]
        self._before = sum(place in mine for place in places)
        self.stale = sum(
            place in mine and mine[place].output not in ("", question.response.text)
            for place, question in zip(places, questions, strict=True)
        )
        self._open = [q for place, q in zip(places, questions, strict=True) if place not in mine]
        self._rows: dict[int, bytes] = {}
        self._at = 0
        self._told: set[str] = set()

    def fill(self) -> None:
        """Ask until all is answered, or the rater quits or the input ends."""
        while self._at < len(self._open):
            question = self._open[self._at]
            self._display(question)
            if not self._hear(question):
                return

    def summary(self) -> str:
        """Say what was done."""
        done = self._before + len(self._rows)
        skipped = self._at - len(self._rows)
        more = f", {skipped} skipped: they come again" if skipped else ""
        count = f"{len(self._rows)} labels by {self._rater} now, {done} of {self._total} in all"
        return f"{self._file.path}: {count}{more}"

    def _hear(self, question: Question) -> bool:
        """Take one entry after another until the question is dealt with; False: quit."""
        labels = question.rubric.labels
        keys = {_folded(label): value for label, value in labels.items()}
        commands = commands_beside(labels)
        while True:
            said = _read(f"[{'/'.join(reversed(labels))}]  {_told(commands)}: ")
            if said is None:
                return False
            if said in keys:
                self._rows[self._at] = self._file.append(question.label(keys[said], self._rater))
                self._at += 1
                return True
            match commands.get(said):
                case "q":
                    return False
                case "s":
                    self._at += 1
                    return True
                case "u":
                    if self._undo():
                        return True
                case "?":
                    self._explain(question)
                case _:
                    known = ", ".join(reversed(labels))
                    typer.echo(f"“{one_line(said, 20)}”? 等级 levels: {known}")

    def _undo(self) -> bool:
        if self._at == 0:
            typer.echo("没有可撤销的 nothing to undo")
            return False
        row = self._rows.get(self._at - 1)
        if row is not None:
            self._file.take_back(row)
            del self._rows[self._at - 1]
        self._at -= 1
        return True

    def _display(self, question: Question) -> None:
        place = self._before + self._at + 1
        title = f"{place}/{self._total} · {question.response.task} · {question.score}"
        if self._show:
            title += f" · {question.response.checkpoint} #{question.response.repeat}"
        self._console.print()
        self._console.print(Rule(Text(one_line(title, 200))))
        rubric = question.rubric
        if question.persona.strip() and question.persona not in self._told:
            self._told.add(question.persona)
            self._block("人设 persona", question.persona.strip(), style="dim")
        if "input" in rubric.uses:
            self._block("题目 input", question.sample.text)
        for reference in question.sample.references if "references" in rubric.uses else ():
            self._block("参考 reference", reference, style="dim")
        self._block("回答 answer", question.response.text, style="bold")
        if rubric.hash not in self._told:
            self._told.add(rubric.hash)
            self._explain(question)
        else:
            self._console.print(self._gist(rubric), no_wrap=True, overflow="ellipsis")

    def _block(self, title: str, text: str, style: str = "") -> None:
        shown = Text(strip_controls(text), style="") if text.strip() else Text("（空 empty）", style="dim")
        self._console.print(Panel(shown, title=Text(title), title_align="left", border_style=style or "none"))

    def _gist(self, rubric: Rubric) -> Text:
        """The levels, a line each; what does not fit is cut."""
        lines = [
            f"{level.label}  {one_line(level.in_language(self._language), 400)}"
            for level in reversed(rubric.levels.values())
        ]
        return Text("\n".join(lines), style="dim")

    def _explain(self, question: Question) -> None:
        """All that the rubric says, as a judge is told it."""
        rubric = question.rubric
        found = Text()
        if question.part in rubric.criteria:
            found.append(f"只看 only: {rubric.criteria[question.part].in_language(self._language)}\n")
        found.append(rubric.instructions.in_language(self._language) + "\n", style="dim")
        levels = Table.grid(padding=(0, 2, 0, 0))
        for level in reversed(rubric.levels.values()):
            levels.add_row(Text(level.label, style="bold"), Text(level.in_language(self._language)))
        self._console.print()
        self._console.print(found)
        self._console.print(levels)


def commands_beside(labels: Sequence[str] | dict[str, float]) -> dict[str, str]:
    """Return what may be entered beside a rubric's labels: entry -> command.

    A colon before a command always works; the bare letter only where it is no label.

    Examples:
        >>> sorted(commands_beside(["S", "A"]))
        [':?', ':q', ':s', ':u', '?', 'q', 'u']
    """
    taken = {_folded(label) for label in labels}
    found = {f":{command}": command for command in COMMANDS if f":{command}" not in taken}
    return found | {command: command for command in COMMANDS if command not in taken}


def ask_rater(given: str | None) -> str:
    """Return the name of the rater, asked for where it is not given.

    Raises:
        BadParameter: It has no letter or digit at its start, or is too long.
        Exit: The input ends.
    """
    name = given
    if name is None:
        try:
            user = getpass.getuser()
        except (KeyError, OSError, ImportError):
            user = "rater"
        said = _read(f"评者 rater [{user}]: ", fold=False)
        if said is None:
            raise typer.Exit
        name = said or user
    if not re.fullmatch(r"[^\W_][\w .@\-]{0,79}", name):
        raise typer.BadParameter(f"a rater's name starts with a letter or digit, got {name!r}")
    return name


def _told(commands: dict[str, str]) -> str:
    """The shortest way to each command, with what it does."""
    shortest = {command: entry for entry, command in commands.items()}
    return "  ".join(f"{shortest[command]} {words}" for command, words in COMMANDS.items())


def _read(prompt: str, *, fold: bool = True) -> str | None:
    """Read an entry; None where the input ends. What an input method makes of a letter is that letter."""
    typer.echo(prompt, nl=False)
    try:
        said = input().strip()
    except EOFError:
        typer.echo()
        return None
    except UnicodeDecodeError:
        return ""
    return _folded(said) if fold else said


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _place(question: Question) -> LabelKey:
    return question.label(0.0, "").key
