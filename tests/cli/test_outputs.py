"""No command replaces what it reads, and what cannot be written is known before the work."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

TEMPLATE = "(verse)\ncccR\ncccR"


def jsonl(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def files(plan: Path) -> Path:
    """A plan with files in every format, so that a suffix alone refuses none of them."""
    folder = plan.parent
    text = plan.read_text("utf-8").replace("[lyric]", "[lyric]\n    rules: [{leakage: {corpus: train.json}}]")
    plan.write_text(text + "anchors: anchors.csv\n", "utf-8")
    (folder / "train.json").write_text(json.dumps([{"prompt": "a", "output": "b c d e"}]), "utf-8")
    (folder / "rubric.csv").write_text("levels: {}", "utf-8")
    row = "lyrics,x,a,1,天上的云,lyric_craft.level,0.5,me\n"
    (folder / "anchors.csv").write_text(
        (folder / "labels.csv").read_text("utf-8").splitlines()[0] + "\n" + row, "utf-8"
    )
    (folder / "mine.jsonl").write_text(
        jsonl({"id": "x", "output": "天上的云", "template": TEMPLATE}), "utf-8"
    )
    (folder / "muchin.jsonl").write_text(
        jsonl({"id": "x", "checkpoint": "a", "template": TEMPLATE, "lyric": "天上的云"}), "utf-8"
    )
    return folder


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".db", ".db-wal", ".db-shm")
    }


CASES = [
    ("score mine.jsonl --scorer length -o mine.jsonl", "mine.jsonl", "mine.jsonl"),
    ("score mine.jsonl --scorer length -o ./mine.jsonl", "mine.jsonl", "mine.jsonl"),
    ("score mine.jsonl --scorer self_copy --set corpus=train.json -o mine.jsonl", "mine.jsonl", "mine.jsonl"),
    ("score mine.jsonl --rubric lyric_craft -o mine.jsonl", "mine.jsonl", "mine.jsonl"),
    ("score mine.jsonl --rubric rubric.csv -o rubric.csv", "rubric.csv", "rubric.csv"),
    ("score mine.jsonl --rubric lyric_craft --store v.jsonl -o v.jsonl", "v.jsonl", "v.jsonl"),
    ("run plan.yaml -o train.json", "train.json", "{}/train.json"),
    ("run plan.yaml --store s.json -o s.json", "s.json", "s.json"),
    ("run plan.yaml --store sqlite:///s.json -o s.json", "s.json", "s.json"),
    ("label plan.yaml -o prompts.jsonl", "prompts.jsonl", "{}/prompts.jsonl"),
    ("label plan.yaml -o a.jsonl", "a.jsonl", "{}/a.jsonl"),
    ("label plan.yaml -o anchors.csv", "anchors.csv", "{}/anchors.csv"),
    ("calibrate plan.yaml -o train.json", "train.json", "{}/train.json"),
    ("calibrate s.json -o s.json", "s.json", "s.json"),
    ("report --calibration c.json -o c.json", "c.json", "c.json"),
    ("report --store s.json -o s.json", "s.json", "s.json"),
]


@pytest.mark.parametrize(("command", "target", "source"), CASES, ids=[case[0] for case in CASES])
def test_no_command_replaces_what_it_reads(
    hengwen, files: Path, command: str, target: str, source: str
) -> None:
    (files / "c.json").write_text('{"schema": 1, "calibrations": []}', "utf-8")
    before = digests(files)
    done = hengwen(*command.split())
    message = f"the output would replace the input {source.format(files.resolve())}; name another file"
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"{target}: {message}\n"), done.err
    assert len(done.err.splitlines()) == 1
    assert {name: digest for name, digest in digests(files).items() if name in before} == before


LINKS = [
    "score mine.jsonl --scorer length -o {}.jsonl",
    "score mine.jsonl --rubric lyric_craft -o {}.jsonl",
    "run plan.yaml -o {}.html",
    "demo -o {}.md",
    "label plan.yaml -o {}.csv",
    "calibrate plan.yaml -o {}.json",
    "report -o {}.html",
]


@pytest.mark.parametrize("command", LINKS)
def test_no_command_writes_through_a_link(hengwen, files: Path, command: str) -> None:
    (files / "elsewhere").mkdir()
    name = command.split()[-1].format("link")
    (files / name).symlink_to(files / "elsewhere" / name)
    done = hengwen(*command.format("link").split())
    assert done.code == 2
    assert f"hengwen: {name}: is a link to " in done.err
    assert len(done.err.splitlines()) == 1
    assert list((files / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("command", LINKS)
def test_a_folder_that_does_not_exist_is_known_before_the_work(hengwen, files: Path, command: str) -> None:
    done = hengwen(*command.format("no/x").split())
    name = command.split()[-1].format("no/x")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"hengwen: {name}: folder 'no' does not exist; create it first\n"


def test_an_output_that_is_a_second_name_of_the_input_is_refused(hengwen, files: Path) -> None:
    (files / "second.jsonl").hardlink_to(files / "mine.jsonl")
    done = hengwen("score", "mine.jsonl", "--scorer", "length", "-o", "second.jsonl")
    assert done.code == 2
    assert done.err == (
        "hengwen: second.jsonl: the output would replace the input mine.jsonl; name another file\n"
    )


def test_an_import_replaces_none_of_its_inputs_even_by_force(hengwen, files: Path) -> None:
    (files / "prompts.jsonl").write_text((files / "muchin.jsonl").read_text("utf-8"), "utf-8")
    before = digests(files)
    done = hengwen("import", "muchin", "prompts.jsonl", "-o", ".", "--force")
    assert done.code == 2
    assert done.err == (
        "hengwen: prompts.jsonl: the import would replace the input prompts.jsonl; name another folder\n"
    )
    assert digests(files) == before


def test_a_checkpoint_cannot_take_the_file_of_the_prompts(hengwen, files: Path) -> None:
    row = {"id": "x", "checkpoint": "Prompts", "template": TEMPLATE, "lyric": "天上的云"}
    (files / "muchin.jsonl").write_text(jsonl(row), "utf-8")
    done = hengwen("import", "muchin", "muchin.jsonl", "-o", "new")
    assert done.code == 2
    assert done.err == (
        "hengwen: muchin.jsonl:1: checkpoint 'Prompts': prompts.jsonl is the file of the prompts; "
        "rename the checkpoint\n"
    )
    assert not (files / "new").exists()


@pytest.mark.parametrize("name", ["plan.yaml", "prompts.jsonl"])
@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("verb", [["init", "new"], ["import", "muchin", "muchin.jsonl", "-o", "new"]])
def test_a_link_in_the_folder_stops_all_of_its_files(
    hengwen, files: Path, name: str, force: list[str], verb: list[str]
) -> None:
    (files / "new").mkdir()
    (files / "new" / name).symlink_to(files / "not-yet")
    done = hengwen(*verb, *force)
    assert done.code == 2
    assert done.err == (
        f"hengwen: new/{name}: is a link to {files / 'not-yet'}, and nothing is written through a link; "
        "remove it, or name another folder\n"
    )
    assert [path.name for path in (files / "new").iterdir()] == [name]
    assert not (files / "not-yet").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("run plan.yaml -o r.html", "the results are in hengwen.db: hengwen report -o FILE"),
        (
            "score mine.jsonl --rubric lyric_craft -o v.csv",
            "the verdicts are in hengwen.db, the same command writes them",
        ),
    ],
)
def test_a_disk_that_is_full_at_the_end_costs_no_results(
    hengwen, files: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.mkstemp", refuse)
        done = hengwen(*command.split(), "-q")
    name = command.split()[-1]
    assert (done.code, done.err) == (
        2,
        f"hengwen: {name}: cannot be written: No space left on device; {message}\n",
    )
    assert hengwen("report", "-q", "-o", "r.html").code == 0
