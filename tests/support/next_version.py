"""A store schema with one more version, so that migrations can be tested."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from hengwen.store import schema

MIGRATION = """
from alembic import op
import sqlalchemy as sa

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table("later", sa.Column("id", sa.Integer, primary_key=True))
    op.execute("UPDATE run SET seed = seed")
"""


@pytest.fixture
def next_version(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a migration that creates a table."""
    folder = tmp_path_factory.mktemp("migrations") / "migrations"
    copytree(Path(schema.__file__).parent / "migrations", folder)
    (folder / "versions" / "0015_later.py").write_text(MIGRATION, "utf-8")
    monkeypatch.setattr(schema, "SCRIPTS", str(folder))
    monkeypatch.setattr(schema, "HEAD", "0015")
