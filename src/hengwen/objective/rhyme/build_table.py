"""Build ``rhyme_table.txt`` from pypinyin and pypinyin-dict.

``python -m hengwen.objective.rhyme.build_table`` prints the table of rhyme classes; with ``--write`` it
writes the table into the package. The table is built in a subprocess, because loading the dictionaries
changes pypinyin for the whole process.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("rhyme_table.txt")
_FIRST, _LAST = 0x4E00, 0x9FFF
_NO_READING = "."
"""Mark of a character without a reading; such a character rhymes only with itself."""


def build() -> str:
    """Build the table of rhyme classes in a subprocess and return the text of the table."""
    command = [sys.executable, "-P", "-X", "utf8", "-m", "hengwen.objective.rhyme.build_table", "--print"]
    process = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    if process.returncode:
        raise RuntimeError(f"the rhyme table could not be built: {process.stderr[-400:]}")
    return process.stdout


def _table() -> str:
    from hengwen.objective.rhyme.class_of_line import PinyinSource

    source = PinyinSource()
    base = {chr(code): source.character(chr(code)) for code in range(_FIRST, _LAST + 1)}
    words: dict[str, list[str]] = defaultdict(list)
    for word, code in source.words():
        if code != base[word[-1]]:
            words[code].append(word)
    return "".join(f"{line}\n" for line in _lines(base, words, source.versions))


def _lines(base: dict[str, str], words: dict[str, list[str]], versions: str) -> Iterator[str]:
    codes = sorted({code for char, code in base.items() if code != char} | set(words))
    letters = {code: chr(ord("A") + index) for index, code in enumerate(codes)}
    yield f"# rhyme classes of U+4E00..U+9FFF, and the words that end in another class; from {versions}"
    yield " ".join(f"{letter}={code}" for code, letter in letters.items())
    marks = "".join(_NO_READING if code == char else letters[code] for char, code in base.items())
    yield from (marks[start : start + 128] for start in range(0, len(marks), 128))
    for code in codes:
        by_end: dict[str, list[str]] = defaultdict(list)
        for word in words.get(code, []):
            by_end[word[-1]].append(word)
        yield from (f"{letters[code]} {' '.join(sorted(by_end[end]))}" for end in sorted(by_end))


def main() -> None:
    """Print the table of rhyme classes; with ``--write``, write the table into the package."""
    if "--write" in sys.argv:
        TABLE.write_text(build(), encoding="utf-8", newline="\n")
    else:
        sys.stdout.write(_table() if "--print" in sys.argv else build())


if __name__ == "__main__":
    main()
