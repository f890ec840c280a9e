"""Scorers in other frameworks: the frameworks themselves run them where they are installed."""

from __future__ import annotations

import asyncio
import sys
from math import isnan
from pathlib import Path
from types import ModuleType

import pytest
from real_tools import real_tool

from hengwen import import_scores, open_store
from hengwen.integrations import emit_results, to_evalscope, to_inspect, to_lm_eval, to_mlflow, to_opencompass
from hengwen.records import Failure, Scale, Score

SIGNATURE = "digits|v:1"


class Digits:
    """Score the number in an answer; an answer without one fails."""

    signature = SIGNATURE
    names = ("digits",)

    def score(self, sample, response):
        if not response.text.isdigit():
            return [Failure(name="digits", status="refused", message="no number", signature=SIGNATURE)]
        right = sample.references == (response.text,)
        scale = Scale(low=0, high=9)
        return [
            Score(
                name="digits", value=float(response.text), signature=SIGNATURE, scale=scale, reason=str(right)
            )
        ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_inspect_runs_the_scorer_and_leaves_failures_out_of_its_mean(tmp_path: Path) -> None:
    inspect_ai, log = real_tool("inspect_ai"), real_tool("inspect_ai.log")
    dataset, model = real_tool("inspect_ai.dataset"), real_tool("inspect_ai.model")
    samples = [dataset.Sample(input=str(number), target="4") for number in range(3)]
    outputs = [model.ModelOutput.from_content("mockllm", text) for text in ("4", "2", "no")]
    for output in outputs:
        output.usage = model.ModelUsage()  # else the tokens are counted with a table from the network
    task = inspect_ai.Task(dataset=samples, scorer=to_inspect(Digits()))
    (done,) = inspect_ai.eval(
        task,
        model=model.get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path),
        display="none",
        max_samples=1,
    )
    read = log.read_eval_log(done.location)
    assert read.status == "success"
    scores = [sample.scores["digits"] for sample in read.samples]
    assert [score.value for score in scores[:2]] == [4.0, 2.0]
    assert isnan(scores[2].value)
    assert (scores[2].reason, scores[2].explanation) == ("refusal", "refused: no number")
    assert (scores[0].explanation, scores[0].metadata["signature"]) == ("True", SIGNATURE)
    assert read.results.scores[0].metrics["mean"].value == 3.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_gets_feedback_with_a_rationale_or_an_error() -> None:
    entities = real_tool("mlflow.entities")
    scorer = to_mlflow(Digits())
    feedback = scorer(inputs={"prompt": "?"}, outputs="4", expectations={"reference": "4"})
    assert isinstance(feedback, entities.Feedback)
    assert (feedback.name, feedback.value, feedback.rationale) == ("digits", 4.0, "True")
    assert feedback.metadata["signature"] == SIGNATURE
    failed = scorer(inputs={"prompt": "?"}, outputs="no")
    assert (failed.value, failed.error.error_code, failed.error.error_message) == (
        None,
        "refused",
        "no number",
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_evalscope_finds_the_metric_and_is_told_that_a_failure_is_no_score() -> None:
    metrics, registry = real_tool("evalscope.api.metric"), real_tool("evalscope.api.registry")
    registry.register_metric("hengwen_digits")(to_evalscope(Digits()))
    metric = registry.get_metric("hengwen_digits")()
    assert metric(prediction="4", reference="4") == 4.0
    with pytest.raises(metrics.MetricUnavailableError, match="refused: no number"):
        metric(prediction="no", reference="4")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_lm_eval_calls_the_function_as_its_task_does(tmp_path: Path) -> None:
    api = real_tool("lm_eval.api.task")
    (tmp_path / "d.jsonl").write_text('{"prompt": "?", "reference": "4"}\n', "utf-8")
    task = api.ConfigurableTask(
        config={
            "task": "digits",
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(tmp_path / "d.jsonl")}, "cache_dir": str(tmp_path)},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "prompt",
            "doc_to_target": "reference",
            "process_results": to_lm_eval(Digits()),
            "metric_list": [{"metric": "digits", "aggregation": "mean", "higher_is_better": True}],
        }
    )
    (doc,) = task.test_docs()
    assert task.process_results(doc, ["4"]) == {"digits": 4.0, "digits_failed": 0.0}
    assert task.process_results(doc, ["no"]) == {"digits_failed": 1.0}


def test_opencompass_gets_the_mean_of_scored_answers_and_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    base = ModuleType("opencompass.openicl.icl_evaluator")
    base.BaseEvaluator = type("BaseEvaluator", (), {})  # type: ignore[attr-defined]
    for name in ("opencompass", "opencompass.openicl"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, base.__name__, base)
    evaluator = to_opencompass(Digits())()
    assert isinstance(evaluator, base.BaseEvaluator)
    result = evaluator.score(predictions=["4", "2", "no"], references=["4", "4", "4"])
    assert (result["digits"], result["coverage"], result["signature"]) == (
        3.0,
        pytest.approx(2 / 3),
        SIGNATURE,
    )
    assert result["details"][2] == {"score": None, "error": "refused: no number"}
    assert "digits" not in evaluator.score(predictions=["no"], references=["4"])


@pytest.mark.slow
def test_opentelemetry_gets_an_event_for_each_score_and_no_value_for_a_failure(tmp_path: Path) -> None:
    logs, export = real_tool("opentelemetry.sdk._logs"), real_tool("opentelemetry.sdk._logs.export")
    provider, exporter = logs.LoggerProvider(), export.InMemoryLogRecordExporter()
    provider.add_log_record_processor(export.SimpleLogRecordProcessor(exporter))
    (tmp_path / "j.csv").write_text("model,id,judge,score\na,1,g,3\na,2,g,error\n", "utf-8")
    with open_store("sqlite://") as store:
        import_scores(tmp_path / "j.csv", store)
        assert emit_results(store, provider=provider) == 2
    records = [item.log_record for item in exporter.get_finished_logs()]
    assert {record.event_name for record in records} == {"gen_ai.evaluation.result"}
    scored, failed = sorted(
        (record.attributes for record in records), key=lambda item: item["hengwen.sample"]
    )
    assert (scored["gen_ai.evaluation.name"], scored["gen_ai.evaluation.score.value"]) == (
        "scores/g.level",
        3.0,
    )
    assert failed["error.type"] == "parse_error"
    assert "gen_ai.evaluation.score.value" not in failed


def test_a_judge_waits_in_the_event_loop_of_the_framework() -> None:
    from hengwen.integrations.rewards import TextScorer

    class Judge:
        signature, names = "j|v:1", ("j.level",)

        async def judge(self, sample, response):
            from hengwen.records import Verdict

            await asyncio.sleep(0)
            return Verdict(outcomes=(Score(name="j.level", value=1.0, signature="j|v:1", kind="judge"),))

    scorer = TextScorer(Judge())
    assert asyncio.run(scorer.outcome_async("a")).value == scorer.outcome("a").value == 1.0
