"""The pair judge: a language model reads a rubric and two answers in both orders, and names the better."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

from hengwen._internal.plugins import describe_error
from hengwen.errors import JudgeError, StoreError
from hengwen.judges.rubric.model_judge import (
    REASON_LIMIT,
    JudgedReply,
    ModelJudge,
    ParsedVerdict,
    Try,
    ask_for_verdict,
    object_schema,
    parse_label,
    verdict_fields,
)
from hengwen.objective.detectors import answer_without_thinking
from hengwen.prompts.render import new_fence, prompt_hash, render_judge_prompt, render_persona, system_turn
from hengwen.records import Reply, Request, Response, Sample, Status, digest

VERSION = 1
"""Version of the code that turns a reply into a winner; the signature of the judge contains it."""
POSITIONS = ("first", "second", "tie")
"""What a reply can name as the winner."""
PairWinner = Literal["a", "b", "tie"]
_KEYS = dict.fromkeys(("reason", "winner"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOpinion:
    """What a judge said about two answers in one order."""

    first: Literal["a", "b"]
    """The answer that was shown first."""
    winner: PairWinner | None
    """The better answer, or a tie; None if the judge failed, because a failure is never a verdict."""
    reason: str = ""
    """Reason that the judge gave, or the message of the failure."""
    model: str = ""
    """Name of the model as its server returned it; empty without a reply."""
    status: Status | Literal["ok"] = "ok"
    """``ok``, or the status of the failure."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairJudge(ModelJudge):
    """Compare two answers with a language model that reads a rubric; both orders are always judged.

    Args:
        rubric: Rubric; its levels tell the model what a better answer is.
        backend: Backend of the model.
        language: Language of the prompt.
        persona: Description of the character that the judged models play, or a template that is filled in for
            each sample; used only if the rubric uses ``persona``.
        name: First part of the signature (text of all settings) of the judge; default: the rubric's name.
        strip_think: Whether to remove a ``<think>`` block before an answer.
        task_instruction: Instruction for this task, in addition to the instructions of the rubric.

    Raises:
        ValueError: The language is unknown.
    """

    @cached_property
    def _system_digest(self) -> str:
        """Hash that replaces the long system turn in the identities of requests."""
        return digest(system_turn("pair", self.rubric, self.language, self.task_instruction))

    @cached_property
    def signature(self) -> str:
        """Text with all that can change a verdict: rubric, prompt, language, persona, model, parameters."""
        prompt = prompt_hash(self.rubric, self.language, task_instruction=self.task_instruction, kind="pair")
        return self._sign(prompt, "", VERSION, kind="|pair")

    async def compare(self, sample: Sample, a: Response, b: Response) -> tuple[PairOpinion, PairOpinion]:
        """Return the model's opinions on two answers: one for the order A, B, then one for the order B, A.

        Two answers with the same text are a tie without any call. A call that fails, even after a repair
        of its reply, is an opinion without a winner.

        Raises:
            StoreError: A paid reply could not be stored.

        Examples:
            >>> from hengwen.backends import ReplayBackend
            >>> from hengwen.prompts import load_rubric
            >>> from hengwen.records import Response, Sample
            >>> replies = [f'{{"reason": "warmer", "winner": "{name}"}}' for name in ("first", "second")]
            >>> judge = PairJudge(
            ...     rubric=load_rubric("persona_generic"), backend=ReplayBackend(model="m", replies=replies)
            ... )
            >>> answers = [Response(sample_id="1", text=text) for text in ("Good night, dear.", "Night.")]
            >>> [opinion.winner for opinion in asyncio.run(judge.compare(Sample(id="1"), *answers))]
            ['a', 'a']
        """
        if a.text == b.text:
            reason = "equal texts"
            return (
                PairOpinion(first="a", winner="tie", reason=reason),
                PairOpinion(first="b", winner="tie", reason=reason),
            )
        # even if one call raises an error, wait for the other call, which may already be sent
        forward, backward = await asyncio.gather(
            self._opinion(sample, a, b, "a"), self._opinion(sample, b, a, "b"), return_exceptions=True
        )
        if isinstance(forward, BaseException):
            raise forward
        if isinstance(backward, BaseException):
            raise backward
        return forward, backward

    async def _opinion(
        self, sample: Sample, first: Response, second: Response, first_name: Literal["a", "b"]
    ) -> PairOpinion:
        answers = (self._without_thinking(first), self._without_thinking(second))
        build_request = partial(self._request, sample, answers)
        try:
            judged: JudgedReply = await ask_for_verdict(
                self._parsing_backend, build_request, partial(_parse, [answer.text for answer in answers])
            )
        except StoreError:
            raise
        except Exception as error:  # a failure of one call is an opinion without a winner
            status, message, _ = describe_error(error)
            return PairOpinion(first=first_name, winner=None, reason=message, status=status)
        second_name: Literal["a", "b"] = "b" if first_name == "a" else "a"
        winners: dict[str, PairWinner] = {"first": first_name, "second": second_name, "tie": "tie"}
        return PairOpinion(
            first=first_name,
            winner=winners[judged.parsed.level],
            reason=judged.parsed.reason,
            model=judged.reply.model,
        )

    def _request(
        self, sample: Sample, answers: tuple[Response, Response], attempt: Try, error: JudgeError | None
    ) -> Request:
        persona = render_persona(self.persona, sample) if self.persona else ""
        fence = new_fence()
        messages = render_judge_prompt(
            self.rubric,
            sample,
            *answers,
            language=self.language,
            persona=persona,
            task_instruction=self.task_instruction,
            fence=fence,
        )
        request = Request(messages=messages, schema=_SCHEMA, signature=self.signature)
        return self._for_try(request, attempt, error, fence, self._system_digest)

    def _without_thinking(self, response: Response) -> Response:
        text = answer_without_thinking(response.text) if self.strip_think else response.text
        return response if text is None or text == response.text else replace(response, text=text)


_SCHEMA = object_schema(
    {
        "reason": {"type": "string", "maxLength": REASON_LIMIT},
        "winner": {"type": "string", "enum": list(POSITIONS)},
    }
)


def _parse(quoted: Collection[str], reply: Reply) -> ParsedVerdict:
    """Return the verdict in a reply; the level of this verdict is the position of the winner, or ``tie``."""
    reason, verdict = verdict_fields(reply.text, reply.finish, _KEYS, quoted)
    return ParsedVerdict(reason=reason, level=parse_label("winner", verdict["winner"], POSITIONS))
