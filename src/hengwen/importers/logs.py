"""``Log``: the log of inspect, lm-eval, promptfoo or EvalScope as rows of scores.

Each tool's item is a pydantic model; an item that is not like it is an error with file, row and key.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from hengwen.errors import DataError, PluginError
from hengwen.importers.columns import ColumnMap
from hengwen.io.json_items import first_container, json_members
from hengwen.io.row_reader import MAX_COUNT, DataRow, read_rows
from hengwen.io.untrusted_json import parse_json
from hengwen.records import digest
from hengwen.text.numbers import replace_surrogates, short_repr

MAX_MEMBER = 64 << 20
"""Maximum number of bytes of a sample, or of the header, in a log of inspect."""
PIECE = 1 << 20
LEVELS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values of inspect's letters, which its own means have too: correct, partial, incorrect, no answer."""
UNUSABLE = ("transport_error", "parse_error", "invalid_session")
"""Statuses of EvalScope that say that there is no score."""
PROMPTFOO_ERROR = 2
"""Reason of failure of promptfoo that says that there was an error, not that an answer was bad."""


def _text_of_id(value: object) -> object:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _encodable(value: object) -> object:
    return replace_surrogates(value) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_encodable)]
Name = Annotated[Text, BeforeValidator(_text_of_id)]
"""A name or id, which may be a number."""


class _Part(BaseModel):
    text: Text | None = None


class _Message(_Part):
    role: Text = ""
    content: Text | list[Text | _Part] | None = None


Turns = Text | list[Text | _Message] | None


class _Choice(BaseModel):
    message: _Message = _Message()


class _Output(BaseModel):
    completion: Text | None = None
    choices: list[_Choice] | None = None


class _InspectScore(BaseModel):
    value: float | bool | Text | list[Any] | dict[str, Any] | None
    explanation: Text | None = None


class _Error(BaseModel):
    message: Text = ""


class _InspectSample(BaseModel):
    id: Name
    epoch: Annotated[int, Field(ge=1, le=MAX_COUNT)] = 1
    input: Turns = None
    output: _Output | None = None
    scores: dict[str, _InspectScore] | None = None
    error: Text | _Error | None = None
    attachments: dict[str, Text] | None = None


class _Scorer(BaseModel):
    name: Name


class _InspectEval(BaseModel):
    model: Name
    task: Name
    scorers: list[_Scorer] | None = None


class _InspectHeader(BaseModel):
    eval: _InspectEval


class _LmEvalSample(BaseModel):
    doc_id: Name
    resps: list[Any]
    filtered_resps: Any = None
    arguments: list[Any] | dict[str, Any] | None = None
    filter: Name = "none"
    metrics: list[Text] | None = None


class _Provider(BaseModel):
    id: Name | None = None
    label: Name | None = None


class _Prompt(BaseModel):
    raw: Text = ""


class _Reply(BaseModel):
    output: Any = None


class _Assertion(BaseModel):
    metric: Name | None = None
    type: Name | None = None


class _Metadata(BaseModel):
    grader_error: Any = Field(None, alias="graderError")


class _Component(BaseModel):
    score: float | None = None
    reason: Text | None = None
    assertion: _Assertion | None = None
    metadata: _Metadata | None = None


class _Grading(_Component):
    components: list[_Component] | None = Field(None, alias="componentResults")


class _PromptfooResult(BaseModel):
    test: Name = Field(alias="testIdx")
    provider: Name | _Provider
    prompt: _Prompt | None = None
    response: _Reply | None = None
    error: Text | None = None
    failure_reason: int | None = Field(None, alias="failureReason")
    grading: _Grading | None = Field(None, alias="gradingResult")
    score: float | None = None


class _ReviewScore(BaseModel):
    value: dict[str, float | list[Any] | dict[str, Any] | None] | float | None = None
    prediction: Text | None = None
    explanation: Text | None = None
    status: Text | None = None
    main_score_name: Text | None = None


class _SampleScore(BaseModel):
    group_id: Name | None = None
    sample_id: Name | None = None
    score: _ReviewScore | None = None


class _Review(BaseModel):
    index: Name
    sample_score: _SampleScore
    messages: list[_Message] | None = None
    input: Turns = None


@dataclass(frozen=True, slots=True)
class LogFormat:
    """How the items of one tool's log become rows of scores."""

    name: str
    model: type[BaseModel]
    rows: Callable[[Log, Path, Any, Mapping[str, Any]], Iterator[dict[str, Any]]]
    """Return the rows of an item, which is a model beside what the file says."""
    ignored: str = ""
    """Keys that say nothing more; others that are not read are said to be left out."""
    marks: frozenset[str] = frozenset()
    """Keys by which a line of this log is recognized."""


@dataclass(slots=True)
class Log:
    """The log of a tool, which can be read several times."""

    path: Path
    format: LogFormat
    left_out: Counter[str] = field(default_factory=Counter)
    """What could not be read, with the number of times."""
    unread: dict[str, None] = field(default_factory=dict)
    header: _InspectEval | None = None
    metrics: set[str] = field(default_factory=set)
    """Keys that are names of scores."""
    seen: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def notes(self) -> list[str]:
        """Which log it is, and what of it was left out."""
        return [
            f"read as {self.format.name}",
            *(f"left out: {n} {what}" for what, n in self.left_out.items()),
        ]

    @property
    def columns(self) -> ColumnMap:
        """The keys that are not read."""
        return ColumnMap({}, (), (), tuple(name for name in self.unread if name not in self.metrics))

    def rows(self) -> Iterator[DataRow | DataError]:
        """Yield the rows of all items; for an item that is not as it should be, its error."""
        self.left_out.clear()
        self.seen.clear()
        fields = self.format.model.model_fields.items()
        known = {item.alias or name for name, item in fields} | set(self.format.ignored.split())
        for number, (name, value) in enumerate(self._items(), start=1):
            row = DataRow(self.path, number, value)
            try:
                item = _checked(self.format.model, row, name)
                rows = list(self.format.rows(self, self.path, item, value))
            except DataError as error:
                yield error
                continue
            self.unread.update(dict.fromkeys(key for key in value if key not in known))
            yield from (DataRow(self.path, number, values) for values in rows)

    def _items(self) -> Iterator[tuple[str, Any]]:
        """Yield the items with what an error calls them."""
        if self.format is INSPECT:
            yield from self._samples()
        elif self.format is PROMPTFOO:
            yield from (("", value) for _, value in json_members(self.path, "results", "results"))
        else:
            yield from (("", row.values) for row in read_rows(self.path))

    def _samples(self) -> Iterator[tuple[str, Any]]:
        """Yield the samples of a log of inspect, each of which is a member of its archive."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                header = self._member(archive, "header.json")
                if header is None:
                    raise DataError(f"{self.path}: header.json is larger than {MAX_MEMBER >> 20} MiB")
                row = DataRow(self.path, 0, parse_json(header))
                self.header = _checked(_InspectHeader, row, "header.json").eval
                for name in dict.fromkeys(archive.namelist()):
                    if not name.startswith("samples/"):
                        continue
                    sample = self._member(archive, name)
                    if sample is None:
                        self.left_out[f"samples of more than {MAX_MEMBER >> 20} MiB"] += 1
                    else:
                        yield name, parse_json(sample)
        except (DataError, PluginError):
            raise
        except Exception as error:
            raise DataError(f"{self.path}: no log of inspect that can be read: {error}") from None

    def _member(self, archive: zipfile.ZipFile, name: str) -> bytes | None:
        """Return a member of the archive, read in pieces; None if it is larger than the limit."""
        try:
            file = archive.open(name)
        except NotImplementedError:
            try:
                import zipfile_zstd  # noqa: F401 - gives zipfile the method, which Python has from 3.14 on
            except ImportError:
                raise PluginError(
                    f"{self.path}: compressed with zstd; pip install 'hengwen[inspect]', "
                    "or: inspect log convert"
                ) from None
            file = archive.open(name)
        with file:
            data = bytearray()
            while piece := file.read(PIECE):
                data += piece
                if len(data) > MAX_MEMBER:
                    return None
        return bytes(data)

    def scores(
        self, common: dict[str, Any], values: Mapping[str, Any], **more: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield a row for each score that is a number; what is a list or object is left out."""
        for name, value in values.items():
            if isinstance(value, (list, dict)):
                self.left_out[f"values of {name!r}, which are {type(value).__name__}s"] += 1
            else:
                yield {**common, "name": name, "score": value, **more}


def recognize(path: Path) -> Log | None:
    """Return the log of a tool; None for a table."""
    suffix = path.suffix.lower()
    if suffix == ".eval":
        return Log(path, INSPECT)
    if suffix == ".json":
        return Log(path, PROMPTFOO) if first_container(path) == "results" else None
    if suffix in (".jsonl", ".ndjson"):
        keys = next(read_rows(path)).values.keys()
        return next((Log(path, known) for known in (LM_EVAL, EVALSCOPE) if keys >= known.marks), None)
    return None


def _checked(model: type[BaseModel], row: DataRow, name: str) -> Any:
    try:
        return model.model_validate(row.values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        got = "" if first["type"] == "missing" else f", got {short_repr(first['input'])}"
        where = f"{name}: " if name else ""
        row.fail(replace_surrogates(f"{where}{key + ': ' if key else ''}{first['msg']}{got}"))


def _text(value: str | _Part | list[Any] | None, attachments: Mapping[str, str] | None = None) -> str:
    """Return the text of a prompt or answer: a text, messages, or parts of a message."""
    if isinstance(value, str):
        return (attachments or {}).get(value.removeprefix("attachment://"), value)
    if isinstance(value, _Message) and value.content is not None:
        return _text(value.content, attachments)
    if isinstance(value, _Part):
        return _text(value.text, attachments)
    return "\n\n".join(text for item in value or () if (text := _text(item, attachments)))


def _inspect(log: Log, _: Path, sample: _InspectSample, __: object) -> Iterator[dict[str, Any]]:
    attachments, output, header = sample.attachments, sample.output or _Output(), log.header
    assert header is not None
    last = output.choices[0].message if output.choices else None
    common = {
        "checkpoint": header.model,
        "task": header.task,
        "id": sample.id,
        "repeat": sample.epoch,
        "prompt": _text(sample.input, attachments),
        "answer": _text(output.completion, attachments) or _text(last and last.content, attachments),
    }
    if not sample.scores:
        if not header.scorers:
            log.left_out["samples without scores"] += 1
        message = sample.error.message if isinstance(sample.error, _Error) else sample.error
        for scorer in header.scorers or ():
            failure = message or "the log has no score"
            yield {**common, "name": scorer.name, "score": None, "failure": failure}
    for name, score in (sample.scores or {}).items():
        parts = (
            {f"{name}.{key}": part for key, part in score.value.items()}
            if isinstance(score.value, dict)
            else {name: score.value}
        )
        values = {
            key: LEVELS.get(part, part) if isinstance(part, str) else part for key, part in parts.items()
        }
        yield from log.scores(common, values, reason=_text(score.explanation, attachments))


def _lm_eval(log: Log, path: Path, sample: _LmEvalSample, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    prompt: Any = sample.arguments
    for _ in range(2):  # the first argument of the first request
        if isinstance(prompt, dict):
            prompt = next(iter(prompt.values()), "")
        elif isinstance(prompt, list):
            prompt = prompt[0] if prompt else ""
    common = {
        "checkpoint": path.resolve().parent.name,
        "task": path.stem.removeprefix("samples_").rpartition("_")[0] or path.stem,
        "id": sample.doc_id,
        "prompt": prompt if isinstance(prompt, str) else "",
    }
    answers = sample.resps[0] if sample.resps else None
    answer = answers[0] if isinstance(answers, list) and answers else answers
    if isinstance(answer, str):
        common["answer"] = answer
        if isinstance(answers, list) and len(answers) > 1:
            log.left_out["further answers to the same prompt"] += len(answers) - 1
    else:
        log.left_out["answers that are probabilities of choices"] += 1
    chosen = sample.filter
    if (key := (sample.doc_id, chosen)) in log.seen:
        log.left_out["rows that are given twice"] += 1
        return
    log.seen.add(key)
    fields = {*_LmEvalSample.model_fields, *LM_EVAL.ignored.split()}
    names = sample.metrics or sorted(row.keys() - fields)
    log.metrics.update(names)
    values = {name if chosen == "none" else f"{name}.{chosen}": row.get(name) for name in names}
    yield from log.scores(common, values)


def _promptfoo(_: Log, __: Path, result: _PromptfooResult, ___: object) -> Iterator[dict[str, Any]]:
    provider, prompt = result.provider, result.prompt.raw if result.prompt else ""
    output = result.response.output if result.response else None
    grading = result.grading or _Grading(score=result.score)
    failed = result.error if result.failure_reason == PROMPTFOO_ERROR else None
    common = {
        "checkpoint": (provider.label or provider.id) if isinstance(provider, _Provider) else provider,
        "task": "promptfoo",
        "id": f"{result.test}-{digest(prompt)[:6]}",
        "cluster": result.test,
        "prompt": prompt,
        "answer": output if isinstance(output, str) else "",
    }
    names: Counter[str] = Counter()
    for part in grading.components or ():
        assertion = part.assertion or _Assertion()
        name = assertion.metric or assertion.type or "assertion"
        names[name] += 1
        is_lost = part.metadata is not None and part.metadata.grader_error
        yield {
            **common,
            "name": name if names[name] == 1 else f"{name}-{names[name]}",
            "score": part.score,
            "failure": failed or ((part.reason or "grader error") if is_lost else None),
            "reason": part.reason,
        }
    if not names:
        score = {"name": "score", "score": grading.score, "failure": failed, "reason": grading.reason}
        yield {**common, **score}


def _evalscope(log: Log, path: Path, review: _Review, _: object) -> Iterator[dict[str, Any]]:
    scored = review.sample_score
    score = scored.score or _ReviewScore()
    common = {
        "checkpoint": path.resolve().parent.name,
        "task": path.stem,
        "id": next(name for name in (scored.group_id, scored.sample_id, review.index) if name is not None),
        "prompt": _text([turn for turn in review.messages or () if turn.role != "assistant"])
        or _text(review.input),
        "answer": score.prediction,
        "reason": score.explanation,
    }
    values = score.value or {}
    if not isinstance(values, dict) or not values:
        if score.value in (None, {}) and not score.main_score_name:
            log.left_out["samples without scores"] += 1
            return
        values = {score.main_score_name or "score": None if isinstance(score.value, dict) else score.value}
    yield from log.scores(common, values, failure=score.status if score.status in UNUSABLE else None)


INSPECT = LogFormat("a log of inspect", _InspectSample, _inspect)
LM_EVAL = LogFormat(
    "samples of lm-eval",
    _LmEvalSample,
    _lm_eval,
    "doc target doc_hash prompt_hash target_hash",
    marks=frozenset({"doc_id", "resps", "filtered_resps"}),
)
PROMPTFOO = LogFormat("results of promptfoo", _PromptfooResult, _promptfoo, "success promptIdx vars")
EVALSCOPE = LogFormat(
    "reviews of EvalScope", _Review, _evalscope, "target", marks=frozenset({"index", "sample_score"})
)
