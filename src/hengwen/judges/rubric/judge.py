"""The rubric judge: a language model reads a rubric and an answer, and names a level."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import exp, fsum
from typing import Any

from hengwen.errors import JudgeError
from hengwen.judges.panel import LevelFrom, aggregate_level, parse_level_from
from hengwen.judges.rubric.model_judge import (
    JudgedReply,
    ModelJudge,
    ParsedVerdict,
    Try,
    ask_for_verdict,
    parse_verdict,
    verdict_schema,
)
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
from hengwen.records import Reply, Request, Response, Sample, Scale, Score, Verdict, digest
from hengwen.score_id import score_name

TOP_LOGPROBS = 20
"""Number of alternatives that are requested for each token; common endpoints allow no more than this."""

Token = tuple[bytes, float, tuple[tuple[bytes, float], ...]]
"""(bytes, log-probability, alternatives) of a token; the type of ``Reply.logprobs`` items."""

_THOUGHT_END = re.compile(rb"</think(?:ing)?>", re.IGNORECASE)
_CRITERIA = re.compile(rb'"criteria"\s*:\s*\{')


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Probabilities of the labels for one part of a verdict: the overall level or a criterion."""

    labels: Mapping[str, float]
    """Probabilities of the labels that the endpoint listed, in the order of the rubric, scaled to sum to
    1."""
    off_label: float
    """Probability that the model writes something that is not a label of the rubric."""

    def mean(self, values: Mapping[str, float]) -> float:
        """The expected value: the mean of the labels' values, weighted by the labels' probabilities."""
        return fsum(weight * values[label] for label, weight in self.labels.items())


def verdict_weights(
    tokens: Sequence[Token], parsed: ParsedVerdict, labels: Sequence[str]
) -> dict[str, Weights] | None:
    """Return label probabilities for the level and each criterion; None if any of them is unknown."""
    body = b"".join(token[0] for token in tokens)
    *_, thought = (None, *_THOUGHT_END.finditer(body))
    start = body.find(b"{", thought.end() if thought else 0)
    weights_by_part: dict[str, Weights] = {}
    for part, label in (*parsed.criteria.items(), ("level", parsed.level)):
        offset = _label_offset(body, start, part, label)
        weights = None if offset is None else label_weights(tokens, offset, labels)
        if weights is None:
            return None
        weights_by_part[part] = weights
    return weights_by_part


def _label_offset(body: bytes, start: int, part: str, label: str) -> int | None:
    """Return the byte offset of a label in the reply, found by its JSON key, which occurs only once."""
    if start < 0:
        return None
    if part != "level":
        criteria = _CRITERIA.search(body, start)
        if criteria is None:
            return None
        start = criteria.end()
    key = re.compile(b'"' + re.escape(part.encode()) + rb'"\s*:\s*"\s*').search(body, start)
    if key is None or body[key.end() :][: len(label.encode())].decode("utf-8", "replace").casefold() != (
        label.casefold()
    ):
        return None
    return key.end()


def label_weights(tokens: Sequence[Token], offset: int, labels: Sequence[str]) -> Weights | None:
    """Return the probabilities of the labels at an offset of a reply."""
    names = {label.casefold().encode(): label for label in labels}
    mass = dict.fromkeys(labels, 0.0)
    prefix, prefix_probability = b"", 1.0
    end = 0
    for token, logprob, alternatives in tokens:
        begin, end = end, end + len(token)
        if end <= offset:
            continue
        lead = token[: max(0, offset - begin)]
        chosen: set[str] = set()
        probabilities = {
            text: exp(min(0.0, value)) for text, value in _with_token(token, logprob, alternatives)
        }
        for text, probability in probabilities.items():
            fitting = _fitting(prefix, text, lead, names)
            if text == token:
                chosen, chosen_probability = fitting, probability
            if len(fitting) == 1:
                (label,) = fitting
                mass[label] += prefix_probability * probability
        if len(chosen) == 1:
            return _normalized(mass)
        if not chosen:
            return None
        prefix += token[len(lead) :]
        prefix_probability *= chosen_probability
    return None


def _with_token(
    token: bytes, logprob: float, alternatives: Iterable[tuple[bytes, float]]
) -> Iterable[tuple[bytes, float]]:
    """Yield the alternatives of a token, then the token itself, even if it is among the alternatives."""
    yield from alternatives
    yield token, logprob


def _fitting(prefix: bytes, text: bytes, lead: bytes, names: Mapping[bytes, str]) -> set[str]:
    """Return the labels that can begin with a prefix followed by a token."""
    if lead:
        if not text.lstrip().startswith(lead.lstrip()):
            return set()
        text = text.lstrip()[len(lead.lstrip()) :]
    folded = _fold((prefix + text).lstrip())
    if not folded:
        return set(names.values())
    name, quote, _ = folded.partition(b'"')
    if quote:
        return {label for known, label in names.items() if known == name.rstrip()}
    return {label for known, label in names.items() if known.startswith(folded.rstrip())}


def _fold(text: bytes) -> bytes:
    """Convert valid UTF-8 to lower case; return other bytes, such as half a character, unchanged."""
    try:
        return text.decode().casefold().encode()
    except UnicodeDecodeError:
        return text


def _normalized(mass: Mapping[str, float]) -> Weights | None:
    total = fsum(mass.values())
    if not total > 0:
        return None
    return Weights(
        labels={label: share / total for label, share in mass.items() if share > 0},
        off_label=max(0.0, 1.0 - total),
    )


MODEL_FAILURES = ("parse_error", "off_scale", "truncated", "refused")
"""Statuses of failures that the model causes. A later run would get the same failures, so the score is
computed without the failed tries (requests that gave no verdict)."""


def split_verdicts(
    results: Sequence[JudgedReply | BaseException],
) -> tuple[list[JudgedReply], Counter[str]]:
    """Return the verdicts, and the number of failed tries by failure status."""
    verdicts: list[JudgedReply] = []
    errors: list[JudgeError] = []
    for result in results:
        if not isinstance(result, BaseException):
            verdicts.append(result)
        elif isinstance(result, JudgeError) and result.status in MODEL_FAILURES:
            errors.append(result)
        else:
            raise result
    statuses = Counter(error.status for error in errors)
    if 2 * len(verdicts) > len(results):
        return verdicts, statuses
    (status, _), *_ = statuses.most_common(1)
    typical = next(error for error in errors if error.status == status)
    if len(results) == 1:
        raise typical
    message = f"{len(errors)} of {len(results)} samples gave no verdict: {typical}"
    raise JudgeError(message, status=status, raw=typical.raw) from None


def most_common_label(labels: Sequence[str]) -> tuple[str, float]:
    """Return the most common label and its share; of equally common labels, return the first."""
    if len(labels) == 1:
        return labels[0], 1.0
    (label, count), *_ = Counter(labels).most_common(1)
    return label, count / len(labels)


ValueWithDetails = tuple[float, dict[str, Any]]
"""A value, and details on how it was computed."""


def score_from_reply(judged: JudgedReply, values: Mapping[str, float], part: str) -> ValueWithDetails:
    """Return the value of one verdict."""
    label = judged.parsed.label(part)
    return values[label], judged.details(label)


def score_from_logprobs(
    judged: JudgedReply, values: Mapping[str, float], weights: Mapping[str, Weights], part: str
) -> ValueWithDetails:
    """Return the expected value of the labels under the probabilities that the model gave them."""
    part_weights = weights[part]
    details = {
        "label": judged.parsed.label(part),
        "method": "logprobs",
        "weights": {label: round(weight, 6) for label, weight in part_weights.labels.items()},
        "off_label_mass": round(part_weights.off_label, 6),
    }
    return part_weights.mean(values), {**details, **judged.reply_details}


def score_from_samples(
    verdicts: Sequence[JudgedReply], values: Mapping[str, float], failed: Mapping[str, int], part: str
) -> ValueWithDetails:
    """Return the mean value of several verdicts."""
    first = verdicts[0]
    if len(verdicts) == 1 and not failed:
        value, details = score_from_reply(first, values, part)
        return value, {**details, "method": "single"}
    labels = [verdict.parsed.label(part) for verdict in verdicts]
    details = {
        "labels": labels,
        "method": "samples",
        "self_consistency": round(most_common_label(labels)[1], 6),
        "attempts": [verdict.attempt for verdict in verdicts],
        **({"failed": dict(failed)} if failed else {}),
        "model": first.reply.model,
        **({"form": first.reply.response_format} if first.reply.response_format else {}),
    }
    return fsum(values[label] for label in labels) / len(labels), details


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
