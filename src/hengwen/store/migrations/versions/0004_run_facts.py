"""Add a column for facts of a run: its prompts and answers, and the package versions that scored them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column; in runs that were written before, it is empty."""
    op.add_column("run", sa.Column("facts", sa.Text, nullable=False, server_default="{}"))
