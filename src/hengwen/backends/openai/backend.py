"""Backend for any OpenAI-compatible endpoint. Each request is sent once; the engine decides on retries."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from hengwen.backends.openai.batch_client import BatchClient
from hengwen.backends.openai.batch_lines import BatchLines, ChatRequestEncoder
from hengwen.backends.openai.client import DEFAULT_BASE_URL, OpenAIClient
from hengwen.backends.openai.reply import read_reply
from hengwen.backends.parameters import SchemaModes, backend_signature

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.records import Reply, Request


class OpenAIBackend(OpenAIClient):
    """Call an endpoint with OpenAI's chat completions API.

    A JSON schema for the reply is sent as strict ``json_schema``. If the endpoint refuses ``json_schema``,
    the next format is tried: ``json_object``, then a tool, then no schema at all. The backend remembers the
    format that works and states it in ``Reply.response_format``.

    Args:
        model: Name of the model at the endpoint.
        base_url: URL of the endpoint; default: the variable ``OPENAI_BASE_URL``, else OpenAI's own URL.
        api_key_env: Name of the environment variable that holds the key.
        params: Sampling parameters. They are sent unchanged, except that repeats of the same request get
            ``seed`` + 1, ``seed`` + 2 and so on.
        timeout: Seconds for one call in total, > 0.
        structured: Response format to use without trying others: ``json_schema``, ``json_object``, ``tool``
            or ``text``.
        check_key: Whether a missing key is an error when the backend is built; False for a dry run, which
            sends nothing.

    Raises:
        ConfigError: The key for OpenAI's own endpoint is missing, or an argument is invalid.

    Examples:
        >>> url = "http://me:pw@localhost:1/v1?k=v"
        >>> backend = OpenAIBackend(model="tiny", base_url=url, params={"temperature": 0})
        >>> backend.signature, backend.endpoint
        ('openai/tiny|temp:0', 'http://localhost:1/v1')
    """

    path = "chat/completions"

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        params: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        structured: str | None = None,
        check_key: bool = True,
    ) -> None:
        super().__init__(model, base_url, api_key_env, params, timeout, check_key)
        self._schema_modes = SchemaModes(structured)
        self.signature = backend_signature("openai", model, self.params, structured)
        is_openai = self.endpoint.startswith(DEFAULT_BASE_URL)
        self._encoder = ChatRequestEncoder(model, self.params, limits=not is_openai)

    async def complete(self, request: Request) -> Reply:
        """Send a request; resend it only if the endpoint refuses the response format or log-probabilities.

        Args:
            request: Request to send; its ``params`` override the parameters of the backend.

        Raises:
            BackendError: There is no usable reply; ``retryable`` and ``retry_after`` state whether and when
                to retry.
        """
        while True:
            response_format, logprobs = self._schema_modes.of(request)
            body = self._encoder.encode(request, response_format, logprobs)
            started_at = perf_counter()
            status, headers, answer = await self._post(body)
            if status < 300:
                return read_reply(
                    answer,
                    perf_counter() - started_at,
                    self._access.secrets,
                    response_format=response_format,
                    logprobs=logprobs is not None,
                )
            error = self._status_error(status, headers, answer)
            if not self._schema_modes.downgrade_on(status, error, response_format, logprobs):
                raise error

    def batch_lines(self) -> BatchLines:
        """Return the encoder and decoder of lines of batch files; they use this backend's response format."""
        return BatchLines(self._encoder, self._schema_modes, self._access.secrets, self.api_key_env)

    def batch_client(self) -> BatchClient:
        """Return a client of the batch endpoint of the same server."""
        return BatchClient(self._base_url, self.api_key_env, self.timeout)
