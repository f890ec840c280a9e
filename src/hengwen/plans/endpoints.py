"""Well-known endpoints with OpenAI's chat API, and the prices of their common models."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hengwen.engine.metered_backend import Price

LISTED = "2026-11-23"
"""Date of ``prices.csv``. The prices are those of the providers' pages that it names, as release 0.2.3 of
genai-prices records them; of prices that change with the hour the highest."""


class Endpoint(NamedTuple):
    """Address of a provider's OpenAI-compatible API, and the variable of its key."""

    base_url: str
    api_key_env: str


ENDPOINTS = {
    "deepseek": Endpoint("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "dashscope": Endpoint("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "moonshot": Endpoint("https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"),
    "zhipu": Endpoint("https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY"),
    "ollama": Endpoint("http://127.0.0.1:11434/v1", "OLLAMA_API_KEY"),
    "vllm": Endpoint("http://127.0.0.1:8000/v1", "VLLM_API_KEY"),
}
"""Providers whose backend is ``openai`` with another address and key."""


def with_endpoint(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a backend with the address and key that its provider's name stands for."""
    provider = settings.get("provider")
    endpoint = ENDPOINTS.get(provider) if isinstance(provider, str) else None
    if endpoint is None:
        return settings
    stated = {name: value for name, value in settings.items() if value is not None}
    return {**endpoint._asdict(), **stated, "provider": "openai"}


def listed_price(endpoint: str, model: str) -> Price | None:
    """Return the listed price of a model at its provider's own address."""
    return _prices().get((urlsplit(endpoint).hostname or "", model.lower()))


@cache
def _prices() -> dict[tuple[str, str], Price]:
    lines = (files("hengwen.plans") / "prices.csv").read_text("utf-8").splitlines()
    return {
        (row["host"], row["model"]): Price(
            input=float(row["input"]), output=float(row["output"]), currency=row["currency"], source=LISTED
        )
        for row in csv.DictReader(lines)
    }
