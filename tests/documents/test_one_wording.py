"""One state of a score has one wording, whichever command shows it."""

from __future__ import annotations

from recorded_runs import record_run

from hengwen import compare_runs, drift_report, open_store, report_document
from hengwen.documents.compare.document import compare_document
from hengwen.documents.drift.document import drift_document
from hengwen.documents.render.markdown import to_markdown


def test_a_score_that_cannot_tell_is_called_so_in_report_drift_and_compare() -> None:
    with open_store("sqlite://") as store:
        for order, higher in enumerate((0, 2)):
            values = {f"p{index}": [0.75 if index < higher else 0.5] for index in range(12)}
            record_run(store, f"c{order}", {"s.value": values}, order=order)
        documents = [
            report_document(store, store.latest()),
            drift_document(drift_report(store)),
            compare_document(compare_runs(store, "c0", "c1")),
        ]
    for document in documents:
        assert "◇ **Cannot be told" in to_markdown(document, "en"), document.kind
        assert "◇ **无法判断" in to_markdown(document, "zh"), document.kind
    for document in (documents[0], documents[2]):
        assert "| ◇ cannot be told |" in to_markdown(document, "en"), document.kind
        assert "| ◇ 无法判断 |" in to_markdown(document, "zh"), document.kind
