"""Three tries for a verdict: the question, one repair, the question anew; then the error, never a guess."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hengwen.errors import BackendError, JudgeError
from hengwen.judges.rubric.verdict import ParsedVerdict, parse_verdict
from hengwen.records import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend
    from hengwen.records import Reply, Request

Try = Literal["first", "repair", "fresh"]
"""Which call gave the verdict."""
REPAIRABLE = ("parse_error", "off_scale")
"""What a model can mend when told. A reply that was cut off or refused would be so again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedReply:
    """A verdict with the reply that holds it, and what all calls for it took."""

    parsed: ParsedVerdict
    reply: Reply
    attempt: Try
    usage: Usage
    latency: float
    about: Mapping[str, str]
    """What the details of each of its scores say of the reply."""
    _details: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def details(self, label: str) -> dict[str, Any]:
        """Return the details of a score with this label, one object for all of them."""
        found = self._details.get(label)
        if found is None:
            found = self._details[label] = {"label": label, **self.about}
        return found


class ReplyParser:
    """Reads each reply once, whoever asks first, and keeps those that came.

    Args:
        rubric: Whose verdict is wanted.
    """

    __slots__ = ("_parsed", "_rubric", "replies")

    def __init__(self, rubric: Rubric) -> None:
        self.replies: list[Reply] = []
        self._rubric = rubric
        self._parsed: ParsedVerdict | None = None

    def __call__(self, reply: Reply) -> ParsedVerdict:
        """Return the verdict in a reply.

        Raises:
            JudgeError: There is none.
        """
        if self.replies and self.replies[-1] is reply and self._parsed is not None:
            return self._parsed
        if not (self.replies and self.replies[-1] is reply):
            self.replies.append(reply)
        self._parsed = None
        self._parsed = parse_verdict(reply.text, self._rubric, reply.finish)
        return self._parsed

    def asked(self, reply: Reply, attempt: Try) -> JudgedReply:
        """Return the verdict in a reply, with what all calls so far took.

        Raises:
            JudgeError: There is none.
        """
        parsed = self(reply)
        if len(self.replies) == 1:
            usage, latency = reply.usage, reply.latency
        else:
            usage = sum((one.usage for one in self.replies), Usage())
            latency = sum(one.latency for one in self.replies)
        about = {"attempt": attempt, "model": reply.model}
        if reply.form:
            about["form"] = reply.form
        return JudgedReply(
            parsed=parsed, reply=reply, attempt=attempt, usage=usage, latency=latency, about=about
        )


async def ask_for_verdict(
    backend: Backend, make: Callable[[ReplyParser, Try, JudgeError | None], Request], rubric: Rubric
) -> JudgedReply:
    """Ask until there is a verdict, at most three times.

    Args:
        backend: Who is asked; every call goes through it.
        make: Makes the call of a try, each with a key of its own; for ``repair`` it is given what was wrong.
        rubric: Whose verdict is wanted.

    Raises:
        JudgeError: No reply held a verdict (the last one is in ``raw``), or one was cut off or refused.
        BackendError: There was no reply.
    """
    ear = ReplyParser(rubric)
    try:
        return ear.asked(await backend.complete(make(ear, "first", None)), "first")
    except JudgeError as error:
        if isinstance(error, BackendError) or error.status not in REPAIRABLE:
            raise
        wrong = error
    try:
        return ear.asked(await backend.complete(make(ear, "repair", wrong)), "repair")
    except JudgeError as error:
        if _is_final(error):
            raise
    try:
        return ear.asked(await backend.complete(make(ear, "fresh", None)), "fresh")
    except BackendError:
        raise
    except JudgeError as error:
        raise JudgeError(
            f"no verdict in 3 calls (the question, a repair, the question anew): {error}",
            status=error.status,
            raw=error.raw,
        ) from None


def _is_final(error: JudgeError) -> bool:
    """Whether a failed repair is the end: an endpoint that is down or a budget that is spent.

    A repair that the endpoint refuses for good is not: it is longer than the question, and quotes the model.
    """
    return error.status == "budget" or (isinstance(error, BackendError) and error.retryable)
