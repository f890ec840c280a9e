"""Store the files of requests that are sent to batch endpoints, and the calls (also attempts) in them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import and_, bindparam, delete, func, select, tuple_, update

from hengwen.store import record_codec as codec
from hengwen.store import tables
from hengwen.store.call_key_filter import CallKeyFilter
from hengwen.store.database import store_errors
from hengwen.store.ledger import read_prefixes
from hengwen.store.location import sqlite_path
from hengwen.store.record_codec import PrefixStore
from hengwen.store.tables import BATCHED, UNREAD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import ColumnElement, Connection, Engine

    from hengwen.records import Attempt
    from hengwen.store.upsert import Writer

BatchState = Literal["collecting", "ready", "uploaded", "created", "exported", "ended"]
"""``collecting``: calls are added. ``ready``: the file is complete. ``uploaded``: the provider has the file.
``created``: the provider processes it. ``exported``: the file is for another program. ``ended``: the replies
are in the store."""
CallState = Literal["open", "replied", "again", "refused", "failed"]
"""``open``: there is no reply yet. ``replied``: the reply is stored. ``again``: the call failed, but may
succeed in another batch file. ``refused``: the call may succeed in another response format. ``failed``: the
call would fail again."""
IDS_PER_QUERY = 500
MAX_PREFIXES = 64
"""Number of prompt prefixes that are kept in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFile:
    """A file of requests to one model, and how far it is processed."""

    id: str
    """Id that this program gave the file; it is part of the file's name and of the metadata of the batch."""
    plan: str
    backend: str
    """Name of the backend in the plan."""
    runs: str = ""
    """Ids of the runs whose calls are in the file, separated by commas."""
    shard: int
    """Number of the file, counted from 1, among the files that are sent at the same time (a round)."""
    state: BatchState = "collecting"
    requests: int = 0
    bytes: int = 0
    input_tokens: int = 0
    """Estimated tokens of all prompts."""
    cost: float = 0.0
    """Estimated cost of all calls; 0 if the price is unknown."""
    file_id: str = ""
    """Id that the provider gave the uploaded file."""
    remote_id: str = ""
    """Id that the provider gave the batch."""
    created: str
    """Time at which the file was begun, in ISO 8601 and UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCall:
    """A call in a batch file, with its attempt (prompt and reply)."""

    custom_id: str
    batch_id: str
    attempt: Attempt
    """The attempt; its status is ``batched`` until the reply is downloaded."""
    tries: int = 1
    """Number of batch files with this call, except files in which only its response format was refused."""
    state: CallState = "open"
    response_format: str = ""
    """How the JSON schema was sent, as in ``Reply.response_format``."""
    logprobs: int | None = None
    """Number of alternatives to each token that were requested with log-probabilities."""
    message: str = ""
    """Why the call failed in this file, or while it is open, in an earlier one; empty if it did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHead:
    """A call in a batch file, without its prompt and reply."""

    custom_id: str
    batch_id: str
    state: CallState
    call_key: str
    cache_scope: str
    attempt_no: int
    response_format: str
    logprobs: int | None


class BatchStore:
    """The batches of one plan in a store."""

    def __init__(self, engine: Engine, writer: Writer, plan: str) -> None:
        self._engine = engine
        self._writer = writer
        self.plan = plan
        self._known: CallKeyFilter | None = None
        self._prefixes = PrefixStore()
        self._known_prefixes: dict[str, str] = {}

    @property
    def path(self) -> Path | None:
        """File of a SQLite store; None for other databases and for a database in memory."""
        return sqlite_path(self._engine.url)

    def files(self, *states: BatchState) -> list[BatchFile]:
        """Return the plan's batch files in these states, in the order of creation."""
        batch = tables.batch
        condition = batch.c.state.in_(states) if states else batch.c.state != "ended"
        query = select(batch).where(batch.c.plan == self.plan, condition)
        with store_errors(self._engine), self._engine.connect() as connection:
            rows = connection.execute(query.order_by(batch.c.created, batch.c.shard, batch.c.id)).mappings()
            return [BatchFile(**columns) for columns in rows]

    def save(self, file: BatchFile) -> None:
        """Write a file's state, in a transaction of its own."""
        self._writer.write((tables.batch, [asdict(file)]))

    def add(self, calls: Sequence[BatchCall]) -> None:
        """Write calls and their attempts in one transaction; earlier calls with the same ids are replaced."""
        attempts = [codec.attempt_columns(call.attempt, self._prefixes) for call in calls]
        prompts = [{"hash": key, "text": text} for key, text in self._prefixes.drain().items()]
        requests = [self._request_columns(call) for call in calls]
        self._writer.write(
            (tables.prompt, prompts), (tables.attempt, attempts), (tables.batch_request, requests)
        )
        if self._known is not None:
            for call in calls:
                self._known.add(call.custom_id)

    def _request_columns(self, call: BatchCall) -> dict[str, Any]:
        columns = {name: getattr(call, name) for name in _CALL_FIELDS}
        columns |= {name: getattr(call.attempt, name) for name in _KEY}
        return columns | {"plan": self.plan, "message": codec.storable_text(call.message)}

    def find(self, custom_id: str) -> BatchCall | None:
        """Return a call with its attempt, or None if it is in no file."""
        request = tables.batch_request
        if self._known is None:
            query = select(request.c.custom_id).where(request.c.plan == self.plan)
            with store_errors(self._engine), self._engine.connect() as connection:
                self._known = CallKeyFilter(connection.execute(query).scalars())
        if not self._known.might_contain(custom_id):
            return None
        with store_errors(self._engine), self._engine.connect() as connection:
            values = {"b_plan": self.plan, "b_id": custom_id}
            columns = connection.execute(_FIND, values).mappings().first()
        if columns is None:
            return None
        fields_of_call = {name: columns[f"request_{name}"] for name in _CALL_FIELDS}
        stored: Any = {column.name: columns[column.name] for column in tables.attempt.columns}
        return BatchCall(**fields_of_call, attempt=codec.attempt_from(stored, self._prefixes_of(stored)))

    def _prefixes_of(self, columns: Any) -> dict[str, str]:
        """Return prompt prefixes by key: all that an attempt (a sent call) needs, and others in memory."""
        if not codec.prefix_keys(columns) <= self._known_prefixes.keys():
            if len(self._known_prefixes) >= MAX_PREFIXES:
                self._known_prefixes = {}
            self._known_prefixes |= read_prefixes(self._engine, columns)
        return self._known_prefixes

    def heads(self, custom_ids: Sequence[str]) -> dict[str, CallHead]:
        """Return the calls with these ids, by id; unknown ids are left out."""
        request = tables.batch_request
        heads: dict[str, CallHead] = {}
        fields = [request.c[name] for name in CallHead.__dataclass_fields__]
        with store_errors(self._engine), self._engine.connect() as connection:
            for start in range(0, len(custom_ids), IDS_PER_QUERY):
                ids = custom_ids[start : start + IDS_PER_QUERY]
                query = select(*fields).where(request.c.plan == self.plan, request.c.custom_id.in_(ids))
                for columns in connection.execute(query).mappings():
                    heads[columns["custom_id"]] = CallHead(**columns)
        return heads

    def record(self, replies: Sequence[tuple[CallHead, CallState, str, Mapping[str, Any]]]) -> None:
        """Write the results of calls in one transaction."""
        if not replies:
            return
        request, attempt = tables.batch_request, tables.attempt
        states = [
            {"b_id": head.custom_id, "state": state, "message": codec.storable_text(message)}
            for head, state, message, _ in replies
        ]
        changes = [
            {
                **{f"b_{name}": getattr(head, name) for name in _KEY},
                **columns,
                "raw": codec.storable_text(columns["raw"]),
                "extras": codec.to_json(columns["extras"]) if columns["extras"] else "",
            }
            for head, _, _, columns in replies
        ]
        names = [name for name in changes[0] if not name.startswith("b_")]
        with self._writer.begin() as connection:
            connection.execute(
                update(attempt)
                .where(*(attempt.c[name] == bindparam(f"b_{name}") for name in _KEY))
                .where(attempt.c.status != "ok")
                .values({name: bindparam(name) for name in names}),
                changes,
            )
            connection.execute(
                update(request)
                .where(request.c.plan == self.plan, request.c.custom_id == bindparam("b_id"))
                .values(state=bindparam("state"), message=bindparam("message")),
                states,
            )

    def end(self, file: BatchFile, *, status: str, message: str, state: CallState = "again") -> None:
        """Record that a batch has ended."""
        request, batch = tables.batch_request, tables.batch
        rest = and_(request.c.batch_id == file.id, request.c.state == "open")
        with self._writer.begin() as connection:
            self._set_status(connection, rest, status)
            values = {"state": state, "message": codec.storable_text(message)}
            connection.execute(update(request).where(rest).values(values))
            connection.execute(update(batch).where(batch.c.id == file.id).values(state="ended"))

    def _set_status(self, connection: Connection, calls: ColumnElement[bool], status: str) -> None:
        """Set the status of the ``batched`` attempts of calls; for an empty status, delete these attempts."""
        request, attempt = tables.batch_request, tables.attempt
        keys = select(*(request.c[name] for name in _KEY)).where(calls)
        chosen = and_(tuple_(*attempt.primary_key).in_(keys), attempt.c.status == BATCHED)
        if status:
            connection.execute(update(attempt).where(chosen).values(status=status))
        else:
            connection.execute(delete(attempt).where(chosen))

    def void(self, file: BatchFile, *, was_cancelled: bool = False) -> None:
        """Delete a batch file from the store, because it is given up."""
        request, batch = tables.batch_request, tables.batch
        in_file = request.c.batch_id == file.id
        rest = and_(in_file, request.c.state.in_(("open", "again") if was_cancelled else ("open",)))
        with self._writer.begin() as connection:
            self._set_status(connection, rest, "")
            if not was_cancelled:
                connection.execute(
                    update(request)
                    .where(rest, request.c.message != "")
                    .values(state="again", tries=request.c.tries - 1, attempt_no=request.c.attempt_no - 1)
                )
            connection.execute(delete(request).where(rest))
            connection.execute(delete(batch).where(batch.c.id == file.id))
        self._known = None

    def has_replies(self) -> bool:
        """Return whether a downloaded reply of the plan was not parsed yet."""
        with store_errors(self._engine), self._engine.connect() as connection:
            return connection.execute(self._unread().limit(1)).first() is not None

    def _unread(self) -> Any:
        request, attempt = tables.batch_request, tables.attempt
        return (
            select(request.c.custom_id)
            .join(attempt, _same_attempt())
            .where(request.c.plan == self.plan, attempt.c.status == UNREAD)
        )

    def count(self, state: CallState, batch_id: str | None = None) -> int:
        """Return the number of calls of the plan in a state, such as ``open`` (no reply yet)."""
        request = tables.batch_request
        query = select(func.count()).where(request.c.plan == self.plan, request.c.state == state)
        if batch_id is not None:
            query = query.where(request.c.batch_id == batch_id)
        with store_errors(self._engine), self._engine.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def forget(self) -> None:
        """Delete the records of calls that failed or whose replies were parsed, and of ended batch files."""
        request, batch = tables.batch_request, tables.batch
        with self._writer.begin() as connection:
            connection.execute(
                delete(request).where(
                    request.c.plan == self.plan,
                    request.c.state != "open",
                    request.c.custom_id.not_in(self._unread()),
                )
            )
            connection.execute(delete(batch).where(batch.c.plan == self.plan, batch.c.state == "ended"))
        self._known = None


_CALL_FIELDS = tuple(name for name in BatchCall.__dataclass_fields__ if name != "attempt")
_KEY = tuple(tables.attempt.primary_key.columns.keys())
"""Fields of a call that name its attempt."""


def _same_attempt() -> ColumnElement[bool]:
    return and_(*(tables.batch_request.c[name] == tables.attempt.c[name] for name in _KEY))


_FIND = (
    select(tables.attempt, *(tables.batch_request.c[name].label(f"request_{name}") for name in _CALL_FIELDS))
    .join(tables.batch_request, _same_attempt())
    .where(
        tables.batch_request.c.plan == bindparam("b_plan"),
        tables.batch_request.c.custom_id == bindparam("b_id"),
    )
)
"""Query for one call with its attempt; it is built only once, because that takes longer than running it."""
