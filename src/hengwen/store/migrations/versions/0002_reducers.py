"""How the repeats of a prompt become its value."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add a column to the runs."""
    op.add_column("run", sa.Column("reducers", sa.Text, nullable=False, server_default="{}"))
