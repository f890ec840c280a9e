"""Entry point of Alembic: run migrations on the database connection that ``hengwen.store.schema`` passes."""

from alembic import context

from hengwen.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
