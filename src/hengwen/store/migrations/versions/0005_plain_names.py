"""Rename two columns of the table ``attempt``; mark the scores of scorers with ``scorer``, not ``code``."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Rename two columns of ``attempt``; in the column ``row.kind``, replace ``code`` by ``scorer``."""
    op.alter_column("attempt", "scope", new_column_name="cache_scope")
    op.alter_column("attempt", "number", new_column_name="attempt_no")
    op.execute("""UPDATE "row" SET kind = 'scorer' WHERE kind = 'code'""")
