"""Names of fields: which are meant for another field, and which are the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import each_row

from hengwen.errors import DataError
from hengwen.io.row_reader import DataRow, FieldNames
from hengwen.plans.datasets import read_labels, read_responses, read_samples

NAMES = FieldNames(("id", "input", "references"), {"input": ("prompt",)}, neighbours=("output",))


@each_row(
    ("name", "field"),
    [
        ("prompt", "input"),
        ("Prompt", "input"),
        ("inptu", "input"),
        ("inputs", "input"),
        ("INPUT", "input"),
        (" id ", "id"),
        ("reference", "references"),
        ("refrences", "references"),
        ("input", None),
        ("output", None),
        ("template", None),
        ("theme", None),
        ("mood", None),
        ("source", None),
        ("标题", None),
    ],
)
def test_a_misspelled_field_is_known_from_a_field_of_the_users_own(name: str, field: str | None) -> None:
    assert NAMES.intended(name) == field


def test_a_row_is_refused_with_the_way_out_and_its_line() -> None:
    names = FieldNames(("id", "input"), {"input": ("prompt",)})
    names.check(DataRow(Path("x.jsonl"), 1, {"id": "a", "mood": "b"}))
    with pytest.raises(DataError) as error:
        names.check(DataRow(Path("x.jsonl"), 2, {"id": "a", "mood": "b", "prompt": "c"}))
    assert str(error.value) == (
        "x.jsonl:2: unknown field 'prompt'; did you mean 'input'? "
        "rename it, map it (columns: or --column), or move it under metadata"
    )
    assert error.value.line == 2


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_metadata_and_mapped_columns_may_have_any_name(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", '{"id": "a", "prompt": "p", "metadata": {"reference": "r"}}\n')
    samples = read_samples(path, task="t", columns={"prompt": "input"}).samples
    assert (samples["a"].input, samples["a"].metadata) == ("p", {"reference": "r"})
    samples = read_samples(path, task="t", columns={"prompt": "metadata.prompt"}).samples
    assert (samples["a"].input, samples["a"].metadata) == ("", {"reference": "r", "prompt": "p"})


def test_one_file_may_hold_samples_and_answers(tmp_path: Path) -> None:
    row = '{"id": "a", "input": "p", "output": "o", "references": ["r"], "repeat": 1, "cluster": "c"}\n'
    path = write(tmp_path / "x.jsonl", row)
    samples = read_samples(path, task="t")
    (response,) = read_responses(path, [samples], checkpoint="c")
    assert (samples.samples["a"].references, response.text) == (("r",), "o")


def test_labels_may_have_columns_of_their_own(tmp_path: Path) -> None:
    text = "task,id,checkpoint,score,value,rater,comment\nt,a,c,j.level,1,me,fine\n"
    ((_, label),) = read_labels(write(tmp_path / "x.csv", text))
    assert label.rater == "me"
    with pytest.raises(DataError, match=r"x.csv:2: unknown field 'annotator'; did you mean 'rater'\?"):
        read_labels(write(tmp_path / "x.csv", text.replace("rater", "annotator")))
