"""The logs of other tools that are read: each format is a record, with a function for one of its items."""

from __future__ import annotations

import zipfile
from collections import Counter
from typing import TYPE_CHECKING, Any

from hengwen.errors import DataError, PluginError
from hengwen.importers.logs import MEMBER, Log, LogFormat, text_of
from hengwen.importers.verdicts import judge_name
from hengwen.io.json_items import first_container, json_members
from hengwen.io.row_reader import DataRow, read_rows
from hengwen.io.untrusted_json import parse_json
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hengwen.importers.logs import Rows

MAX_MEMBER = 64 << 20
"""Maximum number of bytes of a sample, or of the header, in a log of inspect."""
LEVELS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values of inspect's letters, which its own means have too: correct, partial, incorrect, no answer."""
UNUSABLE = ("transport_error", "parse_error", "invalid_session")
"""Statuses of EvalScope that say that there is no score."""
PROMPTFOO_ERROR = 2
"""Reason of failure of promptfoo that says that there was an error, not that an answer was bad."""


def recognize(path: Path) -> Log | None:
    """Return the log of a tool; None for a table."""
    suffix = path.suffix.lower()
    if suffix == ".eval":
        return Log(path, INSPECT)
    if suffix == ".json":
        start = first_container(path)
        return next((Log(path, known) for known in FORMATS if start and known.start == start), None)
    if suffix in (".jsonl", ".ndjson"):
        first = next(read_rows(path))
        return next(
            (Log(path, known) for known in FORMATS if known.marks and first.values.keys() >= known.marks),
            None,
        )
    return None


def _samples(log: Log) -> Iterator[DataRow]:
    """Yield the samples of a log of inspect, each of which is a member of its archive."""
    try:
        with zipfile.ZipFile(log.path) as archive:
            log.header = parse_json(_member(log.path, archive, "header.json"))
            names = dict.fromkeys(name for name in archive.namelist() if name.startswith("samples/"))
            for number, name in enumerate(names, start=1):
                if archive.getinfo(name).file_size > MAX_MEMBER:
                    log.left_out[f"samples of more than {MAX_MEMBER >> 20} MiB"] += 1
                else:
                    yield DataRow(log.path, number, parse_json(_member(log.path, archive, name)))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise DataError(f"{log.path}: no log of inspect that can be read: {error}") from None


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MAX_MEMBER:
        raise DataError(f"{path}: {name} is larger than {MAX_MEMBER >> 20} MiB")
    try:
        return archive.read(name)
    except NotImplementedError:
        try:
            import zipfile_zstd  # noqa: F401 - gives zipfile the method, which Python has from 3.14 on
        except ImportError:
            raise PluginError(
                f"{path}: compressed with zstd; pip install 'hengwen[inspect]', or: inspect log convert"
            ) from None
        return archive.read(name)


def _inspect(log: Log, row: DataRow) -> Rows:
    sample, of = row.values, log.header.get("eval", {})
    attachments = sample.get("attachments") or {}
    common = {
        "checkpoint": of.get("model"),
        "task": of.get("task"),
        "id": sample.get("id"),
        "repeat": sample.get("epoch"),
        "prompt": text_of(sample.get("input"), attachments),
        "answer": text_of((sample.get("output") or {}).get("completion"), attachments)
        or text_of(_last(sample.get("output")), attachments),
    }
    scores = sample.get("scores") or {}
    error = sample.get("error")
    if not scores:
        names = [scorer.get("name") for scorer in of.get("scorers") or () if isinstance(scorer, dict)]
        if not names:
            log.left_out["samples without scores"] += 1
        message = _error(error) or "the log has no score"
        yield from ({**common, "name": name, "score": None, "failure": message} for name in names)
    for name, score in scores.items():
        value = score.get("value")
        values = (
            {f"{name}.{key}": part for key, part in value.items()}
            if isinstance(value, dict)
            else {name: value}
        )
        values = {
            key: LEVELS.get(part, part) if isinstance(part, str) else part for key, part in values.items()
        }
        yield from log.scores(common, values, reason=text_of(score.get("explanation"), attachments))


def _last(output: Any) -> Any:
    choices = output.get("choices") if isinstance(output, dict) else None
    return choices[0].get("message", {}).get("content") if choices else None


def _error(error: Any) -> str:
    return str(error.get("message") or error) if isinstance(error, dict) else str(error or "")


def _lm_eval(log: Log, row: DataRow) -> Rows:
    sample, path = row.values, row.path
    responses, arguments = sample.get("resps"), sample.get("arguments")
    common = {
        "checkpoint": path.resolve().parent.name,
        "task": path.stem.removeprefix("samples_").rpartition("_")[0] or path.stem,
        "id": sample["doc_id"],
        "prompt": _argument(arguments),
    }
    answers = responses[0] if isinstance(responses, list) and responses else None
    answer = answers[0] if isinstance(answers, list) and answers else answers
    if isinstance(answer, str) and isinstance(answers, list) and len(answers) > 1:
        log.left_out["further answers to the same prompt"] += len(answers) - 1
    if isinstance(answer, str):
        common["answer"] = answer
    else:
        log.left_out["answers that are probabilities of choices"] += 1
    chosen = sample.get("filter", "none")
    if (key := (sample["doc_id"], chosen)) in log.seen:
        log.left_out["rows that are given twice"] += 1
        return
    log.seen.add(key)
    names = sample.get("metrics") or sorted(sample.keys() - set(LM_EVAL.fields.split()))
    log.metrics.update(names)
    values = {name if chosen == "none" else f"{name}.{chosen}": sample.get(name) for name in names}
    yield from log.scores(common, values)


def _argument(arguments: Any) -> str:
    """Return the first argument of the first request, which is the prompt."""
    for _ in range(2):
        if isinstance(arguments, dict):
            arguments = next(iter(arguments.values()), "")
        elif isinstance(arguments, list):
            arguments = arguments[0] if arguments else ""
    return arguments if isinstance(arguments, str) else ""


def _fastchat(_: Log, row: DataRow) -> Rows:
    score = row.values["score"]
    yield {
        "checkpoint": row.values["model"],
        "task": "mt-bench",
        "id": f"{row.values['question_id']}/{row.positive_int('turn')}",
        "cluster": str(row.values["question_id"]),
        "judge": judge_name(row),
        "score": None if score == -1 else score,  # FastChat writes -1 where it finds no score
        "reason": row.text("judgment"),
    }


def _promptfoo(_: Log, row: DataRow) -> Rows:
    result = row.values
    provider, prompt = result.get("provider") or {}, text_of((result.get("prompt") or {}).get("raw"))
    graded = result.get("gradingResult") or {}
    failed = result.get("error") if result.get("failureReason") == PROMPTFOO_ERROR else None
    common = {
        "checkpoint": provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider,
        "task": "promptfoo",
        "id": f"{result.get('testIdx')}-{digest(prompt)[:6]}",
        "cluster": str(result.get("testIdx")),
        "prompt": prompt,
        "answer": text_of((result.get("response") or {}).get("output")),
    }
    names: Counter[str] = Counter()
    for part in graded.get("componentResults") or ():
        assertion, reason = part.get("assertion") or {}, part.get("reason")
        name = assertion.get("metric") or assertion.get("type") or "assertion"
        names[name] += 1
        values = {
            "name": name if names[name] == 1 else f"{name}-{names[name]}",
            "score": part.get("score"),
            "failure": failed,
            "reason": reason,
        }
        if (part.get("metadata") or {}).get("graderError"):
            values["failure"] = failed or reason or "grader error"
        yield {**common, **values}
    if not names:
        yield {
            **common,
            "name": "score",
            "score": graded.get("score", result.get("score")),
            "failure": failed,
            "reason": graded.get("reason"),
        }


def _evalscope(log: Log, row: DataRow) -> Rows:
    scored = {"index": row.values["index"], **row.values["sample_score"]}
    score = scored.get("score") or {}
    messages = row.values.get("messages") or ()
    status = score.get("status") or "success"
    common = {
        "checkpoint": row.path.resolve().parent.name,
        "task": row.path.stem,
        "id": next(scored[key] for key in ("group_id", "sample_id", "index") if scored.get(key) is not None),
        "prompt": text_of([turn for turn in messages if turn.get("role") != "assistant"])
        or text_of(row.values.get("input")),
        "answer": score.get("prediction"),
        "reason": score.get("explanation"),
    }
    values = score.get("value") or {}
    if not isinstance(values, dict):
        values = {score.get("main_score_name") or "score": values}
    if not values:
        name = score.get("main_score_name")
        if not name:
            log.left_out["samples without scores"] += 1
            return
        values = {name: None}
    failed = status if status in UNUSABLE else None
    yield from log.scores(common, values, failure=failed)


def _opencompass(log: Log, row: DataRow) -> Rows:
    path = row.path.resolve()
    folders = {folder.name: folder for folder in reversed(path.parents)}
    if "predictions" not in folders:
        raise DataError(f"{row.path}: predictions of OpenCompass lie in predictions/MODEL/DATASET.json")
    if not log.header:
        predictions = folders["predictions"]
        results = predictions.parent / "results" / path.relative_to(predictions)
        log.header = {"details": dict(json_members(results, "details")) if results.exists() else {}}
    name = row.values[MEMBER]
    detail = log.header["details"].get(name, {})
    correct = next((detail[key] for key in ("correct", "is_correct", "score") if key in detail), None)
    if isinstance(correct, list) and len(correct) == 1:
        correct = correct[0]
    yield {
        "checkpoint": row.path.resolve().parent.name,
        "task": row.path.stem,
        "id": name,
        "name": "correct",
        "score": correct,
        "failure": None if detail else "results/ has no details of this answer",
        "prompt": text_of(row.values.get("origin_prompt")),
        "answer": text_of(row.values.get("prediction")),
    }


def _deepeval(log: Log, row: DataRow) -> Rows:
    case = row.values
    common = {
        "checkpoint": row.path.stem,
        "task": "deepeval",
        "id": case["name"],
        "prompt": text_of(case.get("input")),
        "answer": text_of(case.get("actualOutput")),
    }
    metrics = case.get("metricsData") or ()
    if not metrics:
        log.left_out["test cases without metrics"] += 1
    for metric in metrics:
        yield {
            **common,
            "judge": metric.get("evaluationModel"),
            "name": metric.get("name"),
            "score": metric.get("score"),
            "failure": metric.get("error"),
            "reason": metric.get("reason"),
        }


INSPECT = LogFormat(
    "a log of inspect", _inspect, "id epoch input output scores error attachments", items=_samples
)
LM_EVAL = LogFormat(
    "samples of lm-eval",
    _lm_eval,
    "doc_id resps filtered_resps doc target arguments filter metrics doc_hash prompt_hash target_hash",
    marks=frozenset({"doc_id", "resps", "filtered_resps"}),
)
FORMATS = (
    LM_EVAL,
    LogFormat(
        "single judgments of FastChat",
        _fastchat,
        "question_id model judge score turn judgment user_prompt tstamp",
        marks=frozenset({"question_id", "model", "judge", "score", "judgment"}),
    ),
    LogFormat(
        "reviews of EvalScope",
        _evalscope,
        "index sample_score target messages input",
        marks=frozenset({"index", "sample_score"}),
    ),
    LogFormat("predictions of OpenCompass", _opencompass, "prediction origin_prompt gold", start="0"),
    LogFormat(
        "results of promptfoo",
        _promptfoo,
        "gradingResult provider prompt response testIdx error failureReason score success promptIdx vars",
        start="results",
        keys=("results", "results"),
    ),
    *(
        LogFormat(
            "a test run of deepeval",
            _deepeval,
            "name metricsData input actualOutput expectedOutput success",
            start=keys[0],
            keys=keys,
        )
        for keys in (("testCases",), ("testRunData", "testCases"))
    ),
)
