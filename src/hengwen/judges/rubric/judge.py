"""The rubric judge: a language model reads a rubric and an answer, and names a level."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hengwen.judges.aspects import aggregate_level, parse_level_from
from hengwen.judges.rubric.ask import JudgedReply, ReplyParser, Try, ask_for_verdict
from hengwen.judges.rubric.logprobs import TOP_LOGPROBS, verdict_weights
from hengwen.judges.rubric.repair_prompt import repair_turns
from hengwen.judges.rubric.samples import most_common_label, split_verdicts
from hengwen.judges.rubric.scores import Valued, score_from_logprobs, score_from_reply, score_from_samples
from hengwen.judges.rubric.verdict import verdict_schema
from hengwen.objective.detectors.thinking import answer_without_thinking
from hengwen.prompts.fences import PLACEHOLDER, new_fence
from hengwen.prompts.language import check_language
from hengwen.prompts.render import judge_system, prompt_hash, render_judge_prompt, render_persona
from hengwen.records import Request, Scale, Score, Verdict, digest

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from hengwen.errors import JudgeError
    from hengwen.judges.aspects import LevelFrom
    from hengwen.prompts.language import Language
    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend
    from hengwen.records import Response, Sample

VERSION = 1
"""Goes up whenever the way from a reply to a score changes."""
MOST_SAMPLES = 100


class RubricJudge:
    """Judges by a rubric that a model reads.

    A reply without a verdict is mended by one repair call, then the question is asked anew, once; then it is
    an error. ``details`` of each score say which ``attempt`` gave it (``first``, ``repair`` or ``fresh``).

    Args:
        rubric: What to judge by.
        backend: Who reads it.
        language: Of the prompt.
        persona: Text about the character, or the template of a system turn that sees what a subject's does;
            shown where the rubric uses ``persona``.
        name: First part of the score names; default: the rubric's name.
        samples: How often each answer is judged; the value is the mean. Above 1, the scale has no levels.
        logprobs: Weigh the labels by the probabilities that the model gave them, where the endpoint tells
            them; else the samples count. ``method`` in the details says what was done.
        strip_think: Judge an answer without the ``<think>`` block before it. One that is never closed stays.
        level_from: ``holistic`` (the model's own level), ``min_aspect`` or ``median_aspect`` (the least or
            the lower median of the criteria). The same verdict serves all three.
        note: An instruction of the task, besides those of the rubric.
        facts_from: Of rules, their ``measures``: the judge is then shown what they find.

    Raises:
        ValueError: The language is unknown, or an option is no such value.
    """

    def __init__(
        self,
        *,
        rubric: Rubric,
        backend: Backend,
        language: Language = "zh",
        persona: str = "",
        name: str | None = None,
        samples: int = 1,
        logprobs: bool = False,
        strip_think: bool = True,
        level_from: LevelFrom = "holistic",
        note: str = "",
        facts_from: str = "",
    ) -> None:
        check_language(language)
        if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MOST_SAMPLES:
            raise ValueError(f"samples must be a whole number from 1 to {MOST_SAMPLES}, got {samples!r}")
        for option, value in (("logprobs", logprobs), ("strip_think", strip_think)):
            if not isinstance(value, bool):
                raise ValueError(f"{option} must be true or false, got {value!r}")
        self.rubric = rubric
        self.backend = backend
        self.language: Language = language
        self.persona = persona if "persona" in rubric.uses else ""
        self.name = name or rubric.name
        self.samples = samples
        self.logprobs = logprobs
        self.strip_think = strip_think
        self.level_from: LevelFrom = parse_level_from(level_from, list(rubric.criteria))
        self.note = note
        self.facts_from = facts_from
        self.reads_facts = bool(facts_from)
        self._schema = verdict_schema(rubric)
        self._system = digest(
            judge_system(rubric, language, task_instruction=note)
        )  # stands for it in identities
        self._call_signature = self._sign()
        self._signature = self._sign(
            (f"|samples:{samples}" if samples > 1 else "")
            + (f"|facts:{facts_from}" if facts_from else "")
            + ("" if level_from == "holistic" else f"|level:{level_from}")
        )
        self._places = ("level", *rubric.criteria)
        self._names = tuple(f"{self.name}.{place}" for place in self._places)
        is_mean = samples > 1 or logprobs
        self._scale = Scale(low=rubric.scale.low, high=rubric.scale.high) if is_mean else rubric.scale

    def __repr__(self) -> str:
        return f"RubricJudge({self.signature!r})"

    def _sign(self, beyond_the_call: str = "") -> str:
        persona = f"|persona:{digest(self.persona)[:8]}" if self.persona.strip() else ""
        options = ("" if self.strip_think else "|think:kept") + ("|logprobs" if self.logprobs else "")
        prompt = prompt_hash(self.rubric, self.language, task_instruction=self.note, facts=self.reads_facts)
        return (
            f"{self.name}|rubric:{self.rubric.version}.{self.rubric.hash}"
            f"|prompt:{prompt}"
            f"|lang:{self.language}{persona}|{self.backend.signature}{options}{beyond_the_call}|v:{VERSION}"
        )

    @property
    def signature(self) -> str:
        """Rubric, prompt, language, persona, model with its parameters: all that can move a verdict."""
        return self._signature

    @property
    def names(self) -> Sequence[str]:
        """The level first, then each criterion."""
        return self._names

    async def judge(
        self,
        sample: Sample,
        response: Response,
        *,
        earlier: Sequence[Response] = (),
        facts: Sequence[str] = (),
    ) -> Verdict:
        """Judge an answer.

        Args:
            sample: What was asked.
            response: The answer.
            earlier: Not looked at.
            facts: What rules found, where ``facts_from`` names the rules.

        Raises:
            JudgeError: No reply held a usable verdict.
            BackendError: There is no usable reply.
            ValueError: There are facts, but the signature does not say of which rules.
        """
        if facts and not self.reads_facts:
            raise ValueError("facts are shown to a judge only where facts_from names their rules")
        values = self.rubric.labels
        shown, notes = self._shown(response)
        first: list[JudgedReply] = []
        if self.logprobs or self.samples == 1:
            asked = await self._ask(sample, shown, facts)
            if not self.logprobs:
                return self._verdict([asked], partial(score_from_reply, asked, values), notes)
            weights = verdict_weights(asked.reply.logprobs or (), asked.parsed, list(values))
            if weights is not None:
                return self._verdict([asked], partial(score_from_logprobs, asked, values, weights), notes)
            first = [asked]
        good, failed = await self._samples(sample, shown, facts, first)
        return self._verdict(good, partial(score_from_samples, good, values, failed), notes)

    async def _samples(
        self, sample: Sample, shown: Response, facts: Sequence[str], first: list[JudgedReply]
    ) -> tuple[list[JudgedReply], Counter[str]]:
        repeats = range(len(first) + 1, self.samples + 1)
        more = await asyncio.gather(
            *(self._ask(sample, shown, facts, repeat) for repeat in repeats), return_exceptions=True
        )
        return split_verdicts([*first, *more])

    async def _ask(
        self, sample: Sample, shown: Response, facts: Sequence[str] = (), repeat: int = 1
    ) -> JudgedReply:
        def make(ear: ReplyParser, attempt: Try, wrong: JudgeError | None) -> Request:
            return self._request(sample, shown, facts, repeat, ear, attempt, wrong)

        return await ask_for_verdict(self.backend, make, self.rubric)

    def request(self, sample: Sample, response: Response, *, repeat: int = 1) -> Request:
        """Return the call for an answer, with fences of its own.

        Args:
            sample: What was asked.
            response: The answer, as it is shown.
            repeat: Which of the samples.
        """
        return self._request(sample, response, (), repeat, ReplyParser(self.rubric), "first", None)

    def _request(
        self,
        sample: Sample,
        shown: Response,
        facts: Sequence[str],
        repeat: int,
        ear: ReplyParser,
        attempt: Try,
        wrong: JudgeError | None,
    ) -> Request:
        fence = new_fence()
        messages = render_judge_prompt(
            self.rubric,
            sample,
            shown,
            language=self.language,
            persona=render_persona(self.persona, sample),
            task_instruction=self.note,
            facts=facts,
            fence=fence,
        )
        if wrong is not None:
            messages = repair_turns(messages, wrong, language=self.language, fence=fence)
        turns = [
            f"{role}: {self._system if role == 'system' else content.replace(fence, PLACEHOLDER)}"
            for role, content in messages
        ]
        text = "\n".join(turns)
        return Request(
            messages=messages,
            schema=self._schema,
            signature=self._call_signature,
            identity=text if attempt == "first" else f"{text}\n#{attempt}",
            repeat=repeat,
            logprobs=TOP_LOGPROBS if self.logprobs else None,
            validate=ear,
        )

    def _shown(self, response: Response) -> tuple[Response, dict[str, Any]]:
        """Return the answer as it is judged, and what the details say of that."""
        if not self.strip_think:
            return response, {}
        text = answer_without_thinking(response.text)
        if text is None:
            return response, {"think": "unclosed"}
        if text is response.text:
            return response, {}
        return replace(response, text=text), {"think": "stripped"}

    def _verdict(
        self, asked: Sequence[JudgedReply], value_at: Callable[[str], Valued], notes: Mapping[str, Any]
    ) -> Verdict:
        label, _ = most_common_label([one.parsed.level for one in asked])
        spoken = next(one for one in asked if one.parsed.level == label)
        scores = []
        for name, place in zip(self._names, self._places, strict=True):
            value, details = value_at(place)
            scores.append(
                Score(
                    name=name,
                    value=value,
                    signature=self._signature,
                    scale=self._scale,
                    kind="judge",
                    reason=spoken.parsed.reason if place == "level" else "",
                    details={**details, **notes} if notes else details,
                )
            )
        level = aggregate_level(self.level_from, scores[0], scores[1:])
        return Verdict(
            outcomes=(level, *scores[1:]),
            reason=spoken.parsed.reason,
            raw="\n".join([one.reply.text for one in asked]),
            usage=sum((one.usage for one in asked[1:]), asked[0].usage),
            latency=max(one.latency for one in asked),
            model=spoken.reply.model,
        )
