"""Alembic's entry: migrates on the connection that ``hengwen.store.database`` hands over."""

from alembic import context

from hengwen.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
