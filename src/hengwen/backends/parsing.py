"""Return replies together with their parsed values, from any backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.protocols import ParsingBackend

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.protocols import Backend, Parsed
    from hengwen.records import Reply, Request


def parsing_backend(backend: Backend) -> ParsingBackend:
    """Return the backend itself if it can parse replies, else an adapter that parses its replies."""
    return backend if isinstance(backend, ParsingBackend) else _ParsingAdapter(backend)


class _ParsingAdapter:
    """Backend that adds ``complete_parsed`` to a backend that lacks it."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return a reply together with the value that ``parse`` makes of it."""
        reply = await self._backend.complete(request)
        return reply, parse(reply)
