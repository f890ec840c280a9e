"""The label file: existing content is kept, appended labels are read back."""

from __future__ import annotations

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.errors import ConfigError, DataError
from hengwen.labels.file import LabelFile
from hengwen.records import Label
from hengwen.text.numbers import replace_controls


def a_label(**values) -> Label:
    defaults = {"task": "t", "id": "a", "checkpoint": "c", "repeat": 1, "score": "j.level", "value": 0.5}
    return Label(**{**defaults, "rater": "ann", "output": "好", **values})


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"task,id,checkpoint,repeat,output,score,value,rater\n",
        b"task,id,checkpoint,repeat,output,score,value,rater\nt,z,c,1,,j.level,1,bob",
        b"task,id,checkpoint,repeat,output,score,value,rater\r\nt,z,c,1,,j.level,1,bob\r\n",
        b'\xef\xbb\xbfrater,value,score,note,repeat,checkpoint,id,task\nbob,-1,j.level,"a\nb",1,c,z,t\n',
    ],
    ids=["nothing", "a header", "no line end", "CRLF", "a BOM, other columns, another order"],
)
def test_what_is_in_a_file_stays_byte_for_byte(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / "l.csv"
    path.write_bytes(before)
    file = LabelFile(path)
    number = len(file.labels())
    file.append(a_label())
    after = path.read_bytes()
    assert after.startswith(before)
    assert [label.rater for label in file.labels()][number:] == ["ann"]
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert after.count(b"\r\n") in (0, after.count(b"\n"))
    file.take_back(a_label())
    assert path.read_bytes().rstrip() == (before or after.partition(b"\n")[0]).rstrip()


def test_others_may_write_to_the_file_meanwhile(tmp_path: Path) -> None:
    file, other = LabelFile(tmp_path / "l.csv"), LabelFile(tmp_path / "l.csv")
    file.append(a_label())
    other.append(a_label(rater="bob"))
    file.append(a_label(id="b"))
    file.take_back(a_label())
    assert [(x.rater, x.id) for x in other.labels()] == [("bob", "a"), ("ann", "b")]
    with pytest.raises(DataError, match="the last label is gone"):
        file.take_back(a_label())


def test_a_rater_cannot_label_an_answer_twice_because_such_a_file_cannot_be_read(tmp_path: Path) -> None:
    file, other = LabelFile(tmp_path / "l.csv"), LabelFile(tmp_path / "l.csv")
    file.append(a_label())
    with pytest.raises(DataError, match="ann has labelled this answer already, in another window"):
        other.append(a_label(value=0.25))
    assert [x.value for x in other.labels()] == [0.5]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_labels_that_are_written_at_once_are_all_kept(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"l{suffix}"
    start = Barrier(4)

    def label_all(rater: str) -> None:
        file = LabelFile(path)
        start.wait()
        for number in range(12):
            file.append(a_label(id=f"{number}", rater=rater))
            if number % 3 == 0:
                file.take_back(a_label(id=f"{number}", rater=rater))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(label_all, ["ann", "bob", "cyd", "dan"]))
    kept = sorted((x.rater, int(x.id)) for x in LabelFile(path).labels())
    assert kept == [(rater, n) for rater in ("ann", "bob", "cyd", "dan") for n in range(12) if n % 3]
    assert [each.name for each in tmp_path.iterdir()] == [path.name], "no lock file is left"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@settings(deadline=None, max_examples=150)
@given(text=st.text(max_size=30) | st.text(alphabet="=+-@\t\r\n\",'\ufeff\ud800\u2028\x00a", max_size=12))
def test_any_answer_is_read_back_as_it_was_or_left_out(tmp_path_factory, suffix: str, text: str) -> None:
    path = tmp_path_factory.mktemp("labels") / f"l{suffix}"
    file = LabelFile(path)
    file.append(a_label(output=text))
    file.append(a_label(id="b"))
    first, second = file.labels()
    assert first.output in (text, replace_controls(text), "")
    assert (first.value, second.output) == (0.5, "好")
    if text[:1].isalpha() and text.isprintable():
        assert first.output == text
    if suffix == ".csv":
        cells = next(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
        assert not cells["output"].startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("value", [0.0, 1.0, -2.0, 0.1 + 0.2, 1e-7, 123456.5])
def test_a_value_is_written_so_that_it_is_the_level_again(tmp_path: Path, value: float) -> None:
    for name in ("l.csv", "l.jsonl"):
        file = LabelFile(tmp_path / name)
        file.append(a_label(value=value))
        assert file.labels()[0].value == pytest.approx(value, rel=1e-11)


def test_a_file_that_holds_no_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("task,id,value\nt,a,1\n", "utf-8")
    with pytest.raises(DataError, match=r"l\.csv:1: missing columns: checkpoint, repeat, score, rater"):
        LabelFile(path)
    path.write_text(
        "task,id,checkpoint,repeat,output,score,value,rater\nt,a,c,1,,j.level,high,ann\n", "utf-8"
    )
    with pytest.raises(DataError, match="field 'value' must be a number"):
        LabelFile(path)
    with pytest.raises(ConfigError, match="cannot tell the format"):
        LabelFile(tmp_path / "l.xlsx")


def test_the_permissions_of_the_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "real.csv"
    LabelFile(path).append(a_label())
    path.chmod(0o640)
    LabelFile(path).append(a_label(id="b"))
    assert len(LabelFile(path).labels()) == 2
    assert path.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["real.csv"]


def test_no_label_is_written_through_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    file = LabelFile(link)
    real.touch()
    link.symlink_to(real)
    for write in (lambda: LabelFile(link), lambda: file.append(a_label())):
        with pytest.raises(ConfigError, match=r"link\.csv: is a link to .*real\.csv, and no output"):
            write()
    assert real.read_bytes() == b""


def test_a_folder_that_does_not_exist_is_named_before_the_first_label(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"l\.csv: folder '.*no' does not exist; create it first"):
        LabelFile(tmp_path / "no" / "l.csv")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_the_draw_is_read_back(tmp_path: Path, suffix: str) -> None:
    file = LabelFile(tmp_path / f"l{suffix}")
    assert file.stores_draws
    file.append(a_label(drawn="random|seed:0|from:9|strata:none"))
    assert file.labels()[0].drawn == "random|seed:0|from:9|strata:none"
