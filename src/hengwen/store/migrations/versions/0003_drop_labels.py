"""Drop the table of human labels, because labels are read from a file that the plan names."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Drop the table."""
    op.drop_table("label")
