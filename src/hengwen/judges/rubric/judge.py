"""The rubric judge: a language model reads a rubric and an answer, and names a level."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from hengwen.judges.aspects import aggregate_level, parse_level_from
from hengwen.judges.rubric.model_judge import JudgedReply, ModelJudge, Try, ask_for_verdict
from hengwen.judges.rubric.scores import (
    TOP_LOGPROBS,
    ValueWithDetails,
    most_common_label,
    score_from_logprobs,
    score_from_reply,
    score_from_samples,
    split_verdicts,
    verdict_weights,
)
from hengwen.judges.rubric.verdict import parse_verdict, verdict_schema
from hengwen.objective.detectors import answer_without_thinking
from hengwen.prompts.render import (
    neutralize,
    new_fence,
    prompt_hash,
    render_judge_prompt,
    render_persona,
    system_turn,
)
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext
from hengwen.records import Request, Scale, Score, Verdict, digest
from hengwen.score_id import score_name

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from hengwen.errors import JudgeError
    from hengwen.judges.aspects import LevelFrom
    from hengwen.judges.rubric.verdict import ParsedVerdict
    from hengwen.records import Reply, Response, Sample

VERSION = 1
"""Version of the computation from a reply to a score; it is a part of the signature."""
MAX_SAMPLES = 100


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RubricJudge(ModelJudge):
    """Judge responses with a language model that reads a rubric.

    If a reply cannot be parsed, one repair call quotes the problem. If the reply to the repair call contains
    no verdict either, the first prompt is sent again; if this fails too, the judge raises an error. If the
    first reply was cut off or refused, the judge raises an error without further calls. In ``details`` of
    each score, ``attempt`` names the call that gave the verdict: ``first``, ``repair`` or ``fresh`` (first
    prompt sent again).

    Args:
        rubric: Rubric with levels and criteria.
        backend: Backend of the model that reads the rubric.
        language: Language of the prompt.
        persona: Description of the character that the judged model plays, or a template that is filled in for
            each sample. The description of the character is part of the judge's prompt if the rubric uses
            ``persona``.
        name: First part of the score names; default: the rubric's name.
        samples: Number of times that the model judges each response, 1..100; the value is the mean. With
            several verdicts, the scale has no levels, because a mean may lie between two levels.
        logprobs: Whether to compute the expected value from the probabilities that the model gave the labels;
            one verdict is then enough, whatever ``samples`` is. If the endpoint returns no probabilities, the
            value is computed as without ``logprobs``. ``method`` in the details of a score names the method
            that was used.
        strip_think: Whether to remove a ``<think>`` block before the answer. A ``<think>`` block without an
            end tag is kept.
        level_from: Source of the overall level. ``holistic``: the level that the model named.
            ``min_aspect``: the lowest level of a criterion. ``median_aspect``: the median of the criteria's
            levels (the lower of two middle levels). The model is asked in the same way for all three values
            of ``level_from``.
        task_instruction: Instruction for this task, in addition to the instructions of the rubric.
        evidence_signature: Signature of the rules whose findings are passed as ``evidence`` (sentences that
            the prompt shows); empty if the judge accepts no evidence.

    Raises:
        ValueError: The language or the value of an option is unknown.
    """

    samples: int = 1
    logprobs: bool = False
    level_from: LevelFrom = "holistic"
    evidence_signature: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        samples = self.samples
        if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MAX_SAMPLES:
            raise ValueError(f"samples must be a whole number from 1 to {MAX_SAMPLES}, got {samples!r}")
        for option, value in (("logprobs", self.logprobs), ("strip_think", self.strip_think)):
            if not isinstance(value, bool):
                raise ValueError(f"{option} must be true or false, got {value!r}")
        parse_level_from(self.level_from, list(self.rubric.criteria))

    @cached_property
    def reads(self) -> tuple[ContextPart, ...]:
        """Parts of the context that the prompt includes."""
        return ("evidence",) if self.evidence_signature else ()

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return verdict_schema(self.rubric)

    @cached_property
    def _system_digest(self) -> str:
        """Hash that replaces the long system turn in the identities of requests."""
        return digest(system_turn("judge", self.rubric, self.language, self.task_instruction))

    @cached_property
    def _call_signature(self) -> str:
        return self._build_signature()

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        return ("level", *self.rubric.criteria)

    @cached_property
    def _scale(self) -> Scale:
        scale = self.rubric.scale
        return replace(scale, levels=None) if self.samples > 1 or self.logprobs else scale

    def _build_signature(self, scoring_options: str = "") -> str:
        prompt = prompt_hash(
            self.rubric,
            self.language,
            task_instruction=self.task_instruction,
            facts=bool(self.evidence_signature),
        )
        return self._sign(prompt, ("|logprobs" if self.logprobs else "") + scoring_options, VERSION)

    @cached_property
    def signature(self) -> str:
        """Text with all that can change a verdict: rubric, prompt, language, persona, model, parameters."""
        return self._build_signature(
            (f"|samples:{self.samples}" if self.samples > 1 else "")
            + (f"|facts:{self.evidence_signature}" if self.evidence_signature else "")
            + ("" if self.level_from == "holistic" else f"|level:{self.level_from}")
        )

    @cached_property
    def names(self) -> Sequence[str]:
        """Names of the judge's scores: the overall level, then each criterion."""
        return tuple(score_name(self.name, part) for part in self._parts)

    async def judge(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> Verdict:
        """Judge a response; the evidence of the context is part of the prompt.

        Raises:
            JudgeError: No reply contains a usable verdict.
            BackendError: There is no usable reply.
            ValueError: There is evidence, but no ``evidence_signature``.
        """
        evidence = context.evidence
        if evidence and not self.evidence_signature:
            raise ValueError("a judge takes evidence only if evidence_signature names its rules")
        values = self.rubric.labels
        judged_response, think_details = self._without_thinking(response)
        first_verdicts: list[JudgedReply] = []
        if self.logprobs or self.samples == 1:
            judged = await self._ask(sample, judged_response, evidence)
            if not self.logprobs:
                return self._verdict([judged], partial(score_from_reply, judged, values), think_details)
            weights = verdict_weights(judged.reply.logprobs or (), judged.parsed, list(values))
            if weights is not None:
                value_of = partial(score_from_logprobs, judged, values, weights)
                return self._verdict([judged], value_of, think_details)
            first_verdicts = [judged]
        verdicts, failed = await self._sample_verdicts(sample, judged_response, evidence, first_verdicts)
        return self._verdict(verdicts, partial(score_from_samples, verdicts, values, failed), think_details)

    async def _sample_verdicts(
        self,
        sample: Sample,
        response: Response,
        evidence: Sequence[str],
        first_verdicts: list[JudgedReply],
    ) -> tuple[list[JudgedReply], Counter[str]]:
        repeats = range(len(first_verdicts) + 1, self.samples + 1)
        results = await asyncio.gather(
            *(self._ask(sample, response, evidence, repeat) for repeat in repeats), return_exceptions=True
        )
        return split_verdicts([*first_verdicts, *results])

    async def _ask(
        self, sample: Sample, response: Response, evidence: Sequence[str], repeat: int = 1
    ) -> JudgedReply:
        build_request = partial(self._request, sample, response, evidence, repeat)
        quoted = (response.text, neutralize(response.text), sample.text)
        return await ask_for_verdict(self._parsing_backend, build_request, partial(self._parse, quoted))

    def _parse(self, quoted: Collection[str], reply: Reply) -> ParsedVerdict:
        return parse_verdict(reply.text, self.rubric, reply.finish, quoted)

    def request(self, sample: Sample, response: Response, *, repeat: int = 1) -> Request:
        """Return the request for the verdict on a response, or for one of several verdicts from 1."""
        return self._request(sample, response, (), repeat, "first")

    def _request(
        self,
        sample: Sample,
        response: Response,
        evidence: Sequence[str],
        repeat: int,
        attempt: Try,
        error: JudgeError | None = None,
    ) -> Request:
        fence = new_fence()
        messages = render_judge_prompt(
            self.rubric,
            sample,
            response,
            language=self.language,
            persona=render_persona(self.persona, sample),
            task_instruction=self.task_instruction,
            facts=evidence,
            fence=fence,
        )
        request = Request(
            messages=messages,
            schema=self._schema,
            signature=self._call_signature,
            repeat=repeat,
            logprobs=TOP_LOGPROBS if self.logprobs else None,
        )
        return self._for_try(request, attempt, error, fence, self._system_digest)

    def _without_thinking(self, response: Response) -> tuple[Response, dict[str, Any]]:
        """Return the response without its ``<think>`` block, and details about the block that was removed."""
        if not self.strip_think:
            return response, {}
        text = answer_without_thinking(response.text)
        if text is None:
            return response, {"think": "unclosed"}
        if text is response.text:
            return response, {}
        return replace(response, text=text), {"think": "stripped"}

    def _verdict(
        self,
        verdicts: Sequence[JudgedReply],
        value_of: Callable[[str], ValueWithDetails],
        think_details: Mapping[str, Any],
    ) -> Verdict:
        label, _ = most_common_label([verdict.parsed.level for verdict in verdicts])
        typical = next(verdict for verdict in verdicts if verdict.parsed.level == label)
        scores = []
        for name, part in zip(self.names, self._parts, strict=True):
            value, details = value_of(part)
            scores.append(
                Score(
                    name=name,
                    value=value,
                    signature=self.signature,
                    scale=self._scale,
                    kind="judge",
                    reason=typical.parsed.reason if part == "level" else "",
                    details={**details, **think_details} if think_details else details,
                )
            )
        level = aggregate_level(self.level_from, scores[0], scores[1:])
        return Verdict(
            outcomes=(level, *scores[1:]),
            reason=typical.parsed.reason,
            raw="\n".join([verdict.reply.text for verdict in verdicts]),
            usage=sum((verdict.usage for verdict in verdicts[1:]), verdicts[0].usage),
            latency=max(verdict.latency for verdict in verdicts),
            model=typical.reply.model,
        )
