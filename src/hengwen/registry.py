"""Find scorers, judges, rules and backends by name: built-in ones, and entry points of installed packages.

An installed package adds a plug-in by an entry point in the group ``hengwen.scorers``, ``hengwen.judges``,
``hengwen.rules`` or ``hengwen.backends``. Listing the names of plug-ins imports none of them. Loading a name
that two packages register is an error. If a plug-in cannot be imported, only plans that use it fail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from hengwen.errors import ConfigError, PluginError, did_you_mean

Group = Literal["scorers", "judges", "backends", "rules"]

BUILTINS: Mapping[Group, Mapping[str, str]] = {
    "scorers": {
        "lyric": "hengwen.objective.lyrics.scorer:Lyric",
        "distinct_n": "hengwen.objective.diversity.scorers:DistinctN",
        "ngram_entropy": "hengwen.objective.diversity.scorers:NgramEntropy",
        "compression": "hengwen.objective.diversity.scorers:Compression",
        "repetition": "hengwen.objective.diversity.scorers:Repetition",
        "type_token_ratio": "hengwen.objective.diversity.scorers:TypeTokenRatio",
        "self_bleu": "hengwen.objective.diversity.scorers:SelfBleu",
        "near_duplicates": "hengwen.objective.duplicates.training_set:NearDuplicates",
        "leakage": "hengwen.objective.duplicates.training_set:Leakage",
        "bleu": "hengwen.objective.overlap.scorers:BleuScorer",
        "chrf": "hengwen.objective.overlap.scorers:ChrfScorer",
        "ter": "hengwen.objective.overlap.scorers:TerScorer",
        "rouge": "hengwen.objective.overlap.scorers:RougeScorer",
        "corpus_bleu": "hengwen.objective.overlap.scorers:CorpusBleu",
        "corpus_chrf": "hengwen.objective.overlap.scorers:CorpusChrf",
        "corpus_ter": "hengwen.objective.overlap.scorers:CorpusTer",
        "exact": "hengwen.objective.checks:Exact",
        "contains": "hengwen.objective.checks:Contains",
        "regex": "hengwen.objective.checks:Regex",
        "json_valid": "hengwen.objective.checks:JsonValid",
        "length": "hengwen.objective.checks:Length",
    },
    "judges": {
        "rubric": "hengwen.judges.rubric.judge:RubricJudge",
        "rules": "hengwen.judges.rules.judge:RulesJudge",
    },
    "rules": {
        "broken": "hengwen.judges.rules.text_rules:Broken",
        "near_duplicate": "hengwen.judges.rules.text_rules:NearDuplicate",
        "target_copy": "hengwen.judges.rules.text_rules:TargetCopy",
        "leakage": "hengwen.judges.rules.text_rules:TrainingLeak",
        "plain_text": "hengwen.judges.rules.text_rules:PlainText",
        "number": "hengwen.judges.rules.text_rules:Number",
    },
    "backends": {
        "openai": "hengwen.backends.openai:OpenAIBackend",
        "langchain": "hengwen.backends.langchain:LangChainBackend",
        "replay": "hengwen.backends.replay:ReplayBackend",
    },
}

PRESETS = ("dashscope", "deepseek", "moonshot", "ollama", "vllm", "zhipu")
"""Providers that plans turn into ``openai`` with another address and key."""


@cache
def _installed(group: Group) -> dict[str, list[EntryPoint]]:
    points: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=f"hengwen.{group}"):
        points.setdefault(point.name, []).append(point)
    return points


def known(group: Group) -> list[str]:
    """Return the sorted names of the plug-ins in a group, without importing them."""
    return sorted({*BUILTINS[group], *_installed(group)})


def load(group: Group, name: str) -> Any:
    """Return the class or factory registered under a name."""
    owners = _installed(group).get(name, [])
    builtin = BUILTINS[group].get(name)
    if len(owners) + (builtin is not None) > 1:
        packages = ", ".join([*(["hengwen"] if builtin else []), *(_package(owner) for owner in owners)])
        raise ConfigError(f"{group[:-1]} {name!r} is claimed by several packages: {packages}; uninstall one")
    if builtin is not None:
        module, _, attribute = builtin.partition(":")
        return getattr(import_module(module), attribute)
    if not owners:
        names = [*known(group), *(PRESETS if group == "backends" else ())]
        raise ConfigError(f"unknown {group[:-1]} {name!r}{did_you_mean(name, names)}")
    try:
        return owners[0].load()
    except Exception as error:
        raise PluginError(
            f"{group[:-1]} {name!r} of package {_package(owners[0])} cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def build(group: Group, name: str, options: Mapping[str, Any], /, **injected: Any) -> Any:
    """Build a plug-in from its options."""
    return construct(f"{group[:-1]} {name!r}", load(group, name), options, **injected)


def construct(title: str, factory: Any, options: Mapping[str, Any], /, **injected: Any) -> Any:
    """Call the class or factory of a plug-in with its options."""
    try:
        return factory(**injected, **options)
    except TypeError as error:
        reason = option_problem(error).replace(f"{getattr(factory, '__name__', '')}.", "")
        hint = _option_hint(factory, options, injected)
        raise ConfigError(f"{title}: {reason}{hint}") from None
    except ValueError as error:
        raise ConfigError(f"{title}: {error}") from None


def option_problem(error: TypeError) -> str:
    """Return what Python says of wrong arguments, in words for the options of a plan."""
    reason = str(error).replace("__init__() ", "")
    reason = re.sub(r"\. Did you mean .*", "", reason)  # hint of Python 3.13
    reason = reason.replace("got an unexpected keyword argument", "no option")
    return re.sub(r"missing \d+ required [\w-]+ arguments?: (.*)", r"needs the option \1", reason)


def _option_hint(factory: Any, options: Mapping[str, Any], injected: Mapping[str, Any]) -> str:
    import inspect

    try:
        parameters = {name for name in inspect.signature(factory).parameters if name not in injected}
    except (TypeError, ValueError):
        return ""
    unknown = [name for name in options if name not in parameters]
    return did_you_mean(unknown[0], parameters) if unknown else ""


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
