"""The interactive form of ``hengwen label``: show an answer and read a level. Answers are untrusted text."""

from __future__ import annotations

import getpass
import re
import sys
import unicodedata
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hengwen.labels.file import RATER, LabelFile
from hengwen.text.language import Bilingual, say
from hengwen.text.numbers import plural
from hengwen.text.safety import one_line, same_text, strip_controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.labels.queue import Question
    from hengwen.prompts.rubric import Rubric
    from hengwen.records import Label
    from hengwen.text.language import Language

COMMANDS = {
    "s": say("skip"),
    "u": say("undo"),
    "?": say("help"),
    "q": say("quit"),
}
PANEL_FRAME = 4
"""Number of columns that the frame of a panel takes."""
_WRAPPED = re.compile(r"(?<=[A-Za-z,])\n(?=[A-Za-z])")
"""Line end within a sentence of a rubric; a terminal has line ends of its own."""
MAX_CONTEXT_LINES = 3
"""Maximum number of lines of a prompt or a reference on a terminal, where ``?`` prints the whole of it."""


class LabelSession:
    """Ask one rater for the labels of answers, one after another."""

    def __init__(
        self,
        questions: Sequence[Question],
        file: LabelFile,
        rater: str,
        *,
        language: Language,
    ) -> None:
        self._file = file
        self._rater = rater
        self._language: Language = language
        self._console = Console(highlight=False)
        self._is_terminal = sys.stdin.isatty()
        self._total = len(questions)
        labels = {label.key: label for label in file.labels() if label.rater == rater}
        self._open = [question for question in questions if question.key not in labels]
        self._labelled_before = self._total - len(self._open)
        self.stale = sum(
            not same_text(labels[question.key].output, question.response.text)
            for question in questions
            if question.key in labels and labels[question.key].output
        )
        """Number of answers whose text has changed since this rater labelled them."""
        self._given: dict[int, Label] = {}
        self._index = 0
        self._explained: set[str] = set()

    def run(self) -> None:
        """Ask for labels until every answer is labelled or skipped, the rater quits, or the input ends."""
        while self._index < len(self._open):
            question = self._open[self._index]
            self._display(question)
            if not self._ask(question):
                return

    def summary(self) -> str:
        """Return the number of labels as one line."""
        done = self._labelled_before + len(self._given)
        skipped = self._index - len(self._given)
        new = len(self._given)
        text = self._text(
            f"{self._file.path}：{self._rater} 新标 {new} 条，{self._total} 条中已完成 {done} 条",
            f"{self._file.path}: {plural(new, 'new label')} by {self._rater}, {done} of {self._total} done",
        )
        again = self._text(f"，跳过 {skipped} 条（下次再问）", f", {skipped} skipped (shown again next time)")
        return f"{text}{again}" if skipped else text

    def _ask(self, question: Question) -> bool:
        """Read input until the answer is labelled or skipped, or the rater goes back; False means quit."""
        labels = question.rubric.labels
        values = {_normalize(label): value for label, value in labels.items()}
        commands = available_commands(labels)
        keys = single_keys(labels) if self._is_terminal else {}
        names = {label: key for key, label in keys.items()}
        levels = [
            f"{names[label]} {label}" if label in names and names[label] != _normalize(label) else label
            for label in reversed(labels)
        ]
        prompt = f"[{'/'.join(levels)}]  {_commands_text(commands, self._language)}: "
        while True:
            entry = _read_key(prompt, keys) if keys else _read(prompt)
            if entry is None:
                return False
            if entry in values:
                label = question.label(values[entry], self._rater)
                self._file.append(label)
                self._given[self._index] = label
                self._index += 1
                return True
            match commands.get(entry):
                case "q":
                    return False
                case "s":
                    self._index += 1
                    return True
                case "u":
                    if self._undo():
                        return True
                case "?":
                    self._explain(question)
                case _:
                    words, known = self._text("？等级：", "? levels: "), ", ".join(levels)
                    typer.echo(f"“{one_line(entry, 20)}”{words}{known}")

    def _undo(self) -> bool:
        """Go back to the previous question and remove its label; return False if there is no previous one."""
        if self._index == 0:
            typer.echo(self._text("没有可撤销的操作", "nothing to undo"))
            return False
        previous = self._index - 1
        label = self._given.get(previous)
        if label is not None:
            self._file.take_back(label)
            del self._given[previous]
        self._index = previous
        return True

    def _display(self, question: Question) -> None:
        number = self._labelled_before + self._index + 1
        title = f"{number}/{self._total} · {question.response.task} · {question.score.base}"
        rubric = question.rubric
        if rubric.hash not in self._explained:
            self._explained.add(rubric.hash)
            self._explain_rubric(question)
        if question.persona.strip() and question.persona not in self._explained:
            self._explained.add(question.persona)
            self._print_block(self._text("人设", "persona"), question.persona.strip(), style="dim")
        self._console.print()
        self._console.print(Rule(Text(one_line(title, 200))))
        self._print_context(question, MAX_CONTEXT_LINES if self._is_terminal else None)
        self._print_block(self._text("回答", "answer"), question.response.text, style="bold")

    def _print_context(self, question: Question, max_lines: int | None) -> None:
        uses = question.rubric.uses
        if "input" in uses:
            self._print_block(self._text("题目", "input"), self._cut(question.sample.text, max_lines))
        for reference in question.sample.references if "references" in uses else ():
            self._print_block(self._text("参考", "reference"), self._cut(reference, max_lines), style="dim")

    def _cut(self, text: str, max_lines: int | None) -> str:
        """Return the first lines of a text as the panel wraps them, and how to read the others."""
        if max_lines is None:
            return text
        width = self._console.width - PANEL_FRAME
        lines = Text(strip_controls(text)).wrap(self._console, width, overflow="fold")
        if len(lines) <= max_lines:
            return text
        more = self._text("全文：?", "all: ?")
        return "\n".join([*(line.plain.rstrip() for line in lines[: max_lines - 1]), f"… ({more})"])

    def _print_block(self, title: str, text: str, style: str = "") -> None:
        content = (
            Text(strip_controls(text), style="")
            if text.strip()
            else Text(self._text("（空）", "(empty)"), style="dim")
        )
        panel = Panel(content, title=Text(title), title_align="left", border_style=style or "none")
        self._console.print(panel)

    def _level_table(self, rubric: Rubric) -> Table:
        levels = Table.grid(padding=(0, 2, 0, 0))
        levels.add_column()
        levels.add_column(overflow="fold")  # rich cuts a long line without spaces by default
        for level in reversed(rubric.levels.values()):
            text = strip_controls(level.in_language(self._language))
            levels.add_row(Text(level.label, style="bold"), Text(text))
        return levels

    def _text(self, zh: str, en: str) -> str:
        return Bilingual(zh, en).in_language(self._language)

    def _explain(self, question: Question) -> None:
        """Print all that belongs to a question: rubric, persona, prompt and references."""
        self._explain_rubric(question)
        if question.persona.strip():
            self._print_block(self._text("人设", "persona"), question.persona.strip(), style="dim")
        self._print_context(question, None)

    def _explain_rubric(self, question: Question) -> None:
        """Print the instructions and levels of the rubric in the words that a judge reads."""
        rubric = question.rubric
        instructions = Text()
        if question.score.part in rubric.criteria:
            criterion = rubric.criteria[question.score.part].in_language(self._language)
            instructions.append(f"{self._text('只看', 'only')}: {criterion}\n")
        text = _WRAPPED.sub(" ", rubric.instructions.in_language(self._language))
        instructions.append(f"{text}\n", style="dim")
        self._console.print()
        self._console.print(instructions)
        self._console.print(self._level_table(rubric))


def available_commands(labels: Sequence[str] | dict[str, float]) -> dict[str, str]:
    """Return the texts that a rater can enter for a command, each with its command."""
    taken = {_normalize(label) for label in labels}
    entries = {f":{command}": command for command in COMMANDS} | {command: command for command in COMMANDS}
    return {entry: command for entry, command in entries.items() if entry not in taken}


def single_keys(labels: Sequence[str] | dict[str, float]) -> dict[str, str]:
    """Return the key for each label, worst first: itself or its number; empty if keys are not clear."""
    names = [_normalize(label) for label in labels]
    if any(len(name) > 1 for name in names):
        names = [str(number) for number in range(1, len(names) + 1)]
    is_clear = len(names[-1]) == 1 and not set(names) & set(COMMANDS)
    return dict(zip(names, labels, strict=True)) if is_clear else {}


def ask_rater(name: str | None, language: Language) -> str:
    """Return the name of the rater; ask for it if ``name`` is None."""
    if name is None:
        try:
            user = getpass.getuser()
        except (KeyError, OSError, ImportError):
            user = "rater"
        prompt = say("rater").in_language(language)
        entry = _read(f"{prompt} [{user}]: ", normalize=False)
        if entry is None:
            raise typer.Exit
        name = entry or user
    if not RATER.fullmatch(name):
        raise typer.BadParameter(f"a rater's name starts with a letter or digit, got {name!r}")
    return name


def _commands_text(commands: dict[str, str], language: Language) -> str:
    """Return a line with the shortest text to enter for each command, and what the command does."""
    shortest = {command: entry for entry, command in commands.items()}
    return "  ".join(
        f"{shortest[command]} {text.in_language(language)}" for command, text in COMMANDS.items()
    )


def _read_key(prompt: str, keys: dict[str, str]) -> str | None:
    """Read one key, without Enter; return its label, or the key without one; None if the input ends."""
    typer.echo(prompt, nl=False)
    try:
        key = _normalize(typer.getchar())
    except EOFError:
        typer.echo()
        return None
    label = keys.get(key)
    typer.echo(one_line(label or key, 20))
    return _normalize(label) if label else key


def _read(prompt: str, *, normalize: bool = True) -> str | None:
    """Read a line of input; return None if the input ends. Full-width letters are read as normal letters."""
    typer.echo(prompt, nl=False)
    try:
        entry = input().strip()
    except EOFError:
        typer.echo()
        return None
    except UnicodeDecodeError:
        return ""
    return _normalize(entry) if normalize else entry


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()
