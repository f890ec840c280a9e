"""The program of a worker process: it applies one function to batches of items until its input ends.

A frame is the length of a pickled object, then the object. The first frame on standard input has the
function, each further one a list of items, and is answered on standard output by a frame with the results.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import struct
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from hengwen._internal.gc_tuning import relaxed_gc
from hengwen._internal.plugins import import_file, imported_files
from hengwen.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH = struct.Struct("<Q")


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Write pickled data with its length."""
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the pickled data of the next frame (length and pickled data); None if the stream ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


def dump(value: Any) -> bytes:
    """Pickle an object, preceded by the paths of the Python files (``file.py:Class``) that it refers to."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return pickle.dumps(imported_files(data), pickle.HIGHEST_PROTOCOL) + data


def load(frame: bytes) -> Any:
    """Return the object that ``dump`` pickled, after importing the Python files that the object refers to."""
    stream = io.BytesIO(frame)
    for name, path in pickle.load(stream).items():  # noqa: S301 - the parent process wrote it
        if name not in sys.modules:
            try:
                import_file(Path(path))
            except SystemExit as error:
                raise WorkerError(f"a file ended the process: {error}") from None
    return pickle.load(stream)  # noqa: S301 - the parent process wrote it


def reply_to(function: Callable[[Any], Any], frame: bytes) -> bytes:
    """Return the reply to a batch: the results of all items, or the exception that the function raised."""
    try:
        results = [function(item) for item in load(frame)]
        return pickle.dumps((True, results), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> bytes:
    try:
        data = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(data)  # noqa: S301 - some exceptions can be pickled but not loaded
    except Exception:
        replaced = WorkerError(f"{type(error).__name__}: {error}")
        data = pickle.dumps((False, replaced), pickle.HIGHEST_PROTOCOL)
    return data


def main() -> None:  # pragma: no cover - runs in worker processes
    """Serve the parent process until it closes its pipe to this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent process
    source = sys.stdin.buffer
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # texts that plug-ins print must not be mixed with frames
    sys.stdin, sys.stdout = open(os.devnull), sys.stderr  # noqa: SIM115 - open until the process ends
    frames: SimpleQueue[bytes] = SimpleQueue()

    def read() -> None:
        while (frame := read_frame(source)) is not None:
            frames.put(frame)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    status = 1
    try:
        _serve(frames, sink)
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else 1
    finally:  # a normal exit would wait for the thread that reads frames
        os._exit(status)


def _serve(frames: SimpleQueue[bytes], sink: BinaryIO) -> None:  # pragma: no cover - runs in worker processes
    try:
        function = load(frames.get())
    except Exception as error:
        write_frame(sink, _failure(error))
        return
    write_frame(sink, pickle.dumps((True, []), pickle.HIGHEST_PROTOCOL))
    with relaxed_gc():
        while True:
            write_frame(sink, reply_to(function, frames.get()))
