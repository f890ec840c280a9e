"""Add the facts of a run: which prompts and answers it has, and which package versions scored them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column; runs written before have no facts."""
    op.add_column("run", sa.Column("facts", sa.Text, nullable=False, server_default="{}"))
