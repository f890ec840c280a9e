"""Backend for OpenAI's decisions endpoint (openai 3.54), which gives choices probabilities, and no text."""

from __future__ import annotations

import json
from math import fsum, log
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from hengwen.backends.http.errors import message_of_error_body, redact
from hengwen.backends.openai.client import OpenAIClient
from hengwen.backends.openai.reply import raw_body, read_usage, text_or_empty
from hengwen.backends.parameters import backend_signature, checked_params, encode
from hengwen.errors import BackendError, ConfigError
from hengwen.records import Reply
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.backends.openai.reply import Token
    from hengwen.records import Request

TOLERANCE = 0.01
"""How far from 1 the sum of the probabilities of a question may be."""
INSTRUCTIONS = (
    "Which value has the field {name!r} of the reply that the system message describes?\n"
    "系统消息所要求的回复中，字段 {name!r} 应取哪个值？"
)


class _Question(NamedTuple):
    field: str
    labels: Sequence[str]


class _Answer(NamedTuple):
    label: str
    probabilities: Mapping[str, float]


class DecisionsBackend(OpenAIClient):
    """Ask a model how likely each label of a verdict is, at OpenAI's endpoint ``/decisions``.

    Each field of the request's JSON schema that has an ``enum`` is a question with these labels as choices.
    The reply is the JSON object with the chosen labels; its reason lists the probabilities, which
    ``Reply.logprobs`` holds too. Judges of this backend compute expected levels from them.

    Args:
        params: Parameters that are sent unchanged, such as ``prompt_cache_key``. The other arguments are
            those of ``OpenAIBackend``.

    Raises:
        ConfigError: The key for OpenAI's own endpoint is missing, or an argument is invalid.

    Examples:
        >>> backend = DecisionsBackend(model="gpt-6-luna", base_url="http://localhost:1/v1")
        >>> backend.signature, backend.gives_probabilities
        ('decisions/gpt-6-luna', True)
    """

    path = "decisions"
    gives_probabilities = True

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        params: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        check_key: bool = True,
    ) -> None:
        super().__init__(model, base_url, api_key_env, params, timeout, check_key)
        for name in ("input", "questions"):
            if name in self.params:
                raise ConfigError(f"params may not set {name!r}: the backend does")
        self.params = checked_params(self.params)
        self.signature = backend_signature("decisions", model, self.params)

    async def complete(self, request: Request) -> Reply:
        """Ask for the probabilities of the labels in a request's schema.

        Args:
            request: Request of a judge; its ``params`` override the parameters of the backend.

        Raises:
            BackendError: The request has no labels to choose from, the model refused a question, or there is
                no usable reply.
        """
        questions = [] if request.schema is None else [*_questions(request.schema)]
        if request.schema is None or not questions:
            raise BackendError(
                "the decisions endpoint writes no text: it serves only judges that choose a label; "
                "name another backend for this request",
                status="rejected",
            )
        for label in (label for question in questions for label in question.labels):
            if _json(label) != f'"{label}"':
                raise BackendError(
                    f"the label {label!r} holds a quote or a backslash: rename the level",
                    status="rejected",
                )
        started_at = perf_counter()
        status, headers, body = await self._post(self._encode(request, questions))
        latency = perf_counter() - started_at
        if status >= 300:
            raise self._status_error(status, headers, body)
        raw = raw_body(body, self._access.secrets)
        answers = body.get("answers") if isinstance(body, dict) else None
        if not isinstance(body, dict) or not isinstance(answers, list):
            words = redact(message_of_error_body(body), self._access.secrets)
            problem = f"the endpoint answered with an error: {words}" if words else "the reply is no decision"
            raise BackendError(problem, raw=raw, retryable=True)
        try:
            if len(answers) != len(questions):
                raise ValueError(f"{len(questions)} questions have {len(answers)} answers")
            read = [_read(*pair) for pair in zip(answers, enumerate(questions), strict=True)]
        except ValueError as error:
            message = redact(f"the decision cannot be read: {error}", self._access.secrets)
            raise BackendError(message, status="parse_error", raw=raw) from None
        refused = [question.field for question, answer in zip(questions, read, strict=True) if answer is None]
        if refused:
            message = f"the model refused to decide: {', '.join(refused)}"
            raise BackendError(message, status="refused", raw=raw)
        decided = [answer for answer in read if answer is not None]
        tokens = [*_tokens(request.schema, _reason(questions, decided), iter(decided))]
        return Reply(
            text=b"".join(token[0] for token in tokens).decode(),
            model=redact(text_or_empty(body.get("model")), self._access.secrets),
            usage=read_usage(body.get("usage"), "input_tokens", "output_tokens"),
            latency=latency,
            response_format="choices",
            logprobs=tuple(tokens) if request.logprobs is not None else None,
        )

    def _encode(self, request: Request, questions: Sequence[_Question]) -> bytes:
        body = {
            **self.params,
            **checked_params(request.params),
            "model": self.model,
            "input": [{"role": role, "content": content} for role, content in request.messages],
            "questions": [
                {
                    "type": "choice",
                    "name": _name(number),
                    "instructions": INSTRUCTIONS.format(name=question.field),
                    "choices": [{"value": label} for label in question.labels],
                }
                for number, question in enumerate(questions)
            ],
        }
        return replace_surrogates(encode(body)).encode()


def _name(number: int) -> str:
    """Return the name of a question; the name of a criterion may have letters that the endpoint refuses."""
    return f"q{number + 1}"


def _questions(schema: Mapping[str, Any]) -> Iterator[_Question]:
    """Yield the fields with labels, in the order in which the reply has them."""
    for field, part in schema["properties"].items():
        if "enum" in part:
            yield _Question(field, part["enum"])
        elif "properties" in part:
            yield from _questions(part)


def _read(answer: object, numbered: tuple[int, _Question]) -> _Answer | None:
    """Return the answer to a question; None if the model refused it."""
    number, question = numbered
    if not isinstance(answer, dict) or answer.get("name") not in (None, _name(number)):
        raise ValueError(f"answer {number + 1} is not that to question {_name(number)}")
    if answer.get("type") == "refusal":
        return None
    probabilities: dict[str, float] = {}
    entries = answer.get("probabilities")
    if answer.get("type") != "choice" or not isinstance(entries, list):
        raise ValueError(f"answer {number + 1} is no choice with probabilities")
    for entry in entries:
        label, value = (
            (entry.get(key) for key in ("value", "probability")) if isinstance(entry, dict) else (0, 0)
        )
        if not isinstance(label, str) or label not in question.labels or label in probabilities:
            raise ValueError(f"answer {number + 1} has the choice {label!r}, which is unknown or repeated")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ValueError(f"answer {number + 1} has the probability {value!r}")
        probabilities[label] = float(value)
    total = fsum(probabilities.values())
    if abs(total - 1) > TOLERANCE:
        raise ValueError(f"the probabilities of answer {number + 1} sum to {total:g}, not to 1")
    choice = answer.get("choice")
    if not isinstance(choice, str) or not probabilities.get(choice):
        raise ValueError(f"answer {number + 1} chose {choice!r}, which has no probability")
    return _Answer(choice, probabilities)


def _reason(questions: Sequence[_Question], answers: Sequence[_Answer]) -> str:
    """Return the probabilities in words; they are all that the endpoint tells of its reasons."""
    return "; ".join(
        f"{question.field}: "
        + ", ".join(
            f"{label} {answer.probabilities[label]:.2f}"
            for label in question.labels
            if answer.probabilities.get(label)
        )
        for question, answer in zip(questions, answers, strict=True)
    )


def _tokens(schema: Mapping[str, Any], reason: str, answers: Iterator[_Answer]) -> Iterator[Token]:
    """Yield the tokens of the reply: each chosen label is one token, the other labels are alternatives."""
    before = "{"
    for field, part in schema["properties"].items():
        yield _fixed(f"{before}{_json(field)}: ")
        before = ", "
        if "enum" in part:
            label, probabilities = next(answers)
            yield _fixed('"')
            likely = {other: log(value) for other, value in probabilities.items() if value > 0}
            others = tuple((_closed(other), value) for other, value in likely.items())
            yield _closed(label), likely[label], others
        elif "properties" in part:
            yield from _tokens(part, reason, answers)
        else:
            yield _fixed(_json(reason))
    yield _fixed("}")


def _fixed(text: str) -> Token:
    return text.encode(), 0.0, ()


def _closed(label: str) -> bytes:
    """Return a label with the quote that ends it, so that no label is the beginning of another."""
    return _json(label)[1:].encode()


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
