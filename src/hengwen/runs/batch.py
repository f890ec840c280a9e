"""Write the missing calls of a plan as request files of OpenAI's Batch API, and store the replies to them."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sqlalchemy import select

from hengwen.backends.openai import OpenAIBackend
from hengwen.backends.parameters import WrappedBackend
from hengwen.engine.metered_backend import CallContext, LedgerBackend, Role
from hengwen.errors import BackendError, ConfigError, DataError, StoreError
from hengwen.io.untrusted_json import parse_json
from hengwen.plans.plan import Plan
from hengwen.plans.suite import LoadedPlan, load_suite
from hengwen.protocols import Backend, Ledger
from hengwen.records import Attempt, Reply, Request, Run
from hengwen.runs.options import RunOptions
from hengwen.runs.plan_lock import plan_lock
from hengwen.runs.resources import RunResources
from hengwen.runs.run_plan import Interrupts, run_until_complete, walk
from hengwen.store import tables
from hengwen.store.store import Store

if TYPE_CHECKING:
    Answer = Callable[[str, Backend, Request], Reply]
    """Function that returns the reply to a request of a backend with a name, or raises BackendError."""

MAX_REQUESTS = 50_000
"""Maximum number of requests in a file, by the documentation of OpenAI's Batch API."""
MAX_BYTES = 200_000_000
"""Maximum size of a file in bytes, by the documentation of OpenAI's Batch API."""
MAX_LINE = 16 << 20
"""Maximum length of a line in bytes; a longer line cannot be the reply to one call."""
MAX_ID = 64
"""Maximum number of characters of a ``custom_id``."""
PENDING = "pending"
"""Status of a call without a reply; it is never stored."""
IDS_PER_QUERY = 500


class _Calls(RunResources):
    """Resources of a dry run whose missing calls are answered by a function."""

    def __init__(self, suite: LoadedPlan, store: Store, options: RunOptions, answer: Answer) -> None:
        super().__init__(suite, store, options, dry=True)
        self._answer = answer
        if not any(isinstance(backend, OpenAIBackend) for backend in self.backends.values()):
            raise ConfigError("no backend of the plan has a batch endpoint: it needs provider: openai")

    def wrap(self, context: CallContext, name: str, role: Role, cache_scope: str) -> Backend:
        """Wrap a backend so that stored replies are reused, and other calls go to the function."""
        backend = _AnsweredBackend(name, self.backends[name], self._answer)
        return LedgerBackend(context, backend, role, self.limiters[name], cache_scope=cache_scope, retries=0)


class _AnsweredBackend(WrappedBackend):
    def __init__(self, name: str, backend: Backend, answer: Answer) -> None:
        super().__init__(backend)
        self._name = name
        self._answer = answer

    async def complete(self, request: Request) -> Reply:
        return self._answer(self._name, self._backend, request)


def export_calls(plan: Plan, store: Store, options: RunOptions, folder: Path) -> tuple[list[Path], int, int]:
    """Write the missing calls of a plan to files, at most 50,000 calls and 200 MB in each.

    Judgments of answers that a model must generate first are missing in the next export.

    Returns:
        The files, the number of calls in them, and the number of missing calls of other backends.
    """
    suite = load_suite(plan, trust=True)
    prefix = secrets.token_hex(4)
    files: dict[str, list[tuple[Path, BinaryIO]]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    exported: set[str] = set()
    others: set[str] = set()

    def write(name: str, backend: Backend, request: Request) -> Reply:
        key = request.key(backend.endpoint)
        if not isinstance(backend, OpenAIBackend):
            others.add(key)
        elif key not in exported:
            exported.add(key)
            line = backend.batch_line(key, request)
            requests, size = sizes.get(name, (MAX_REQUESTS, 0))
            if requests == MAX_REQUESTS or size + len(line) > MAX_BYTES:
                of_backend = files.setdefault(name, [])
                path = folder / f"{prefix}-{name}-{len(of_backend) + 1:03d}.jsonl"
                with _file_errors(path):
                    folder.mkdir(parents=True, exist_ok=True)
                    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
                    of_backend.append((path, os.fdopen(os.open(_part(path), flags, 0o600), "wb")))
                requests, size = 0, 0
            path, content = files[name][-1]
            with _file_errors(path):
                content.write(line)
            sizes[name] = requests + 1, size + len(line)
        raise BackendError("the call is exported", status=PENDING)

    try:
        run_until_complete(lambda _: walk(_Calls(suite, store, options, write)))
        for path, content in (file for of_backend in files.values() for file in of_backend):
            with _file_errors(path):
                content.close()
                _part(path).rename(path)
    except BaseException:  # an incomplete export would look like a complete one
        for path, content in (file for of_backend in files.values() for file in of_backend):
            with suppress(OSError):
                content.close()
            for written in (path, _part(path)):
                written.unlink(missing_ok=True)
        raise
    paths = [path for of_backend in files.values() for path, _ in of_backend]
    return paths, len(exported), len(others)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from None


class ReplyFiles:
    """Files of replies: where the reply to each call stands, so that memory does not hold the replies."""

    def __init__(self, paths: Sequence[Path], files: ExitStack) -> None:
        self.bad: list[str] = []
        """File, row and problem of each line that is no reply of the Batch API."""
        self._places: dict[str, tuple[Path, BinaryIO, int, int, bool]] = {}
        for path in paths:
            try:
                content = files.enter_context(path.open("rb"))
                for row, offset, line in self._lines(path, content):
                    key, response = line["custom_id"], line.get("response")
                    status = response.get("status_code") if isinstance(response, dict) else None
                    is_good = response is not None and (not isinstance(status, int) or status < 300)
                    if key not in self._places or (is_good and not self._places[key][-1]):
                        self._places[key] = path, content, row, offset, is_good
            except OSError as error:
                raise DataError(f"{path}: {error.strerror or error}") from None

    def _lines(self, path: Path, content: BinaryIO) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield row, offset and value of each readable line; only a line feed ends a line."""
        row = offset = 0
        while raw := content.readline(MAX_LINE):
            row += 1
            start, offset = offset, offset + len(raw)
            if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
                self.bad.append(f"{path}:{row}: the line is longer than {MAX_LINE:,} bytes")
                while raw and not raw.endswith(b"\n"):
                    raw = content.readline(MAX_LINE)
                    offset += len(raw)
            elif raw.strip():
                try:
                    yield row, start, _checked(raw)
                except ValueError as error:
                    self.bad.append(f"{path}:{row}: no line of a batch's replies: {error}")

    @property
    def keys(self) -> set[str]:
        """Call keys of the replies."""
        return set(self._places)

    def line(self, key: str) -> tuple[str, dict[str, Any]] | None:
        """Return the file and row of the reply to a call, and its line; None if there is none."""
        if key not in self._places:
            return None
        path, content, row, offset, _ = self._places[key]
        content.seek(offset)
        return f"{path}:{row}", _checked(content.readline(MAX_LINE))


def _checked(raw: bytes) -> dict[str, Any]:
    """Return a line of a file of replies; raise ValueError if it has another form."""
    try:
        line = parse_json(raw)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    if not isinstance(line, dict):
        raise ValueError("it is no JSON object")
    custom_id, response = line.get("custom_id"), line.get("response")
    if not isinstance(custom_id, str) or not 0 < len(custom_id) <= MAX_ID:
        raise ValueError(f"its custom_id is no text of 1 to {MAX_ID} characters")
    if not isinstance(response, dict) and (response is not None or not line.get("error")):
        raise ValueError("it has neither a response nor an error")
    return line


class _ImportLedger:
    """Write only the calls that have replies, and the run that they belong to; the next run resumes it."""

    def __init__(self, ledger: Ledger) -> None:
        self.done, self.read = ledger.done, ledger.read
        self.find_call, self.next_attempt_no = ledger.find_call, ledger.next_attempt_no
        self.commit = self.commit_attempts = ledger.commit
        self._ledger = ledger
        self._run: Run | None = None
        self._begun = ""

    def begin(self, run: Run) -> None:
        """Note the run of the calls."""
        self._run = run

    def record_attempt(self, attempt: Attempt) -> None:
        """Record a call with a reply."""
        if attempt.status == PENDING or self._run is None:
            return
        if self._begun != self._run.id:
            self._begun = self._run.id
            self._ledger.begin(replace(self._run, status="interrupted"))
        self._ledger.record_attempt(attempt)

    def _write_nothing(self, *_: object) -> None: ...

    adopt = record_response = record_rows = _write_nothing


class _ImportedCalls(_Calls):
    def ledger(self) -> Ledger:
        return _ImportLedger(self.store.ledger())


def import_replies(
    plan: Plan, store: Store, options: RunOptions, paths: Sequence[Path]
) -> tuple[Counter[str], list[str]]:
    """Store the replies to missing calls of a plan under their call keys, so that the next run finds them.

    Returns:
        Numbers of ``imported`` replies, ``failed`` calls, ``stored`` calls (which had a reply before),
        ``unknown`` calls and ``missing`` calls (still without a reply), and the problem of each line that
        gave no reply, with its file and row.
    """
    suite = load_suite(plan, trust=True)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    call_keys: set[str] = set()

    with ExitStack() as files:
        replies = ReplyFiles(paths, files)
        before = _stored(store, replies.keys)

        def read(_: str, backend: Backend, request: Request) -> Reply:
            key = request.key(backend.endpoint)
            is_new = key not in call_keys
            call_keys.add(key)
            reply_line = replies.line(key)
            if reply_line is None or not isinstance(backend, OpenAIBackend):
                counts["missing"] += is_new
                raise BackendError("the call has no reply yet", status=PENDING)
            location, line = reply_line
            try:
                reply = backend.batch_reply(request, line)
            except BackendError as error:
                if is_new:
                    problems.append(f"{location}: {error}")
                    counts["failed"] += 1
                    counts["missing"] += 1
                raise BackendError(str(error), status=PENDING) from None
            counts["imported"] += is_new
            return reply

        async def execute(interrupts: Interrupts) -> None:
            resources = _ImportedCalls(suite, store, options, read)
            stopping = resources.stopping
            with interrupts.stop_on_request(stopping):
                async with plan_lock(store, plan.name, stopping, wait=options.wait):
                    await walk(resources)

        run_until_complete(execute)
        unasked = replies.keys - call_keys
        counts["stored"] = len(unasked & before)
        counts["unknown"] = len(unasked - before)
    if not counts["imported"] + counts["stored"] + counts["failed"] and not replies.bad:
        raise ConfigError(
            "the files hold no reply to a call of this plan; hengwen batch export writes its calls"
        )
    return counts, replies.bad + problems


def _stored(store: Store, keys: set[str]) -> set[str]:
    """Return the calls that have a reply in the store."""
    call_key, stored, ordered = tables.attempt.c.call_key, set(), sorted(keys)
    with store.connect() as connection:
        for start in range(0, len(ordered), IDS_PER_QUERY):
            query = select(call_key).where(
                call_key.in_(ordered[start : start + IDS_PER_QUERY]), tables.attempt.c.status == "ok"
            )
            stored |= set(connection.execute(query).scalars())
    return stored
