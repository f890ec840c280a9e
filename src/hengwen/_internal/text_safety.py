"""Make text from outside safe to store and to send."""

from __future__ import annotations


def replace_surrogates(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates by U+FFFD: UTF-8 cannot encode them.

    Examples:
        >>> replace_surrogates("a\\ud800b")
        'a\ufffdb'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
