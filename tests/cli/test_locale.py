"""Output on a terminal that cannot show Chinese."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.untraced]


@pytest.mark.parametrize("arguments", [("--help",), ("sequence", "values.txt", "--lang", "zh")], ids=" ".join)
def test_an_ascii_locale_shows_chinese_as_escapes(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    (tmp_path / "values.txt").write_text("\n".join(map(str, range(12))))
    process = subprocess.run(
        [sys.executable, "-m", "hengwen", *arguments],
        cwd=tmp_path,
        env={**plain, **ascii_only},
        capture_output=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.isascii()
    assert b"\\u" in process.stdout
