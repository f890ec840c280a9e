"""Add a column for runs that judge stored answers again: the id of the earlier run that has the answers."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column ``rejudges``; it is empty in existing runs, none of which judged answers again."""
    op.add_column("run", sa.Column("rejudges", sa.String, nullable=False, server_default=""))
