"""Which makers' models a name belongs to: judges tend to favour text of their own family.

The table knows names as their makers write them. A model trained on the output of another belongs to both,
where its name says so (``DeepSeek-R1-Distill-Qwen-7B``). A name that tells nothing belongs to none, and
nothing is claimed of it.
"""

from __future__ import annotations

import re

FAMILIES: dict[str, tuple[str, ...]] = {
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4", "codex", "davinci"),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma", "palm"),
    "meta": ("llama", "codellama"),
    "qwen": ("qwen", "qwq", "qvq", "tongyi"),
    "deepseek": ("deepseek",),
    "zhipu": ("glm", "chatglm", "codegeex"),
    "mistral": ("mistral", "mixtral", "ministral", "magistral"),
    "yi": ("yi",),
    "baichuan": ("baichuan",),
    "internlm": ("internlm",),
    "baidu": ("ernie",),
    "bytedance": ("doubao",),
    "moonshot": ("kimi", "moonshot"),
    "tencent": ("hunyuan",),
    "minimax": ("minimax", "abab"),
    "microsoft": ("phi", "wizardlm"),
    "xai": ("grok",),
    "cohere": ("cohere", "aya"),
    "rwkv": ("rwkv",),
    "stepfun": ("stepfun",),
}
"""Family -> the words by which its models are known; a word may be followed by digits (``qwen2``).

Words that checkpoints are named by as well (``step``, ``seed``) are not among them.
"""


def families_of(model: str) -> frozenset[str]:
    """Return the families that a model's name tells, of none, one or several.

    Args:
        model: As plans and servers name it; what stands before a slash is passed over.

    Examples:
        >>> sorted(families_of("openai/gpt-4o-mini")), sorted(families_of("DeepSeek-R1-Distill-Qwen-7B"))
        (['openai'], ['deepseek', 'qwen'])
        >>> sorted(families_of("openai/my-finetune")), sorted(families_of("Qwen/Qwen2.5-7B-Instruct"))
        ([], ['qwen'])
    """
    name = model.rstrip("/").rpartition("/")[2].casefold()
    words = re.findall(r"[a-z]+[0-9]?|[0-9]+", name)
    found = set(words) | {word.rstrip("0123456789") for word in words}
    return frozenset(family for family, known in FAMILIES.items() if found & set(known))


def same_family(judge: str, generator: str) -> frozenset[str]:
    """Return the families that two models share.

    Args:
        judge: A model's name.
        generator: Another one's.

    Examples:
        >>> sorted(same_family("gpt-4o", "gpt-4.1-mini")), sorted(same_family("gpt-4o", "glm-4"))
        (['openai'], [])
    """
    return families_of(judge) & families_of(generator)


def same_family_warning(judge: str, generator: str) -> str:
    """Return a warning where a judge weighs answers of its own family; else nothing.

    Args:
        judge: A model's name.
        generator: The one that answers.

    Examples:
        >>> same_family_warning("gpt-4o", "gpt-4.1")[:54]
        'gpt-4o and gpt-4.1 are both of the openai family: judg'
        >>> same_family_warning("gpt-4o", "glm-4")
        ''
    """
    shared = ", ".join(sorted(same_family(judge, generator)))
    if not shared:
        return ""
    return (
        f"{judge} and {generator} are both of the {shared} family: judges tend to favour their own; compare "
        "with human labels, or take a judge of another family"
    )
