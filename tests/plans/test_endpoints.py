"""Providers by name: their address and key, and what a plan states first."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from rows import each_row

from hengwen import registry
from hengwen.backends.http import validate_url
from hengwen.backends.openai import OpenAIBackend
from hengwen.errors import ConfigError
from hengwen.plans.endpoints import ENDPOINTS
from hengwen.plans.overrides import judge_spec
from hengwen.plans.plan import BackendSpec


@each_row("provider", ENDPOINTS)
def test_a_provider_by_name_is_openai_with_its_address_and_key(provider: str) -> None:
    spec = BackendSpec(provider=provider, model="m")
    assert (spec.provider, spec.base_url, spec.api_key_env) == ("openai", *ENDPOINTS[provider])
    assert validate_url(spec.base_url or "")
    assert str(spec.api_key_env).endswith("_API_KEY"), "else the plan needs trust"


def test_what_a_plan_states_comes_first() -> None:
    spec = BackendSpec(provider="ollama", model="m", base_url="http://10.0.0.2:11434/v1", api_key_env="")
    assert (spec.base_url, spec.api_key_env) == ("http://10.0.0.2:11434/v1", "")


def test_the_judge_of_the_command_line_has_them_too() -> None:
    assert judge_spec("deepseek/deepseek-chat").base_url == "https://api.deepseek.com/v1"
    assert judge_spec("ollama/qwen3", "http://127.0.0.1:1/v1").base_url == "http://127.0.0.1:1/v1"


def test_a_misspelt_provider_is_told_its_name() -> None:
    assert sorted(ENDPOINTS) == list(registry.PRESETS)
    with pytest.raises(ConfigError, match="unknown backend 'deepsek'; did you mean 'deepseek'"):
        registry.load("backends", "deepsek")


@each_row(
    ("base_url", "needed"), [(ENDPOINTS["deepseek"].base_url, True), (ENDPOINTS["vllm"].base_url, False)]
)
def test_a_hosted_provider_needs_its_key(
    monkeypatch: pytest.MonkeyPatch, base_url: str, needed: bool
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(ConfigError, match="set SOME_KEY") if needed else nullcontext():
        OpenAIBackend(model="m", base_url=base_url, api_key_env="SOME_KEY")
