"""Add indexes for reports: evaluations by evaluator, failures, and the usage of calls."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

HAS_FAILURE = sa.text("statuses <> ''")


def upgrade() -> None:
    """Create indexes of evaluations, and add role and usage (calls, tokens) to the index of sent calls."""
    op.drop_index("attempt_run", "attempt")
    op.create_index("attempt_run", "attempt", ["run_id", "role", "calls", "input_tokens", "output_tokens"])
    if op.get_bind().dialect.name == "postgresql":
        op.create_index("evaluation_evaluator", "evaluation", ["run_id", "evaluator_id", "statuses"])
    op.create_index(
        "evaluation_failed",
        "evaluation",
        ["run_id"],
        sqlite_where=HAS_FAILURE,
        postgresql_where=HAS_FAILURE,
    )
