"""Helps, errors and notes in Chinese and in English."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rows import each_row
from typer.main import get_command

from hengwen.cli import app
from hengwen.text.language import FOLDER, localized, message_language

ROOT = Path(__file__).parents[2]
SENTENCE = re.compile(r"[A-Za-z][a-z]+(?: [a-z]{2,}){2,}")
"""Three English words, of which only the first may be a name: no list of names, no command line."""
COMMAND_LINE = re.compile(r"(hengwen|pip install|vllm run-batch) .*")
HAN = re.compile(r"[\u4e00-\u9fff]")
NAMES = ("衡文", "早上")


def helps(command: Any) -> Iterator[str]:
    for item in (command, *command.params):
        yield getattr(item, "help", None) or ""
    yield command.epilog or ""
    for child in getattr(command, "commands", {}).values():
        yield from helps(child)


def messages() -> list[str]:
    """The lines that wrong inputs of every command get."""
    texts: list[str] = []
    for path in (ROOT / "tests" / "endtoend" / "wrong_inputs").glob("*.yaml"):
        for case in yaml.safe_load(path.read_text("utf-8")):
            lines = case.get("stderr") or []
            for text in [lines] if isinstance(lines, str) else lines:
                texts += [re.sub(r"^(warning|info): ", "", line) for line in text.splitlines()]
    assert len(texts) > 300
    return texts


def without_names(text: str) -> str:
    """Return a text without what is quoted from a file, and without commands to type."""
    return COMMAND_LINE.sub("", re.sub(r"'[^']*'|\"[^\"]*\"|known: .*", "", text))


def test_no_help_has_an_english_sentence_in_chinese() -> None:
    texts = [localized(text, "zh") for text in helps(get_command(app))]
    assert len(texts) > 200
    assert [text for text in texts if SENTENCE.search(COMMAND_LINE.sub("", text))] == []


@pytest.mark.slow
def test_no_error_has_an_english_sentence_in_chinese() -> None:
    translated = {text: localized(text, "zh") for text in messages()}
    assert [text for text in translated.values() if SENTENCE.search(without_names(text))] == []


@pytest.mark.slow
def test_no_help_and_no_error_has_chinese_in_english() -> None:
    texts = [*helps(get_command(app)), *map(without_names, messages())]
    for name in NAMES:
        texts = [text.replace(name, "") for text in texts]
    assert [text for text in texts if HAN.search(text)] == []


def context_of(item: object) -> str:
    """Return the context of a message, which a compiled catalogue has as bytes."""
    context = getattr(item, "context", None) or ""
    return context.decode() if isinstance(context, bytes) else context


@pytest.mark.slow
def test_nearly_every_text_of_the_source_is_in_the_catalogue() -> None:
    pytest.importorskip("babel")
    sys.path.insert(0, str(ROOT / "tools"))
    from babel.messages.mofile import read_mo
    from babel.messages.pofile import read_po

    import messages as tool

    with (FOLDER / "hengwen.mo").open("rb") as compiled, (FOLDER / "hengwen.po").open("rb") as source:
        texts = {(context_of(item), item.id): item.string for item in read_mo(compiled) if item.id}
        written = {(context_of(item), item.id): item.string for item in read_po(source) if item.id}
        assert texts == written  # else: make messages
    missing = [key for key in tool.collected() if not texts.get(key)]
    assert len(missing) < 0.03 * len(texts), missing  # else: make messages, and translate them
    marks = re.compile(r"\{\w*\}")
    wrong = [key for key in texts if set(marks.findall(key[1])) < set(marks.findall(texts[key]))]
    assert wrong == []


@each_row(
    ("arguments", "environment", "language"),
    [
        ([], {}, "en"),
        ([], {"LANG": "C.UTF-8"}, "en"),
        ([], {"LANG": "zh_CN.UTF-8"}, "zh"),
        ([], {"LANG": "zh_CN.UTF-8", "LC_ALL": "POSIX"}, "en"),
        ([], {"LANG": "zh_CN.UTF-8", "HENGWEN_LANG": "en"}, "en"),
        (["run", "--lang", "zh"], {"HENGWEN_LANG": "en"}, "zh"),
        (["--lang=en", "run"], {"HENGWEN_LANG": "zh"}, "en"),
        (["run", "--lang"], {"LANG": "zh_CN.UTF-8"}, "zh"),
        (["--lang", "fr"], {}, "en"),
    ],
)
def test_the_language_of_messages_is_that_of_reports(
    arguments: list[str], environment: dict[str, str], language: str
) -> None:
    assert message_language(arguments, environment) == language


def test_a_message_is_translated_part_by_part_and_keeps_what_is_quoted() -> None:
    message = "plan.yaml:4: unknown key 'sampels'; did you mean 'samples'?"
    assert localized(message, "zh") == "plan.yaml:4: 没有键 'sampels'；是不是 'samples'？"
    assert localized(message, "en") == message
    assert localized("", "zh") == ""
    assert localized("Nobody wrote this", "zh") == "Nobody wrote this"


@each_row(
    ("message", "chinese"),
    [
        ("unknown pick 'x'", "没有 'x' 这个 pick"),
        ("unknown pick 'x'; did you mean 'y'?", "没有 'x' 这个 pick；是不是 'y'？"),
        (
            "no run or checkpoint 'x' in a.db; see: hengwen runs list",
            "a.db 里没有运行或检查点 'x'；见：hengwen runs list",
        ),
    ],
)
def test_a_clause_that_may_follow_a_part_stays_apart_from_it(message: str, chinese: str) -> None:
    assert localized(message, "zh") == chinese


@each_row("mark", [": ", ", ", "; known: ", "checkpoint 'x' ", "'; did you mean '"])
def test_a_message_that_quotes_thousands_of_marks_is_printed_as_it_is(mark: str) -> None:
    for count in (200, 100_000):
        assert mark.strip(" ") in localized(mark * count, "zh")


@pytest.mark.slow
def test_a_command_speaks_the_language_of_the_locale(tmp_path: Path) -> None:
    def stderr(language: str) -> str:
        command = [sys.executable, "-m", "hengwen", "validate", "missing.yaml"]
        environment = {"LANG": language, "PYTHONUTF8": "1"}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
        ).stderr

    assert stderr("zh_CN.UTF-8") == "hengwen: missing.yaml：没有这个文件\n"
    assert stderr("C.UTF-8") == "hengwen: missing.yaml: no such file\n"
