"""A missing or short reference loses neither the text nor the corpus: the others serve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from sacrebleu.metrics import BLEU, CHRF, TER

from hengwen import registry
from hengwen.engine.evaluate import GroupEvaluator
from hengwen.objective import (
    bleu,
    chrf,
    corpus_bleu,
    corpus_chrf,
    corpus_ter,
    rouge,
    ter,
)
from hengwen.objective.overlap.rouge import RougeOptions, score_text
from hengwen.objective.text import mixed_tokens
from hengwen.plans.datasets import read_samples
from hengwen.records import Response, Sample
from hengwen.runs.score_file import score_file

MISSING = [None, "", " \n"]


@each_row("missing", MISSING)
@each_row("metric", [bleu, chrf, ter, rouge])
def test_a_text_is_compared_with_the_references_that_are_there(metric, missing: str | None) -> None:
    assert metric("今晚月色真美", [missing, "今晚月色很美", missing]) == metric(
        "今晚月色真美", "今晚月色很美"
    )


@each_row(
    ("metric", "peer"),
    [
        (corpus_bleu, BLEU(tokenize="zh")),
        (corpus_chrf, CHRF()),
        (corpus_ter, TER(normalized=True, asian_support=True)),
    ],
)
def test_a_corpus_with_missing_references_is_that_of_sacrebleu(metric, peer) -> None:
    hypotheses = ["今晚月色真美", "我在灯下等你"]
    streams = [["今晚月色很美", None], ["今晚月亮真美", "我在窗前等你"]]
    expected = peer.corpus_score(hypotheses, streams).score
    references = [["今晚月色很美", "今晚月亮真美"], ["", "我在窗前等你"]]
    assert metric(hypotheses, references).score == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError, match="text 2: all 2 references are empty"):
        metric(hypotheses, [["今晚"], [None, ""]])


def test_rouge_passes_over_references_that_are_too_short_or_have_no_token() -> None:
    references = ["好", "……", "今晚月色很美"]
    for multi_ref in ("best", "mean", "pooled"):
        result = rouge("今晚月色真美", references, "rouge2", multi_ref=multi_ref)
        assert result == rouge("今晚月色真美", "今晚月色很美", "rouge2")


def test_pooled_sums_matches_and_tokens_over_the_references() -> None:
    # 1-grams: 2 of 3 for a reference of 2, 3 of 3 for one of 6
    result = rouge("a b c", ["a b", "a b c d e f"], "rouge1", multi_ref="pooled")
    assert result == pytest.approx((5 / 6, 5 / 8, 2 * (5 / 6) * (5 / 8) / (5 / 6 + 5 / 8)))


def rouge_155(hypothesis: str, references: list[str], n: int) -> tuple[float, float]:
    """Precision and recall of ROUGE-1.5.5 with -f A: hits over all grams of all references."""

    def grams(text: str) -> list[tuple[str, ...]]:
        tokens = mixed_tokens(text)
        return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]

    peer, hits, model_total = grams(hypothesis), 0, 0
    for reference in references:
        model = grams(reference)
        hits += sum(min(peer.count(gram), model.count(gram)) for gram in set(model))
        model_total += len(model)
    return hits / (len(peer) * len(references)), hits / model_total


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    st.text(alphabet="今晚月色", min_size=2, max_size=12),
    st.lists(st.text(alphabet="今晚月色", min_size=2, max_size=12), min_size=1, max_size=4),
    st.sampled_from([1, 2]),
)
def test_pooled_is_the_average_of_rouge_155(hypothesis: str, references: list[str], n: int) -> None:
    options = RougeOptions(f"rouge{n}", multi_ref="pooled")
    result = score_text(hypothesis, references, options)
    assert (result.precision, result.recall) == pytest.approx(rouge_155(hypothesis, references, n))


def test_a_plan_may_say_pooled_by_the_older_name() -> None:
    scorer = registry.build("scorers", "rouge", {"multi_ref": "pooled"})
    assert "|refs:pooled|" in scorer.signature


@each_row("name", ["corpus_bleu", "corpus_chrf", "corpus_ter"])
def test_a_corpus_of_a_plan_names_the_sample_that_it_leaves_out(name: str) -> None:
    scorer = registry.build("scorers", name, {})
    items = [
        (
            Sample(id=str(i), references=("今晚月色很美",) if i else ()),
            Response(sample_id=str(i), text="今晚月色真美"),
        )
        for i in range(4)
    ]
    (score,) = GroupEvaluator(scorer).score(items)
    assert (score.details["n"], score.details["failures"]) == (3, 1)
    assert score.details["first_failure"] == "sample '0': there is no reference to compare with"
    assert score.reason.endswith("; left out 1, sample '0': there is no reference to compare with")


def test_files_say_a_missing_reference_by_null(tmp_path: Path) -> None:
    row = {"id": "a", "input": "", "output": "今晚月色真美", "references": [None, "今晚月色很美"]}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    samples = read_samples(tmp_path / "in.jsonl", task="t")
    assert samples.samples["a"].references == ("今晚月色很美",)
    result = score_file(tmp_path / "in.jsonl", tmp_path / "out.jsonl", scorer="chrf")
    assert (result.rows, result.failed) == (1, 0)
    written = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    assert written["chrf.sentence"] == pytest.approx(chrf("今晚月色真美", "今晚月色很美").score)


def test_ter_by_blanks_is_the_default_of_sacrebleu() -> None:
    pairs = [("今晚 月色 真美", "今晚 月色 很美"), ("The cat, sat.", "the cat sat"), ("今晚", "今天")]
    for hypothesis, reference in pairs:
        result = ter(hypothesis, reference, tokenize="whitespace")
        assert result.score == pytest.approx(TER().sentence_score(hypothesis, [reference]).score)
        assert "|tok:tercom|norm:no|punct:yes|asian:no|" in result.signature
    texts = [list(column) for column in zip(*pairs, strict=True)]
    assert corpus_ter(*texts, tokenize="whitespace").score == pytest.approx(
        TER().corpus_score(texts[0], [texts[1]]).score
    )
