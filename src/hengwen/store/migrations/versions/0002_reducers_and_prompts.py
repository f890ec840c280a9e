"""Add a column for reducers (how scores of repeats are combined), and a table for long prompt prefixes."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column and the table."""
    op.add_column("run", sa.Column("reducers", sa.Text, nullable=False, server_default="{}"))
    op.create_table(
        "prompt",
        sa.Column("hash", sa.String, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
