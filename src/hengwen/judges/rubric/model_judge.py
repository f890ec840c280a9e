"""What judges that ask a language model share: their settings, signature, and requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hengwen.backends.parsing import parsing_backend
from hengwen.judges.rubric.ask import repair_turns
from hengwen.prompts.render import PLACEHOLDER
from hengwen.records import digest
from hengwen.text.language import check_language

if TYPE_CHECKING:
    from hengwen.errors import JudgeError
    from hengwen.judges.rubric.ask import Try
    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend, ParsingBackend
    from hengwen.records import Request
    from hengwen.text.language import Language


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelJudge:
    """A judge that asks a language model; subclasses describe the fields."""

    rubric: Rubric
    backend: Backend
    language: Language = "zh"
    persona: str = ""
    name: str = ""
    strip_think: bool = True
    task_instruction: str = ""

    def __post_init__(self) -> None:
        check_language(self.language)
        object.__setattr__(self, "name", self.name or self.rubric.name)
        object.__setattr__(self, "persona", self.persona if "persona" in self.rubric.uses else "")

    @property
    def signature(self) -> str:
        """Text with all that can change a verdict."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature!r})"

    @cached_property
    def _parsing_backend(self) -> ParsingBackend:
        return parsing_backend(self.backend)

    def _sign(self, prompt: str, options: str, version: int, *, kind: str = "") -> str:
        """Return a signature of the rubric, a hash of the prompt, the model, and other options."""
        persona = f"|persona:{digest(self.persona)[:8]}" if self.persona.strip() else ""
        think = "" if self.strip_think else "|think:kept"
        return (
            f"{self.name}{kind}|rubric:{self.rubric.version}.{self.rubric.hash}|prompt:{prompt}"
            f"|lang:{self.language}{persona}|{self.backend.signature}{think}{options}|v:{version}"
        )

    def _for_try(
        self, request: Request, attempt: Try, error: JudgeError | None, fence: str, system_digest: str
    ) -> Request:
        """Return a request with its identity, and after an error with the turns that quote the error.

        A digest replaces the system turn, which is long, in the identity.
        """
        messages = request.messages
        if error is not None:
            messages = repair_turns(messages, error, language=self.language, fence=fence)
        turns = [
            f"{role}: {system_digest if role == 'system' else content.replace(fence, PLACEHOLDER)}"
            for role, content in messages
        ]
        if attempt != "first":
            turns.append(f"#{attempt}")
        return replace(request, messages=messages, identity="\n".join(turns))
