"""The rubric judge: a language model reads a rubric and an answer, and names a level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.judges.verdict import ParsedVerdict, parse_verdict, verdict_schema
from hengwen.prompts.fences import PLACEHOLDER, new_fence
from hengwen.prompts.render import prompt_hash, render_judge_prompt
from hengwen.records import Reply, Request, Score, Verdict, digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.prompts.rubric import Language, Rubric
    from hengwen.protocols import Backend
    from hengwen.records import Response, Sample

VERSION = 1
"""Goes up whenever the way from a reply to a score changes."""


class RubricJudge:
    """Judges by a rubric that a model reads.

    Args:
        rubric: What to judge by.
        backend: Who reads it.
        language: Of the prompt.
        persona: Text about the character; shown where the rubric uses ``persona``.
        name: First part of the score names; default: the rubric's name.

    Raises:
        ValueError: The language is unknown.
    """

    def __init__(
        self,
        *,
        rubric: Rubric,
        backend: Backend,
        language: Language = "zh",
        persona: str = "",
        name: str | None = None,
    ) -> None:
        if language not in ("zh", "en"):
            raise ValueError(f"language must be 'zh' or 'en', got {language!r}")
        self.rubric = rubric
        self.backend = backend
        self.language: Language = language
        self.persona = persona if "persona" in rubric.uses else ""
        self.name = name or rubric.name
        self._schema = verdict_schema(rubric)
        self._prompt = prompt_hash(rubric, language)

    def __repr__(self) -> str:
        return f"RubricJudge({self.signature!r})"

    @property
    def signature(self) -> str:
        """Rubric, prompt, language, persona, model with its parameters: all that can move a verdict."""
        persona = f"|persona:{digest(self.persona)[:8]}" if self.persona.strip() else ""
        return (
            f"{self.name}|rubric:{self.rubric.version}.{self.rubric.hash}|prompt:{self._prompt}"
            f"|lang:{self.language}{persona}|{self.backend.signature}|v:{VERSION}"
        )

    @property
    def names(self) -> Sequence[str]:
        """The level first, then each criterion."""
        return (f"{self.name}.level", *(f"{self.name}.{criterion}" for criterion in self.rubric.criteria))

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        """Judge an answer.

        Args:
            sample: What was asked.
            response: The answer.
            earlier: Not looked at.

        Raises:
            JudgeError: The reply holds no usable verdict.
            BackendError: There is no usable reply.
        """
        request = self.request(sample, response)
        reply = await self.backend.complete(request)
        parsed = parse_verdict(reply.text, self.rubric, reply.finish)
        return self._verdict(parsed, reply, request.signature)

    def request(self, sample: Sample, response: Response) -> Request:
        """Return the call for an answer, with fences of its own.

        Args:
            sample: What was asked.
            response: The answer.
        """
        fence = new_fence()
        messages = render_judge_prompt(
            self.rubric, sample, response, language=self.language, persona=self.persona, fence=fence
        )
        return Request(
            messages=messages,
            schema=self._schema,
            signature=self.signature,
            identity="\n".join(f"{role}: {content}" for role, content in messages).replace(
                fence, PLACEHOLDER
            ),
            accept=self._accept,
        )

    def _accept(self, reply: Reply) -> ParsedVerdict:
        return parse_verdict(reply.text, self.rubric, reply.finish)

    def _verdict(self, parsed: ParsedVerdict, reply: Reply, signature: str) -> Verdict:
        def score(name: str, label: str, reason: str = "") -> Score:
            return Score(
                name=name,
                value=self.rubric.labels[label],
                signature=signature,
                scale=self.rubric.scale,
                kind="judge",
                reason=reason,
                details={"label": label, "model": reply.model},
            )

        labels = (parsed.criteria[criterion] for criterion in self.rubric.criteria)
        level, *criteria = self.names
        return Verdict(
            outcomes=(
                score(level, parsed.level, parsed.reason),
                *(score(name, label) for name, label in zip(criteria, labels, strict=True)),
            ),
            reason=parsed.reason,
            raw=reply.text,
            usage=reply.usage,
            latency=reply.latency,
            model=reply.model,
        )
