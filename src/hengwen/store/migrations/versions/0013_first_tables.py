"""The first schema whose stores are migrated: a new store gets the newest schema at once."""

revision = "0013"
down_revision = None


def upgrade() -> None:
    """Change nothing."""
