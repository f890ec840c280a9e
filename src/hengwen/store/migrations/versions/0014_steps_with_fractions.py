"""Steps of runs may have fractions, such as epochs."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Change the type of the column; SQLite copies the table for this."""
    with op.batch_alter_table("run") as table:
        table.alter_column("step", existing_type=sa.Integer, type_=sa.Double)
