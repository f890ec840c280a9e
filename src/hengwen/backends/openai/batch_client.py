"""Client of OpenAI's Batch API: upload files of requests, create batches, and download the replies.

It uses the client of the ``openai`` package, which streams files and pages through lists, without its
retries: a batch may exist although the call to create it failed, so callers search the list of batches first.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.endpoint import NO_KEY, Endpoint, without_secrets
from hengwen.backends.http.errors import redact, status_error
from hengwen.backends.openai.batch_lines import ENDPOINT
from hengwen.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from httpx2 import Request as HttpRequest

CHUNK = 1 << 16
"""Bytes that are read from the network at once."""
PAGE = 100
"""Batches in one page of the list of batches, the maximum that the API allows."""
FINAL_STATUSES = ("completed", "failed", "expired", "cancelled")
MISSING_STATUSES = (404, 410)
"""HTTP statuses of a batch or file that the provider does not have."""
TOKEN_LIMIT_CODE = "token_limit_exceeded"  # noqa: S105 - a code of the API
"""Error code of a batch that must wait, because other batches use up the account's token limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBatch:
    """A batch as the provider describes it."""

    id: str
    status: str
    input_file_id: str = ""
    output_file_id: str = ""
    """Id of the file with the replies; empty if there are none."""
    error_file_id: str = ""
    """Id of the file with the calls that failed; empty if none did."""
    metadata: dict[str, str] = field(default_factory=dict)
    errors: tuple[tuple[str, str], ...] = ()
    """(code, message) of each reason why the input file was refused."""
    completed: int = 0
    failed: int = 0

    @property
    def is_final(self) -> bool:
        """Whether the provider has stopped processing the batch."""
        return self.status in FINAL_STATUSES

    @property
    def lacks_replies(self) -> bool:
        """Whether calls were executed, but the file with their replies is not there yet."""
        return self.completed > 0 and not self.output_file_id

    @property
    def exceeds_token_limit(self) -> bool:
        """Whether the batch was refused only because too many tokens are waiting at the provider."""
        return self.status == "failed" and any(code == TOKEN_LIMIT_CODE for code, _ in self.errors)


class MissingError(BackendError):
    """The provider never had the requested batch or file, or has deleted it."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """An uploaded file as the provider describes it."""

    id: str
    name: str
    bytes: int


class BatchClient:
    """Client of the batch endpoint of one backend, in one event loop; its methods raise BackendErrors."""

    def __init__(self, base_url: str, api_key_env: str, timeout: float) -> None:
        from httpx2 import AsyncClient, create_ssl_context
        from openai import AsyncOpenAI

        from hengwen.backends.http.transport import ENCODINGS, limit_body

        access = Endpoint(base_url, api_key_env)
        self._secrets = access.secrets
        self._api_key_env = api_key_env
        self.endpoint = without_secrets(base_url)
        self._client = AsyncOpenAI(
            api_key=access.key or NO_KEY,
            base_url=access.url,
            default_headers=access.headers,
            default_query=access.query,
            max_retries=0,
            timeout=timeout,
            http_client=AsyncClient(
                proxy=access.proxy,
                trust_env=False,
                timeout=timeout,
                verify=create_ssl_context(),
                headers={"Accept-Encoding": ENCODINGS},
                event_hooks={"request": [_remove_platform_headers], "response": [limit_body]},
            ),
        )

    async def upload(self, path: Path, name: str) -> str:
        """Upload a file of requests, and return the id that the provider gives it."""
        with self._errors(), path.open("rb") as content:
            uploaded = await self._client.files.create(file=(name, content), purpose="batch")
            return _id_of(uploaded)

    async def create(self, file_id: str, metadata: dict[str, str]) -> RemoteBatch:
        """Start a batch."""
        with self._errors():
            created = await self._client.batches.create(
                input_file_id=file_id, endpoint=ENDPOINT, completion_window="24h", metadata=metadata
            )
            return self._remote(created)

    async def retrieve(self, batch_id: str) -> RemoteBatch:
        """Return the present state of a batch."""
        with self._errors():
            return self._remote(await self._client.batches.retrieve(batch_id))

    async def cancel(self, batch_id: str) -> RemoteBatch:
        """Ask the provider to cancel a batch; replies that are ready are kept."""
        with self._errors():
            return self._remote(await self._client.batches.cancel(batch_id))

    async def batches(self) -> AsyncIterator[RemoteBatch]:
        """Yield all batches of the account, the newest first."""
        ids: set[str] = set()
        with self._errors():
            async for batch in self._client.batches.list(limit=PAGE):
                remote = self._remote(batch)
                if remote.id in ids:  # a server that ignores the cursor sends the same page for ever
                    return
                ids.add(remote.id)
                yield remote

    async def files(self) -> AsyncIterator[RemoteFile]:
        """Yield all uploaded files of requests of the account."""
        ids: set[str] = set()
        with self._errors():
            async for file in self._client.files.list(purpose="batch"):
                file_id = _id_of(file)
                if file_id in ids:
                    return
                ids.add(file_id)
                yield RemoteFile(file_id, _text(file.filename), _count(file.bytes))

    async def download(self, file_id: str, path: Path) -> None:
        """Download a file in small parts, and write it to a path that only the user can read."""
        with self._errors(), _open_private(path) as target:
            async with self._client.files.with_streaming_response.content(file_id) as response:
                async for chunk in response.iter_bytes(CHUNK):
                    target.write(chunk)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _remote(self, batch: Any) -> RemoteBatch:
        counts = getattr(batch, "request_counts", None)
        metadata = batch.metadata if isinstance(batch.metadata, dict) else {}
        errors = getattr(getattr(batch, "errors", None), "data", None)
        return RemoteBatch(
            id=_id_of(batch),
            status=_text(batch.status),
            input_file_id=_text(batch.input_file_id),
            output_file_id=_text(batch.output_file_id),
            error_file_id=_text(batch.error_file_id),
            metadata={str(name): str(value) for name, value in metadata.items()},
            errors=tuple(
                (
                    _text(getattr(error, "code", "")),
                    redact(_text(getattr(error, "message", "")), self._secrets),
                )
                for error in (errors if isinstance(errors, list) else ())
            ),
            completed=_count(getattr(counts, "completed", 0)),
            failed=_count(getattr(counts, "failed", 0)),
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of the ``openai`` package into BackendErrors without secrets."""
        from httpx2 import HTTPError
        from openai import APIStatusError, OpenAIError

        try:
            yield
        except APIStatusError as error:
            answer = error.response
            refusal = status_error(
                answer.status_code,
                answer.headers,
                answer.text,
                secrets=self._secrets,
                api_key_env=self._api_key_env,
            )
            if answer.status_code in MISSING_STATUSES:
                refusal = MissingError(str(refusal), status=refusal.status, raw=refusal.raw)
            raise refusal from None
        except (OpenAIError, HTTPError, ValueError, AttributeError) as error:
            cause: BaseException = error.__cause__ or error
            if isinstance(cause, BackendError):  # of the limit of replies
                raise cause from None
            words = redact(str(cause), self._secrets) or type(cause).__name__
            raise BackendError(f"no usable answer from {self.endpoint}: {words}", retryable=True) from None


def _open_private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb")


async def _remove_platform_headers(request: HttpRequest) -> None:
    """Remove the headers that describe the platform and the Python version."""
    for name in [name for name in request.headers if name.lower().startswith("x-stainless-")]:
        del request.headers[name]


def _id_of(value: Any) -> str:
    identity = _text(getattr(value, "id", None))
    if not identity:
        raise ValueError("the answer has no id")
    return identity


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
