"""What every command prints is in one language, apart from names, addresses and other commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from hengwen.cli import app

PLAN = "mine/plan.yaml"
LYRIC = '{"id": "a", "input": "写雨", "output": "雨落在窗前", "metadata": {"template": "(verse)\\nccccR"}}\n'
BATTLES = "question,judge,model_a,model_b,winner\n" + "".join(
    f"q{i},{judge},{first},{second},{'tie' if i % 5 == 0 else 'model_a' if i % 3 else 'model_b'}\n"
    for i in range(12)
    for judge in ("x", "y")
    for first, second in (("x", "y"), ("y", "z"), ("x", "z"))
)
SCORES = "id,checkpoint,score\n" + "".join(
    f"q{i},step-{k},{5 + (i + k) % 3}\n" for k in (1, 2) for i in range(6)
)
MUCHIN = (
    "id,checkpoint,theme,template,lyric\na,x,写雨,(verse) cccR,雨落窗前\na,y,写雨,(verse) cccR,雨落窗前\n"
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("init", "mine"),
    ("init", "own", "--rubric", "--scorer"),
    ("init", "persona", "--persona"),
    ("validate", PLAN),
    ("run", PLAN, "--dry-run"),
    ("run", PLAN, "-o", "report.html"),
    ("report",),
    ("report", "-v"),
    ("compare", "step-100", "step-200"),
    ("compare", "step-100", "step-200", "-v"),
    ("drift",),
    ("drift", "-v"),
    ("gate", PLAN, "--baseline", "step-200"),
    ("gate", PLAN, "--baseline", "step-200", "-v"),
    ("power", PLAN),
    ("power", PLAN, "-v"),
    ("judge-drift", PLAN),
    ("judge-drift", PLAN, "-v"),
    ("calibrate", PLAN),
    ("calibrate", PLAN, "-v"),
    ("validate", PLAN),
    ("doctor",),
    ("doctor", "--judge", "rules"),
    ("doctor", "--judge", "rules", "-v"),
    ("runs", "list"),
    ("runs", "show", "step-100"),
    ("runs", "pin", "step-100"),
    ("runs", "rm", "step-100", "--yes"),
    ("export", "-o", "rows.csv"),
    ("sequence", "values.txt"),
    ("sequence", "values.txt", "-v"),
    ("score", "lyrics.jsonl", "--scorer", "lyric", "-o", "scored.csv"),
    ("score", "lyrics.jsonl", "--rubric", "lyric_craft", "-o", "judged.csv"),
    ("peer-review", "battles.csv"),
    ("peer-review", "battles.csv", "-v"),
    ("import", "scores", "scores.csv", "--judge-name", "gpt-x", "--scale", "1-10"),
    ("import", "muchin", "muchin.csv", "-o", "muchin"),
)
TYPED = re.compile(r"hengwen [a-z][^）)；。\n]*|`[^`]*`|\S*[/.=_\\<]\S*|[\w-]+\|\S*")
"""Commands to copy, addresses, files and signatures, which are the same in both languages."""
ENGLISH = re.compile(r"\b[a-z]+(?: [a-z]+){3,}\b")
"""Four lower-case English words in a row: names of methods and of packages have fewer."""
CHINESE = re.compile("[\u4e00-\u9fff]+")
OWN_WORDS = re.compile("衡文|以“.*押韵。")
"""Chinese in an English text: the name of the program, and the prompts of the example."""


@pytest.mark.slow
@pytest.mark.untraced
@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_a_command_prints_is_in_one_language(
    hengwen, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HENGWEN_LANG")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8" if language == "zh" else "C.UTF-8")
    files = {"values.txt": "\n".join(str(1 + i % 7) for i in range(40)), "lyrics.jsonl": LYRIC}
    files |= {"hypothesis.txt": "a b c d e\n" * 3, "reference.txt": "a b c d f\n" * 3, "battles.csv": BATTLES}
    files |= {"scores.csv": SCORES, "muchin.csv": MUCHIN}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    foreign = []
    for command in COMMANDS:
        done = hengwen(*command)
        if done.code not in (0, 3, 4):
            foreign.append((" ".join(command), f"{done.code}: {done.err}"))
        for line in (done.out + done.err).splitlines():
            plain = OWN_WORDS.sub("", TYPED.sub("", line))
            if (ENGLISH if language == "zh" else CHINESE).search(plain):
                foreign.append((" ".join(command), line))
    assert foreign == []


def test_each_command_with_an_output_of_its_own_is_tried() -> None:
    tried = {command[0] for command in COMMANDS}
    others = {"demo", "label", "schema", "batch", "serve-reward", "view"}
    assert set(get_command(app).commands) == tried | others  # type: ignore[attr-defined]
