"""Run the tests on every supported Python, and on the lowest allowed versions of the dependencies."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False  # a missing interpreter is reported as skipped
nox.options.error_on_external_run = True

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
LOCK = ("--no-deps", "--require-hashes", "-r")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests with the locked versions."""
    session.install(*LOCK, "requirements.lock")
    session.install(*LOCK, "requirements-dev.lock")
    session.install("--no-deps", "--no-build-isolation", "--editable", ".")
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs)


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """Run the tests with the lowest version of each direct dependency."""
    session.install("--resolution", "lowest-direct", "--editable", ".", "--group", "dev")
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs)
