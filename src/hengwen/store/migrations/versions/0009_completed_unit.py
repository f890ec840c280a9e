"""Add the table ``completed_unit``, with which several processes share the work of one run."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "completed_unit",
        sa.Column("unit", sa.String, primary_key=True),
        sa.Column("run_id", sa.String, nullable=False),
    )
