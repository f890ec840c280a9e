"""Add the table ``look``, which numbers the runs that were tested against the same baseline."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "look",
        sa.Column("series", sa.String, nullable=False),
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("looked", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("series", "run_id"),
        sa.UniqueConstraint("series", "number", name="look_number"),
    )
