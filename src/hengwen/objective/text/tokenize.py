"""Texts to tokens, by script: nothing is lost because a tokenizer was made for another language."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Width = Literal["keep", "fold"]
"""``fold`` is NFKC: full-width letters and punctuation become the usual ones."""
BleuTokenizer = Literal["13a", "zh", "char", "intl", "none", "jieba"]
BLEU_TOKENIZERS: tuple[BleuTokenizer, ...] = get_args(BleuTokenizer)
TokenSplit = Literal["mixed", "char", "jieba", "whitespace"]
TOKEN_SPLITS: tuple[TokenSplit, ...] = get_args(TokenSplit)

_HAN = r"\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SYLLABLES = (  # bopomofo, kana, Hangul, Thai, Lao, Burmese, Khmer: no spaces between words, or long words
    r"\u3105-\u312f\u31a0-\u31bf\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    r"\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7fb\uffa1-\uffdc"
    r"\u0e01-\u0e4e\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3"
)
_LETTER = re.compile(r"[^\W_]")
_HAN_LETTER = re.compile(f"[{_HAN}]")
_UNSPLIT = re.compile(  # what sacrebleu's zh leaves in one piece: the above, and Han beyond the first plane
    rf"[{_SYLLABLES}\u3005-\u3007\U00020000-\U0003ffff](?<![\W_])"
)
_PLAIN_HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
_STOP = (  # whitespace and the usual punctuation of both widths
    r"\s!-/:-@\[-`{-~\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u3011\u3014-\u301f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_PLAIN = re.compile(f"[{_PLAIN_HAN}{_STOP}]*")
_STOPS = re.compile(f"[{_STOP}]+")
_CHAR_FROM = 0.05
"""Share of letters that zh does not split from which a character is a token."""


def fold_width(text: str, width: Width = "keep") -> str:
    """Return the text, with ``fold`` after NFKC.

    Examples:
        >>> fold_width("你好，ＡＢＣ１！", "fold")
        '你好,ABC1!'
    """
    return unicodedata.normalize("NFKC", text) if width == "fold" else text


def choose_bleu_tokenizer(references: Iterable[str]) -> BleuTokenizer:
    """Return the tokenizer of sacrebleu that suits the references.

    ``char`` where at least one letter in twenty is kana, Hangul, Thai, Lao, Burmese, Khmer or Han beyond the
    first plane, which ``zh`` does not split, or where there is no letter or digit at all (emoji); else ``zh``
    where there is any Han character; else ``13a``.

    Examples:
        >>> choose_bleu_tokenizer(["我爱 rock", "の"]), choose_bleu_tokenizer(["the cat", "chat"])
        ('char', '13a')
        >>> choose_bleu_tokenizer(["我爱摇滚"]), choose_bleu_tokenizer(["ありがとう"])
        ('zh', 'char')
    """
    text = "".join(references)
    if _UNSPLIT.search(text):
        letters = len(_LETTER.findall(text))
        if len(_UNSPLIT.findall(text)) >= _CHAR_FROM * letters:
            return "char"
    if _HAN_LETTER.search(text):
        return "zh"
    return "13a" if _LETTER.search(text) else "char"


def mixed_tokens(text: str) -> list[str]:
    """Return the tokens of a text of any script, in lower case, without punctuation, symbols and emoji.

    A character of a script that is written without spaces (Han, kana, Hangul, Thai, Lao, Burmese, Khmer) is a
    token with its marks; elsewhere a run of letters, marks and digits is. On ASCII this is what rouge-score
    does.

    Examples:
        >>> mixed_tokens("我爱 Rock2024_x，don't!")
        ['我', '爱', 'rock2024', 'x', 'don', 't']
        >>> mixed_tokens("naïve हिन्दी 한국"), mixed_tokens("！？😊")
        (['naïve', 'हिन्दी', '한', '국'], [])
    """
    found: list[str] = _mixed().findall(text.lower())
    return found


def mixed_sequence(text: str) -> Sequence[str]:
    """Return :func:`mixed_tokens`, as one string where each token is one character: it is quicker to compare.

    Examples:
        >>> mixed_sequence("你好，世界！"), mixed_sequence("OK，你好")
        ('你好世界', ['ok', '你', '好'])
    """
    return _STOPS.sub("", text) if _PLAIN.fullmatch(text) else mixed_tokens(text)


def char_tokens(text: str) -> list[str]:
    """Return all characters but whitespace; punctuation counts, case too.

    Examples:
        >>> char_tokens("我 OK！")
        ['我', 'O', 'K', '！']
    """
    return list("".join(text.split()))


def jieba_tokens(text: str) -> list[str]:
    """Return the words that jieba finds, in lower case, without punctuation, symbols and emoji.

    Examples:
        >>> jieba_tokens("我喜欢听音乐，OK！")
        ['我', '喜欢', '听', '音乐', 'ok']
    """
    return [word for word in jieba_words(text.lower()) if _LETTER.search(word)]


def jieba_words(text: str) -> list[str]:
    """Return the pieces that jieba cuts a text into, without whitespace."""
    from hengwen.objective.text.jieba_words import (
        _tokenizer,  # our own dictionary: a user's words move no score
    )

    return [word for word in _tokenizer().lcut(text) if not word.isspace()]


def split_tokens(split: TokenSplit) -> Callable[[str], Sequence[str]]:
    """Return the function behind a name of :data:`TOKEN_SPLITS`.

    Raises:
        ValueError: The name is unknown.

    Examples:
        >>> split_tokens("whitespace")("a  B.")
        ['a', 'B.']
    """
    found: dict[str, Callable[[str], Sequence[str]]] = {
        "mixed": mixed_sequence,
        "char": char_tokens,
        "jieba": jieba_tokens,
        "whitespace": str.split,
    }
    if split not in found:
        raise ValueError(f"tokenize must be auto, {', '.join(found)}, got {split!r}")
    return found[split]


@cache
def _marks() -> str:
    """Combining marks as ranges of a character class."""
    codes = [
        c
        for c in (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0))
        if unicodedata.category(chr(c))[0] == "M"
    ]
    runs = [[c for _, c in run] for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0])]
    return "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)


@cache
def _mixed() -> re.Pattern[str]:
    marks, letters = f"[{_marks()}]", f"[^\\W_{_HAN}{_SYLLABLES}]"
    one = f"(?:[{_PLAIN_HAN}]|[{_HAN}{_SYLLABLES}](?<![\\W_]))"
    return re.compile(f"{one}{marks}*|{letters}+(?:{marks}+{letters}*)*")
