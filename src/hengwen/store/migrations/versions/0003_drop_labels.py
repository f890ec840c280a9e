"""Drop the table of human labels: labels are read from the plan's file, never from the store."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Drop the table."""
    op.drop_table("label")
