"""Headline scores in the tools that draw a training's curves, read back from what the tools wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from real_tools import real_tool

from hengwen import import_scores, open_store
from hengwen.errors import ConfigError, PluginError
from hengwen.integrations import log_run

NAME = "hengwen/scores/g.level"
CURVE = [(10, 2.0), (20, 3.0)]


class Curves:
    """A logger as verl, SwanLab and trackio have it."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, dict]] = []

    def log(self, data, *, step: int) -> None:
        self.rows.append((step, data))


@pytest.fixture
def store(tmp_path: Path):
    lines = ["model,step,id,judge,score"]
    lines += [f"c{step},{step},{i},g,{step / 10 + i % 3}" for step in (20, 10) for i in range(6)]
    lines += ["c30,30,0,g,error", "c10,10,6,g,error"]
    (tmp_path / "j.csv").write_text("\n".join(lines) + "\n", "utf-8")
    with open_store(tmp_path / "s.db") as opened:
        import_scores(tmp_path / "j.csv", opened)
        yield opened


def runs(store) -> list:
    return store.latest("j")


def test_each_score_has_its_interval_its_coverage_and_its_failures(store) -> None:
    curves = Curves()
    assert log_run(runs(store), curves, store=store) == 3
    assert [step for step, _ in curves.rows] == [10, 20, 30]
    first = curves.rows[0][1]
    assert first[NAME] == pytest.approx(2.0)
    assert first[f"{NAME}/low"] < 2.0 < first[f"{NAME}/high"]
    assert (first[f"{NAME}/coverage"], first[f"{NAME}/failures"]) == (pytest.approx(6 / 7), 1.0)


def test_a_checkpoint_without_a_score_has_no_mean(store) -> None:
    curves = Curves()
    log_run(runs(store)[-1:], curves, store=store)
    ((_, metrics),) = curves.rows
    assert NAME not in metrics
    assert metrics[f"{NAME}/coverage"] == 0.0
    assert metrics[f"{NAME}/failures"] == 1.0


def test_runs_need_steps_and_a_known_logger(store, tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text("model,id,score\na,1,3\nb,1,3\n", "utf-8")
    result = import_scores(tmp_path / "k.csv", store)
    with pytest.raises(ConfigError, match="no whole step of a, b"):
        log_run(result.runs, Curves(), store=store)
    curves = Curves()
    log_run(result.runs[:1], curves, store=store, step=7)
    assert curves.rows[0][0] == 7
    with pytest.raises(ConfigError, match="no logger 'aim'"):
        log_run(runs(store), "aim", store=store)
    with pytest.raises(ConfigError, match="pass the store"):
        log_run(runs(store), Curves())


@pytest.mark.slow
def test_a_plan_logs_when_its_run_ends_and_an_error_of_the_tool_loses_no_result(
    plan: Path, hengwen, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        plan.read_text("utf-8")
        .replace("{name: a,", "{name: a, step: 1,")
        .replace("{name: b,", "{name: b, step: 2,")
    )
    plan.write_text(text + "log: [trackio]\n", "utf-8")
    monkeypatch.setitem(sys.modules, "trackio", None)
    ended = hengwen("run", plan, "--trust")
    assert (ended.code, "trackio is not installed" in ended.err) == (2, True)
    tool = Trackio()
    monkeypatch.setitem(sys.modules, "trackio", tool)
    assert hengwen("run", plan, "-q", "--trust").code == 0
    assert [step for step, _ in tool.rows] == [1, 2]
    assert tool.events == ["init hengwen p", "artifact report.html", "finish"]
    monkeypatch.setattr(tool, "log", None)
    ended = hengwen("run", plan, "-q", "--trust")
    assert (ended.code, "warning: not logged to trackio: " in ended.err) == (0, True)


class Trackio(Curves):
    """The module ``trackio`` without an open run."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[str] = []
        self.context_vars = SimpleNamespace(current_run=SimpleNamespace(get=lambda: None))

    def init(self, *, project: str, name: str) -> None:
        self.events.append(f"init {project} {name}")

    def log_artifact(self, path: Path, *, type: str) -> None:  # noqa: A002 - as trackio calls it
        assert type == "report"
        self.events.append(f"artifact {path.name}")

    def finish(self) -> None:
        self.events.append("finish")


def test_a_tool_that_is_not_installed_is_named(store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "swanlab", None)
    with pytest.raises(PluginError, match="swanlab is not installed: pip install swanlab"):
        log_run(runs(store), "swanlab", store=store)


@pytest.mark.slow
def test_the_package_loads_no_other_tool() -> None:
    code = (
        "import sys, hengwen.integrations as i; i.log_run, i.as_reward, i.HengwenCallback;"
        "names = ('torch', 'transformers', 'wandb', 'mlflow', 'inspect_ai', 'pandas');"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_tensorboard_reads_the_curve_back(store, tmp_path: Path) -> None:
    real_tool("tensorboardX")
    accumulators = real_tool("tensorboard.backend.event_processing.event_accumulator")
    log_run(runs(store), {"tensorboard": str(tmp_path / "tb")}, store=store)
    events = accumulators.EventAccumulator(str(tmp_path / "tb")).Reload()
    assert [(event.step, event.value) for event in events.Scalars(NAME)] == CURVE


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_reads_curve_and_report_back(store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = real_tool("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'm.db'}")
    with mlflow.start_run() as opened:
        log_run(runs(store), "mlflow", store=store)
        assert mlflow.active_run().info.run_id == opened.info.run_id
    log_run(runs(store), "mlflow", store=store)
    client = mlflow.MlflowClient()
    logged = client.search_runs(["0"])
    assert {run.info.run_name for run in logged} == {opened.info.run_name, "hengwen j"}
    for run in logged:
        assert [(item.step, item.value) for item in client.get_metric_history(run.info.run_id, NAME)] == CURVE
        (page,) = client.list_artifacts(run.info.run_id, "hengwen")
        assert page.path == "hengwen/report.html"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_swanlab_reads_curve_and_report_back(store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swanlab = real_tool("swanlab")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SWANLAB_MODE", "local")
    log_run(runs(store), "swanlab", store=store)
    assert not swanlab.has_run()
    files = [path for path in (tmp_path / "swanlog").rglob("*.log") if path.parent.parent.name == "logs"]
    curves = [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in files]
    assert [(10, 2.0), (20, 3.0)] in [[(row["index"], row["data"]) for row in rows] for rows in curves]
    (page,) = (tmp_path / "swanlog").rglob("*.html")
    assert "衡文" in page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_trackio_reads_curve_and_report_back(store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    trackio = real_tool("trackio")
    log_run(runs(store), "trackio", store=store)
    (run,) = trackio.Api().runs("hengwen")
    rows = import_module("trackio.sqlite_storage").SQLiteStorage.get_logs("hengwen", run.name)
    assert [(row["step"], row[NAME]) for row in rows if NAME in row] == CURVE


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_wandb_keeps_the_rows_of_the_trainer(store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = real_tool("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    trainer = wandb.init(project="p", group="g")
    trainer.log({"loss": 1.0}, step=1)
    log_run(runs(store), "wandb", store=store)
    trainer.log({"loss": 0.5}, step=2)
    trainer.finish()
    wandb.teardown()  # its service has then written all
    records = [record for path in (tmp_path / "wandb").rglob("*.wandb") for record in wandb_records(path)]
    rows = [history(record) for record in records if record.HasField("history")]
    assert [row["loss"] for row in rows if "loss" in row] == [1.0, 0.5]
    assert [(row["hengwen/step"], row[NAME]) for row in rows if NAME in row] == CURVE
    assert {record.run.run_group for record in records if record.HasField("run")} == {"g"}
    (artifact,) = [record.artifact for record in records if record.HasField("artifact")]
    assert artifact.type == "report"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_files_of_the_working_folder_do_not_choose_where_wandb_writes(
    store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = real_tool("wandb")
    (tmp_path / "wandb").mkdir()
    (tmp_path / "wandb" / "settings").write_text("[default]\nbase_url = http://127.0.0.1:1\nentity = evil\n")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    wandb.teardown()
    opened: list = []
    init = wandb.init
    monkeypatch.setattr(wandb, "init", lambda **options: opened.append(init(**options)) or opened[-1])
    log_run(runs(store), "wandb", store=store)
    wandb.teardown()
    (run,) = opened
    assert "127.0.0.1" not in run.settings.base_url
    assert run.settings.entity is None
    assert list((tmp_path / "wandb").rglob("*.wandb"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_files_of_the_working_folder_do_not_choose_where_swanlab_writes(tmp_path: Path) -> None:
    real_tool("swanlab")
    (tmp_path / ".env").write_text("SWANLAB_API_HOST=http://127.0.0.1:1\n")
    (tmp_path / "swanlab.yaml").write_text("api_host: http://127.0.0.1:2\n")
    code = (
        "from hengwen.integrations.loggers import _empty_folder, tool_of\n"
        "from hengwen.plans.plan import LogSpec\n"
        "swanlab = tool_of(LogSpec(tool='swanlab'))\n"
        "with _empty_folder(): print(swanlab.Settings().api_host)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "127.0.0.1" not in done.stdout


def history(record) -> dict:
    items = record.history.item
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def wandb_records(path: Path) -> list:
    """Read an offline file of W&B: a LevelDB log of protobuf records after a head of 7 bytes."""
    from wandb.proto import wandb_internal_pb2

    data, records, position, part = path.read_bytes(), [], 7, b""
    while position + 7 <= len(data):
        block_left = 32768 - position % 32768
        if block_left < 7:
            position += block_left
            continue
        length, kind = int.from_bytes(data[position + 4 : position + 6], "little"), data[position + 6]
        part += data[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):
            records.append(wandb_internal_pb2.Record.FromString(part))
            part = b""
    return records
