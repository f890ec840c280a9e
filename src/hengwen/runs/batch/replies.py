"""Read files of replies and write the replies to the store; a file may be read any number of times."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from hengwen.backends.openai.batch_lines import read_line
from hengwen.engine.metered_backend import extras_of
from hengwen.errors import BackendError
from hengwen.records import Reply, Usage
from hengwen.store.call_key_filter import CallKeyFilter
from hengwen.store.tables import UNREAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from hengwen.backends.openai.batch_lines import BatchLine, BatchLines
    from hengwen.store.batches import BatchStore, CallHead, CallState

LINES_PER_COMMIT = 500
MAX_LINE = 16 << 20
"""Maximum length of a line in bytes; a longer line cannot be the reply to one call."""


@dataclass(slots=True)
class ReplyCounts:
    """Counts of the replies, errors and other lines in files of replies."""

    replies: int = 0
    """Number of calls with a valid reply."""
    errors: int = 0
    """Number of lines that report a failed call."""
    unknown: int = 0
    """Number of lines whose ``custom_id`` belongs to no call of the plan."""
    duplicates: int = 0
    """Number of lines about a call whose reply was in an earlier line or file."""
    unreadable: int = 0
    """Number of lines that are no JSON object with a ``custom_id``."""
    usage: Usage = field(default_factory=Usage)
    """Tokens of all valid replies in the files of replies, including replies that the store already had."""
    answered: CallKeyFilter = field(default_factory=CallKeyFilter)
    """Ids of the calls with a valid reply in the files of replies."""

    def problems(self) -> str:
        """Return the numbers of skipped lines in files of replies, as a phrase; "" if no line was skipped."""
        phrases = [
            _phrase(self.unreadable, "unreadable line", "unreadable lines"),
            _phrase(self.unknown, "line of an unknown call", "lines of unknown calls"),
            _phrase(self.duplicates, "line of an answered call", "lines of answered calls"),
        ]
        return ", ".join(phrase for phrase in phrases if phrase)


def _phrase(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular if count == 1 else plural}" if count else ""


def record_replies(
    path: Path, store: BatchStore, lines_of: Callable[[CallHead], BatchLines | None], counts: ReplyCounts
) -> None:
    """Read a file of replies, and store each reply as an attempt (one try to get an answer) of its call."""
    with path.open("rb") as content:
        parts = _lines(content, counts)
        while part := list(islice(parts, LINES_PER_COMMIT)):
            _record_part(part, store, lines_of, counts)


def _lines(content: BinaryIO, counts: ReplyCounts) -> Iterator[BatchLine]:
    """Yield the readable lines; only a line feed ends a line, because replies hold other line separators."""
    while raw := content.readline(MAX_LINE):
        if raw.strip():
            line = read_line(raw)
            if line is None:
                counts.unreadable += 1
            else:
                yield line


def _record_part(
    part: list[BatchLine],
    store: BatchStore,
    lines_of: Callable[[CallHead], BatchLines | None],
    counts: ReplyCounts,
) -> None:
    heads = store.heads(list({line.custom_id for line in part}))
    states: dict[str, CallState] = {custom_id: head.state for custom_id, head in heads.items()}
    changes: dict[str, tuple[CallHead, CallState, str, dict[str, Any]]] = {}
    for line in part:
        head = heads.get(line.custom_id)
        decoder = None if head is None else lines_of(head)
        if head is None or decoder is None:
            is_answered = head is not None and head.state == "replied"
            counts.duplicates += is_answered
            counts.unknown += not is_answered
            continue
        if counts.answered.might_contain(line.custom_id):
            counts.duplicates += 1
            continue
        try:
            reply = decoder.decode(line, head.response_format)
        except (BackendError, RecursionError) as error:
            counts.errors += 1
            if states[line.custom_id] != "open":
                continue
            state, message, columns = _failed(error, line, head, decoder)
        else:
            counts.replies += 1
            counts.usage += reply.usage
            counts.answered.add(line.custom_id)
            if states[line.custom_id] == "replied":  # the file was read before
                continue
            state, message, columns = "replied", "", _attempt_columns(UNREAD, reply.text, reply)
        states[line.custom_id] = state
        changes[line.custom_id] = (head, state, message, columns)
    store.record(list(changes.values()))


def _failed(
    error: BackendError | RecursionError, line: BatchLine, head: CallHead, decoder: BatchLines
) -> tuple[CallState, str, dict[str, Any]]:
    if isinstance(error, RecursionError):
        error = BackendError("the reply is nested too deeply", retryable=True)
    state: CallState = "again" if error.retryable else "failed"
    if decoder.schema_modes.downgrade_on(line.status, error, head.response_format, head.logprobs):
        state = "refused"
    return state, str(error), _attempt_columns(error.status, error.raw, None)


def _attempt_columns(status: str, raw: str, reply: Reply | None) -> dict[str, Any]:
    reply = reply or Reply(text="", finish="")
    return {
        "status": status,
        "raw": raw,
        **asdict(reply.usage),
        "model": reply.model,
        "finish": reply.finish,
        "extras": extras_of(reply),
    }
