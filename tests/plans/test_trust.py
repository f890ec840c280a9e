"""A plan is data: what it may do only if the user trusts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rows import each_row

from hengwen.errors import ConfigError
from hengwen.plans.plan import Plan, load_plan
from hengwen.plans.suite import load_suite
from hengwen.plans.trust import check_trust, trust_digest, trust_needs
from hengwen.runs.run_plan import estimate_plan, run_plan


def plan_of(backend: dict[str, Any] | None = None, scorer: str = "length", **judge: str) -> Plan:
    return Plan.model_validate(
        {
            "name": "p",
            "tasks": [
                {
                    "name": "t",
                    "samples": "s.jsonl",
                    "scorers": [scorer],
                    "judges": [{"rubric": "relevance", **judge}] if judge else [],
                }
            ],
            "checkpoints": [{"name": "c", **({"backend": "b"} if backend else {"responses": "a.jsonl"})}],
            "backends": {"b": backend} if backend else {},
        }
    )


@each_row(
    "backend",
    [
        {"provider": "openai", "model": "m"},
        {
            "provider": "openai",
            "model": "m",
            "api_key_env": "DEEPSEEK_API_KEY",
            "base_url": "https://api.deepseek.com/v1",
        },
        {"provider": "deepseek", "model": "m"},
        {"provider": "openai", "model": "m", "base_url": "https://api.openai.com/v1"},
        {"provider": "openai", "model": "m", "api_key_env": "", "base_url": "https://x/v1"},
        {"provider": "langchain", "model": "deepseek:m", "api_key_env": "DEEPSEEK_API_KEY"},
        {"provider": "openai", "model": "m", "api_key_env": "", "params": {"anything": {"at": "all"}}},
        {"provider": "replay", "file": "said.jsonl"},
        {"provider": "langchain", "model": "anthropic:claude", "params": {"temperature": 0, "top_p": 1}},
        {"provider": "langchain", "model": "tiny", "base_url": "http://127.0.0.1:1/v1"},
        {"provider": "openai", "model": "m", "base_url": "http://localhost:1/v1"},
    ],
)
def test_a_key_goes_to_its_provider_or_to_this_machine_without_trust(backend: dict[str, Any]) -> None:
    assert trust_needs(plan_of(backend)) == []


LANGCHAIN = {"provider": "langchain"}


@each_row(
    ("backend", "need"),
    [
        ({**LANGCHAIN, "factory": "subprocess:run"}, "backend 'b' runs subprocess:run"),
        ({"provider": "evil:Backend"}, "backend 'b' runs evil:Backend"),
        (
            {**LANGCHAIN, "model": "huggingface:someone/model"},
            "backend 'b' has the langchain model 'huggingface:someone/model', not PROVIDER:MODEL by one of ",
        ),
        ({**LANGCHAIN, "model": "gemini-x"}, "backend 'b' has the langchain model 'gemini-x'"),
        (
            {**LANGCHAIN, "model": "google_genai:gemini", "params": {"vertexai": True, "top_p": 1}},
            "backend 'b' sets 'vertexai' of a langchain model",
        ),
        (
            {"provider": "openai", "api_key_env": "AWS_SECRET_ACCESS_KEY", "base_url": "https://u:p@far/v1"},
            "backend 'b' sends the key in AWS_SECRET_ACCESS_KEY to https://far/v1",
        ),
        (
            {"provider": "openai", "model": "m", "base_url": "https://far/v1"},
            "backend 'b' sends the key in OPENAI_API_KEY to https://far/v1",
        ),
        (
            {"provider": "openai", "api_key_env": "OPENAI_API_KEY", "base_url": "https://far/v1"},
            "backend 'b' sends the key in OPENAI_API_KEY to https://far/v1",
        ),
        (
            {"provider": "openai", "api_key_env": "DEEPSEEK_API_KEY", "base_url": "https://far/v1"},
            "backend 'b' sends the key in DEEPSEEK_API_KEY to https://far/v1",
        ),
        (
            {"provider": "openai", "model": "m", "api_key_env": "ANTHROPIC_API_KEY"},
            "backend 'b' sends the key in ANTHROPIC_API_KEY to its endpoint",
        ),
        (
            {"provider": "openai", "api_key_env": "AWS_SECRET", "base_url": "http://127.0.0.1:1/v1"},
            "backend 'b' sends the key in AWS_SECRET to http://127.0.0.1:1/v1",
        ),
        (
            {"provider": "openai", "api_key_env": "HOME"},
            "backend 'b' sends the key in HOME to its endpoint",
        ),
        (
            {"provider": "openai", "api_key_env": "X_API_KEY\n", "base_url": "http://["},
            "backend 'b' sends the key in X_API_KEY\n to an invalid URL",
        ),
    ],
)
def test_code_and_other_secrets_need_trust(backend: dict[str, Any], need: str) -> None:
    (first,) = trust_needs(plan_of(backend))
    assert first.startswith(need)


@pytest.mark.parametrize(
    ("log", "target"),
    [
        ("wandb", "wandb, at its own server"),
        ("swanlab", "swanlab, at https://far"),
        ({"tensorboard": "curves"}, "tensorboard, in curves"),
    ],
    ids=["wandb", "swanlab", "tensorboard"],
)
def test_a_logger_needs_trust_and_says_where_it_writes(monkeypatch, log, target: str) -> None:
    monkeypatch.delenv("WANDB_BASE_URL", raising=False)
    monkeypatch.setenv("SWANLAB_API_HOST", "https://u:p@far")
    plan = Plan.model_validate({**plan_of().model_dump(), "log": [log]})
    assert trust_needs(plan) == [f"log: writes the scores to {target}"]


@each_row("code", ["subprocess:Popen", "mine.py:Shout"])
def test_a_plug_in_by_module_or_file_needs_trust(code: str) -> None:
    assert trust_needs(plan_of(scorer=code)) == [f"scorer of task 't' runs {code}"]
    assert trust_needs(plan_of(judge=code)) == [f"judge of task 't' runs {code}"]


def test_a_backend_that_nothing_uses_needs_no_trust() -> None:
    unused = plan_of().model_copy(update={"backends": plan_of({**LANGCHAIN, "factory": "a:b"}).backends})
    assert trust_needs(unused) == []


def test_a_plan_without_trust_is_refused_in_one_line() -> None:
    plan = plan_of({**LANGCHAIN, "factory": "a:b"}, scorer="c:d")
    with pytest.raises(ConfigError) as refused:
        check_trust(plan, trust=False)
    assert str(refused.value) == (
        "plan 'p' needs your trust: scorer of task 't' runs c:d; backend 'b' runs a:b; "
        "if you know what that does, add --trust (in Python: trust=True)"
    )
    check_trust(plan, trust=True)


@pytest.fixture
def armed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan whose factory and module leave a file when they run."""
    (tmp_path / "evil_chat.py").write_text(
        "from pathlib import Path\n"
        "Path(__file__).with_name('imported').touch()\n"
        "from langchain_core.language_models import FakeListChatModel\n"
        "def build():\n    return FakeListChatModel(responses=['four'])\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.jsonl").write_text('{"id": "a", "input": "?"}\n', "utf-8")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "name: p\n"
        "tasks: [{name: t, samples: s.jsonl, scorers: [length]}]\n"
        "checkpoints: [{name: c, backend: b}]\n"
        "backends: {b: {provider: langchain, factory: 'evil_chat:build'}}\n",
        "utf-8",
    )
    return plan


def test_python_refuses_a_plan_with_code_unless_it_is_trusted(armed: Path) -> None:
    for refuse in (run_plan, estimate_plan, lambda plan: load_suite(load_plan(plan))):
        with pytest.raises(ConfigError, match="runs evil_chat:build"):
            refuse(armed)
    assert not armed.with_name("imported").exists()
    estimate_plan(armed, trust=True)
    assert not armed.with_name("imported").exists()
    result = run_plan(armed, trust=True)
    assert (armed.with_name("imported").exists(), result.failures) == (True, {})


def test_the_digest_follows_the_plan_and_its_code(armed: Path) -> None:
    first = trust_digest(load_plan(armed))
    assert trust_digest(load_plan(armed)) == first
    code = armed.with_name("evil_chat.py")
    code.write_text(code.read_text("utf-8") + "# more\n", "utf-8")
    second = trust_digest(load_plan(armed))
    armed.write_text(armed.read_text("utf-8") + "# more\n", "utf-8")
    assert len({first, second, trust_digest(load_plan(armed))}) == 3
    assert not armed.with_name("imported").exists()


def test_the_digest_finds_files_and_submodules_without_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "evil_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for file, code in (
        (package / "part.py", "evil_package.part:x"),
        (tmp_path / "s.py", f"{tmp_path}/s.py:X"),
    ):
        digests = set()
        for content in ("", "raise SystemExit"):
            file.write_text(content, "utf-8")
            digests.add(trust_digest(plan_of(scorer=code)))
        assert len(digests) == 2
    assert trust_digest(plan_of(scorer="no.such:x")) != trust_digest(plan_of(scorer="sys:x"))


def test_two_instances_of_a_scorer_are_one_need() -> None:
    plan = plan_of(scorer="a:b")
    (task,) = plan.tasks
    twice = plan.model_copy(update={"tasks": [task.model_copy(update={"scorers": task.scorers * 2})]})
    assert trust_needs(twice) == ["scorer of task 't' runs a:b"]


@each_row("name", ["api_key_env", "factory", "base_url"])
def test_options_of_a_backend_hide_no_key_that_needs_trust(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is a key of the backend; write it beside options"):
        plan_of({"provider": "openai", "model": "m", "options": {name: "HOME"}})
