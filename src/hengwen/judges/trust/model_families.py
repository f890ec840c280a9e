"""Map a model name to its vendor family, because judges tend to favour text of their own family.

A distilled model may belong to two families (``DeepSeek-R1-Distill-Qwen-7B``), others to none.
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
"""Words that identify a family in a model name; digits may follow a word (``qwen2``).

Words that are also common in checkpoint names, such as ``step`` and ``seed``, are not in the list.
"""


def families_of(model: str) -> frozenset[str]:
    """Return the vendor families that a model name shows: none, one or several."""
    name = model.rstrip("/").rpartition("/")[2].casefold()
    words = set(re.findall(r"[a-z]+[0-9]?|[0-9]+", name))
    words |= {word.rstrip("0123456789") for word in words}
    return frozenset(family for family, known_words in FAMILIES.items() if words & set(known_words))


def same_family(judge: str, target: str) -> frozenset[str]:
    """Return the vendor families to which both models belong."""
    return families_of(judge) & families_of(target)


def same_family_warning(judge: str, target: str) -> str:
    """Return a warning if a judge and the judged model share a vendor family, else an empty string."""
    shared = ", ".join(sorted(same_family(judge, target)))
    if not shared:
        return ""
    return (
        f"{judge} and {target} are both of the {shared} family: judges tend to favour their own family; "
        "compare with human labels or use a judge of another family"
    )
