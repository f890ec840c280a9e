"""Backends around another backend: one that also parses replies, and the base of those that change calls."""

from __future__ import annotations

from collections.abc import Callable

from hengwen.protocols import Backend, Parsed, ParsingBackend
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


class WrappedBackend:
    """Base of a backend that changes how another one is called; it has the signature of the other one."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def signature(self) -> str:
        """Signature of the wrapped backend."""
        return self._backend.signature

    @property
    def endpoint(self) -> str:
        """Endpoint of the wrapped backend."""
        return self._backend.endpoint

    async def close(self) -> None:
        """Close the wrapped backend."""
        await self._backend.close()
