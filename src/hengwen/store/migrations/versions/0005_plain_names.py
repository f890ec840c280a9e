"""Rename two columns of attempts, and the kind of scores by scorers, to the terms used elsewhere."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Rename the columns and update the kinds."""
    op.alter_column("attempt", "scope", new_column_name="cache_scope")
    op.alter_column("attempt", "number", new_column_name="attempt_no")
    op.execute("""UPDATE "row" SET kind = 'scorer' WHERE kind = 'code'""")
