"""Find the parts of a plan that could run code or send a secret, which need trust; see ``SECURITY.md``.

Files, installed plug-ins, endpoints and variables whose names end in ``_API_KEY`` need none.
"""

from __future__ import annotations

import hashlib
import re
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen._internal.plugins import is_location, source_path
from hengwen.backends.http.endpoint import is_local, validate_url, without_secrets
from hengwen.errors import ConfigError
from hengwen.plans.locations import locate
from hengwen.plans.overrides import OVERRIDE
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.io.strict_yaml import Location
    from hengwen.plans.plan import BackendSpec, Plan

USUAL_KEY = "OPENAI_API_KEY"
"""Key that most users have in their environment, so that a plan could send it to any address."""
_API_KEY_NAME = re.compile(r"[A-Za-z0-9_]*_API_KEY")
_LANGCHAIN_PROVIDERS = (
    "anthropic cohere deepseek fireworks google_genai groq mistralai ollama openai openrouter perplexity"
    " together xai"
)
"""LangChain's providers that run no downloaded code, and send no credentials except an API key."""
_LANGCHAIN_PARAMS = (
    "effort extra_body frequency_penalty logit_bias logprobs max_completion_tokens max_output_tokens"
    " max_retries max_tokens metadata min_p model_kwargs n num_ctx num_predict presence_penalty reasoning"
    " reasoning_effort repeat_penalty seed service_tier stop stop_sequences stream_usage streaming"
    " temperature thinking thinking_budget timeout top_k top_logprobs top_p use_responses_api verbosity"
)
"""Keyword arguments of LangChain's chat models that can change only the content of a request."""


def trust_needs(plan: Plan) -> list[str]:
    """Return a description of each part of a plan that needs the user's trust; empty if no part does."""
    return [need for _, need in _located_needs(plan)]


def check_trust(plan: Plan, *, trust: bool) -> None:
    """Raise an error if a plan could run code or send a secret, and the user does not trust the plan."""
    needs = [] if trust else _located_needs(plan)
    if needs:
        raise ConfigError(
            f"{locate(plan, *needs[0][0])}plan {plan.name!r} needs your trust: "
            f"{'; '.join(need for _, need in needs)}; "
            "if you know what that does, add --trust (in Python: trust=True)"
        )


def trust_digest(plan: Plan) -> str:
    """Return the sha256 of a plan's text and of the code files that it names."""
    files = [_code_file(code) for _, _, code in _code_names(plan)]
    contents = [_file_digest(file) if file and file.is_file() else "" for file in files]
    return digest(plan.file.text if plan.file else plan.model_dump(mode="json"), contents)


def _file_digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _located_needs(plan: Plan) -> list[tuple[Location, str]]:
    """Return (location in the plan, description) of each part of a plan that needs trust."""
    needs = [(location, f"{owner} runs {code}") for location, owner, code in _code_names(plan)]
    for name, spec in plan.used_backends.items():
        if name != OVERRIDE:  # the user typed its model and address
            needs += [(("backends", name), f"backend {name!r} {need}") for need in _backend_needs(spec)]
    locations: dict[str, Location] = {}
    for location, need in needs:
        locations.setdefault(need, location)
    return [(location, need) for need, location in locations.items()]


def _code_names(plan: Plan) -> Iterator[tuple[Location, str, str]]:
    """Yield (location, title, code) for each part that names code: ``module:name`` or ``file.py:name``."""
    for index, task in enumerate(plan.tasks):
        plugins = {
            "scorers": [spec.name for spec in task.scorers],
            "rules": [spec.name for spec in task.rules],
            "judges": [spec.plugin for spec in task.judges],
        }
        for section, names in plugins.items():
            for number, name in enumerate(names):
                if is_location(name):
                    yield ("tasks", index, section, number), f"{section[:-1]} of task {task.name!r}", name
    for name, spec in plan.used_backends.items():
        codes = [spec.factory, spec.provider if is_location(spec.provider) else ""]
        yield from ((("backends", name), f"backend {name!r}", str(code)) for code in codes if code)


def _backend_needs(spec: BackendSpec) -> Iterator[str]:
    if spec.api_key_env and not _API_KEY_NAME.fullmatch(spec.api_key_env):
        yield f"sends the variable {spec.api_key_env} to {_target(spec.base_url)} (API keys end in _API_KEY)"
    has_usual_key = spec.api_key_env in (None, USUAL_KEY)
    is_valid = spec.base_url is not None and "://" in _target(spec.base_url)  # else the backend refuses it
    if has_usual_key and is_valid and spec.provider != "replay" and not is_local(spec.base_url or ""):
        yield f"sends the usual API key to {_target(spec.base_url)} (name its own key in api_key_env)"
    if spec.provider != "langchain" or spec.factory:
        return
    provider, colon, _ = spec.model.partition(":")
    if not colon:
        provider = "openai" if spec.base_url else ""
    if provider not in (known := _LANGCHAIN_PROVIDERS.split()):
        yield f"has the langchain model {spec.model!r}, not PROVIDER:MODEL by one of {', '.join(known)}"
    for param in sorted(set(spec.params) - set(_LANGCHAIN_PARAMS.split())):
        yield f"sets {param!r} of a langchain model, which may be more than a sampling parameter"


def _target(base_url: str | None) -> str:
    try:
        return without_secrets(validate_url(base_url)) if base_url else "its endpoint"
    except ConfigError:
        return "an invalid URL"


def _code_file(code: str) -> Path | None:
    """Return the file of ``file.py:name`` or ``module:name`` without importing it; None if it is unknown."""
    file = source_path(code)
    if file is not None:
        return file
    parts = code.rpartition(":")[0].split(".")
    search_path = None
    spec = None
    for count in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:count]), search_path)
        if spec is None:
            return None
        search_path = spec.submodule_search_locations
    return Path(spec.origin) if spec and spec.origin else None
