"""What bad input gets, besides the table in tests/endtoend/wrong_inputs: other encodings, warnings, stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from hengwen.cli import main

CASES: dict[str, tuple[str, str, str | bytes, str]] = {
    "non-UTF-8 samples": ("prompts.jsonl", "写两行", "写两行".encode("gbk"), "prompts.jsonl:1: not UTF-8, but GBK or GB18030; convert it: iconv"),
    "non-UTF-8 plan": ("plan.yaml", "name: p", "name: 计".encode("gbk"), "plan.yaml:1: not UTF-8"),
    "empty template": ("prompts.jsonl", "(verse)\\ncccR\\ncccR", "", "prompts.jsonl:1: "),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("verb", ["run", "validate"])
def test_bad_input_is_one_line_with_file_and_line_and_exit_2(
    hengwen, plan: Path, case: str, verb: str
) -> None:
    name, old, new, message = CASES[case]
    path = plan.parent / name
    raw = path.read_bytes()
    replacement = new if isinstance(new, bytes) else new.encode()
    assert old.encode() in raw
    path.write_bytes(raw.replace(old.encode(), replacement, 1))
    done = hengwen(verb, "plan.yaml")
    assert done.code == 2, done
    assert done.err.startswith("hengwen: ")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_a_template_without_sections_is_a_warning_and_is_scored(hengwen, plan: Path) -> None:
    path = plan.parent / "prompts.jsonl"
    path.write_text(path.read_text("utf-8").replace("(verse)\\n", "", 1), "utf-8")
    done = hengwen("run", "plan.yaml", "--json")
    assert done.code == 0
    assert "prompts.jsonl:1: " in done.err
    assert "section" in done.err
    assert done.json["runs"][0]["scores"]["lyrics/lyric.total"]["n"] == 2


@pytest.mark.slow
def test_a_missing_answer_is_counted_and_lowers_no_mean(hengwen, plan: Path) -> None:
    path = plan.parent / "b.jsonl"
    path.write_text(path.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
    done = hengwen("run", "plan.yaml", "--json")
    assert done.code == 0
    assert "checkpoint 'b' has no answer to 1 of 2 samples of task 'lyrics', first 'y'" in done.err
    cell = done.json["runs"][1]["scores"]["lyrics/lyric.total"]
    assert (cell["n"], cell["coverage"], cell["failures"]) == (1, 0.5, {"missing": 1})
    assert hengwen("run", "plan.yaml", "--strict", "-q").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "Missing argument"),
        (["run", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["rnu"], "No such command"),
        (["run", "plan.yaml", "-j", "0"], "-j"),
        (["run", "plan.yaml", "-o", "r.pdf"], "unknown format '.pdf' of 'r.pdf'"),
        (["run", "plan.yaml", "--judge", "gpt"], "--judge must be PROVIDER/MODEL"),
        (["run", "plan.yaml", "--judge", "openai/gpt"], "OPENAI_API_KEY"),
        (["run", "plan.yaml", "--judge", "opnai/gpt"], "unknown backend 'opnai'; did you mean 'openai'?"),
        (["run", "plan.yaml", "--store", "music://x"], "unknown database 'music'"),
        (["report"], "hengwen.db: no such store"),
        (["runs", "list"], "hengwen.db: no such store"),
        (["runs", "show", "x", "--store", "none.db"], "none.db: no such store"),
        (["import", "muchin", "nowhere.jsonl", "-o", "x"], "nowhere.jsonl: no such file"),
    ],
)
def test_wrong_usage_is_exit_2(hengwen, plan: Path, arguments: list[str], message: str) -> None:
    done = hengwen(*arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_store_in_no_folder_is_exit_1(hengwen, plan: Path) -> None:
    done = hengwen("run", "plan.yaml", "--store", "no/folder/x.db")
    assert (done.code, done.err) == (1, "hengwen: no/folder/x.db: the folder no/folder does not exist\n")


def test_a_report_that_cannot_be_written_is_known_before_the_run(hengwen, plan: Path) -> None:
    done = hengwen("run", "plan.yaml", "-q", "-o", "no/folder/r.html")
    assert (done.code, done.err) == (
        2,
        "hengwen: no/folder/r.html: folder 'no/folder' does not exist; create it first\n",
    )
    assert not (plan.parent / "hengwen.db").exists()


@pytest.mark.parametrize(
    ("error", "code"),
    [(OSError(36, "File name too long", "x.db"), 2), (OSError(5, "Input/output error"), None)],
    ids=["about a file", "about nothing that was named"],
)
def test_an_error_of_the_system_about_a_file_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: OSError, code: int | None
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("hengwen.cli.app", fail)
    if code is None:
        with pytest.raises(OSError, match="Input/output error"):
            main()
        return
    with pytest.raises(SystemExit) as left:
        main()
    assert (left.value.code, capsys.readouterr().err) == (code, "hengwen: x.db: file name too long\n")


def test_a_group_without_a_command_shows_its_help(hengwen) -> None:
    done = hengwen("runs")
    assert done.code == 2
    assert "Usage: " in done.out + done.err
