"""Select the topic prompts of the Muice protocol, which are tags such as ``<生成推文: AI生活>``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hengwen.errors import ConfigError, did_you_mean

_TAG = re.compile(r"(?:\\?<|&lt;)\s*([^<>:：\\]+?)\s*([:：])\s*([^<>]+?)\s*(?:\\?>|&gt;)")


@dataclass(frozen=True, slots=True)
class Topic:
    """A prompt that asks the persona (the role of the model) to open a conversation on a topic."""

    id: str
    tag: str
    """Tag as the Muice program spells it, with an ASCII colon and a blank."""


POSTS = (
    Topic("post-fancies", "<生成推文: 胡思乱想>"),
    Topic("post-life", "<生成推文: AI生活>"),
    Topic("post-thoughts", "<生成推文: AI思考>"),
    Topic("post-love", "<生成推文: 表达爱意>"),
    Topic("post-advice", "<生成推文: 情感建议>"),
    Topic("post-topic", "<生成推文: 创造话题>"),
)
GREETINGS = (
    Topic("greeting-morning", "<日常问候: 早上>"),
    Topic("greeting-noon", "<日常问候: 中午>"),
    Topic("greeting-evening", "<日常问候: 傍晚>"),
    Topic("greeting-night", "<日常问候: 深夜>"),
)
HOLIDAYS = (Topic("holiday-valentine", "<节日推文: 情人节>"),)
"""Holiday prompt from an example in the Muice document, because the Muice program has no holiday prompt."""
KNOWN_TAGS = frozenset(topic.tag for topic in (*POSTS, *GREETINGS, *HOLIDAYS))


def canonical_tag(text: str) -> str | None:
    """Return a tag as the Muice program spells it; None if the text is not a tag."""
    match = _TAG.fullmatch(text.strip())
    return f"<{match[1]}: {match[3]}>" if match else None


def choose_topics(
    topics: str = "code", subchoice: str = "one", *, seed: int = 0, pick: str | None = None
) -> tuple[Topic, ...]:
    """Return the topic prompts of an imported plan. Runs with different topic prompts are not comparable."""
    _check_choice("topics", topics, ("code", "legacy5"))
    _check_choice("subchoice", subchoice, ("one", "one_of_each"))
    posts = POSTS if topics == "code" else POSTS[:-1]
    if subchoice == "one_of_each":
        return (*posts, _select(GREETINGS, seed, pick), *HOLIDAYS)
    return (*posts, _select((*GREETINGS, *HOLIDAYS), seed, pick))


def _check_choice(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"unknown {option} {value!r}{did_you_mean(value, known)}")


def _select(pool: tuple[Topic, ...], seed: int, pick: str | None) -> Topic:
    if pick is None:
        return pool[seed % len(pool)]
    names = {topic.tag[1:-1].partition(": ")[2]: topic for topic in pool}
    if pick not in names:
        raise ConfigError(f"unknown pick {pick!r}{did_you_mean(pick, names)}")
    return names[pick]
