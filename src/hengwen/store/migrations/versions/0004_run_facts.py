"""Add a column for the facts of a run, such as hashes of its prompts, and package versions."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column ``facts`` to the table ``run``; its value is ``{}`` for the runs in the table."""
    op.add_column("run", sa.Column("facts", sa.Text, nullable=False, server_default="{}"))
