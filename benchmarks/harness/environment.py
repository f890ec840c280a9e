"""The virtual environment of the benchmarks: Hengwen and its peers, in pinned versions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-bench"
PEERS = ROOT / "benchmarks" / "peers.in"
PINS = ROOT / "benchmarks" / "requirements-bench.txt"
UV = ROOT / ".venv" / "bin" / "uv"
BASE = ("aiohttp", "jieba", "numpy", "openai", "pypinyin", "rapidfuzz", "sacrebleu", "scipy", "sqlalchemy")
"""Dependencies of Hengwen whose versions change its speed; some are also measured as peers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An environment that is ready for benchmarks."""

    python: Path
    """Path of the environment's Python."""
    versions: dict[str, str]
    """Version of Hengwen, of each installed peer, and of the libraries that affect its speed."""
    missing: dict[str, str]
    """Last line of the error of each peer that could not be installed, by name."""


def prepare(folder: Path = FOLDER) -> Environment:
    """Create or update the environment.

    Raises:
        SystemExit: If Hengwen itself cannot be installed.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    error = _install(python, "--editable", str(ROOT))
    if error:
        raise SystemExit(f"hengwen could not be installed: {error}")
    peers = requirements(PEERS.read_text("utf-8"))
    missing = {name: error for name, line in peers.items() if (error := _install(python, line))}
    _compile(python)
    return Environment(python=python, versions=_versions(python, list(peers)), missing=missing)


def requirements(text: str) -> dict[str, str]:
    """Return the requirements of a file, with extras and versions, by the name of the package."""
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return {re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0]: line for line in lines if line}


def error_line(text: str) -> str:
    """Return the last line of an error message that is not empty, without folders of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[-1] if lines else "no message"
    return re.sub(r"(/[\w.+-]+){2,}/", "…/", line)[:200]


def _install(python: Path, *packages: str) -> str:
    """Install packages in their pinned versions; return the error line, or an empty text."""
    if os.access(UV, os.X_OK):  # make leaves an empty file where uv is not available
        command = [str(UV), "pip", "install", "--quiet", "--python", str(python)]
    else:
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
        ]
    done = subprocess.run(
        [*command, "--constraint", str(PINS), *packages], capture_output=True, text=True, check=False
    )
    return error_line(done.stderr) if done.returncode else ""


def _compile(python: Path) -> None:
    """Compile Hengwen and all packages, so that every program starts as at its second start.

    Neither uv nor Python with ``PYTHONDONTWRITEBYTECODE`` does this; a start would compile all modules again.
    """
    packages = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    command = [str(python), "-m", "compileall", "-q", "-j", "0", packages, str(ROOT / "src")]
    subprocess.run(command, capture_output=True, check=False)  # files of other Python versions do not compile


def _versions(python: Path, peers: list[str]) -> dict[str, str]:
    code = (
        "import json, sys\n"
        "from importlib.metadata import PackageNotFoundError, version\n"
        "versions = {}\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        versions[name] = version(name)\n"
        "    except PackageNotFoundError:\n"
        "        pass\n"
        "print(json.dumps(versions))\n"
    )
    names = ["hengwen", *sorted({*BASE, *peers})]
    done = subprocess.run([str(python), "-c", code, *names], capture_output=True, text=True, check=True)
    versions: dict[str, str] = json.loads(done.stdout)
    return versions
