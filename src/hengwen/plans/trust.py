"""Find the parts of a plan that could run code or send a secret, which need trust; see ``SECURITY.md``.

Files, installed plug-ins, and keys that go to the address of their provider or to this machine need none.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from urllib.parse import urlsplit

from hengwen._internal.plugins import is_location, source_path
from hengwen.backends.http import is_local, validate_url, without_secrets
from hengwen.errors import ConfigError
from hengwen.io.strict_yaml import Location
from hengwen.plans.endpoints import ENDPOINTS
from hengwen.plans.locations import locate
from hengwen.plans.overrides import OVERRIDE
from hengwen.plans.plan import BackendSpec, LogSpec, Plan
from hengwen.records import digest

USUAL_KEY = "OPENAI_API_KEY"
"""Key of a backend that names none."""
MAX_ENV_BYTES = 1_000_000
_KNOWN = {(endpoint.api_key_env, urlsplit(endpoint.base_url).hostname) for endpoint in ENDPOINTS.values()} | {
    (USUAL_KEY, "api.openai.com")
}
"""Keys with the host of their provider, to which they go without being asked for."""
_SETTING = re.compile(r"[A-Za-z0-9_]*_(?:API_KEY|BASE_URL)")
_LOG_ADDRESSES = {
    "wandb": ("WANDB_BASE_URL", "its own server"),
    "swanlab": ("SWANLAB_API_HOST", "its own server"),
    "mlflow": ("MLFLOW_TRACKING_URI", "the working folder"),
    "trackio": ("TRACKIO_SPACE_ID", "this machine"),
    "tensorboard": ("", "the folder of the plan"),
}
"""Variable that moves a logger, and where it writes otherwise."""
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


def check_trust(plan: Plan, *, trust: bool, further: Sequence[str] = ()) -> None:
    """Raise an error if a plan, or ``further`` things, need trust that the user does not give."""
    needs = [] if trust else _located_needs(plan)
    if not trust and (needs or further):
        raise ConfigError(
            f"{locate(plan, *needs[0][0]) if needs else ''}plan {plan.name!r} needs your trust: "
            f"{'; '.join([*(need for _, need in needs), *further])}; "
            "if you know what that does, add --trust (in Python: trust=True)"
        )


def trust_digest(plan: Plan) -> str:
    """Return the sha256 of a plan's text, of the code files that it names, and of the ``.env`` beside it."""
    files = [*(_code_file(code) for _, _, code in _code_names(plan)), env_file(plan)]
    contents = [_file_digest(file) if file and file.is_file() else "" for file in files]
    return digest(plan.file.text if plan.file else plan.model_dump(mode="json"), contents)


def _file_digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _located_needs(plan: Plan) -> list[tuple[Location, str]]:
    """Return (location in the plan, description) of each part of a plan that needs trust."""
    needs = [(location, f"{owner} runs {code}") for location, owner, code in _code_names(plan)]
    needs += [(("log",), f"log: writes the scores to {_log_target(spec)}") for spec in plan.log]
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
    if spec.provider == "replay":
        return
    provider = spec.provider
    if provider == "langchain":
        provider, colon, _ = spec.model.partition(":")
        provider = provider if colon else "openai" if spec.base_url else ""
    key = USUAL_KEY if spec.api_key_env is None else spec.api_key_env
    own_key = spec.api_key_env is None or key == f"{provider.upper()}_API_KEY"
    target = _target(spec.base_url)
    if spec.base_url is None:
        is_usual = own_key
    else:
        is_usual = is_local(spec.base_url) and _API_KEY_NAME.fullmatch(key) is not None
        is_usual |= (key, urlsplit(target).hostname) in _KNOWN
    if key and not is_usual and (spec.api_key_env or "://" in target):  # a backend refuses an invalid address
        yield f"sends the key in {key} to {target}"
    if spec.provider != "langchain" or spec.factory:
        return
    if provider not in (known := _LANGCHAIN_PROVIDERS.split()):
        yield f"has the langchain model {spec.model!r}, not PROVIDER:MODEL by one of {', '.join(known)}"
    for param in sorted(set(spec.params) - set(_LANGCHAIN_PARAMS.split())):
        yield f"sets {param!r} of a langchain model, which may be more than a sampling parameter"


def env_settings(plan: Plan) -> dict[str, str]:
    """Return what the ``.env`` beside a plan sets for its calls and loggers, and the environment does not.

    Raises:
        ConfigError: The file cannot be read.
    """
    path = env_file(plan)
    if path is None or not (
        plan.log or any(spec.provider != "replay" for spec in plan.used_backends.values())
    ):
        return {}
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    return {
        name: value
        for name, value in sorted(values.items())
        if value is not None and _SETTING.fullmatch(name) and name not in os.environ
    }


def env_file(plan: Plan) -> Path | None:
    """Return the ``.env`` in the folder of a plan's file; None if there is none."""
    path = plan.file.path.parent / ".env" if plan.file else None
    return path if path is not None and path.is_file() and path.stat().st_size <= MAX_ENV_BYTES else None


def env_needs(settings: Mapping[str, str]) -> list[str]:
    """Return what the settings of a ``.env`` bring; of an address, where it leads."""
    return [
        f".env sets {name}" + (f" to {_target(value)}" if name.endswith("_BASE_URL") else "")
        for name, value in settings.items()
    ]


def _log_target(spec: LogSpec) -> str:
    """Return to which tool and address a logger writes, by the environment of the user."""
    if spec.folder is not None:
        return f"{spec.tool}, in {spec.folder}"
    variable, default = _LOG_ADDRESSES[spec.tool]
    return f"{spec.tool}, at {_target(os.environ.get(variable)) if os.environ.get(variable) else default}"


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
