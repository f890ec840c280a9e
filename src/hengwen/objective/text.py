"""Compute Unicode normal forms in linear time, even for texts with thousands of combining marks in a row.

Python sorts the marks after a letter by insertion, in quadratic time. Long runs of marks are sorted here
first, which does not change the result.
"""

from __future__ import annotations

import re
import threading
import unicodedata
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args

from rapidfuzz.distance import LCSseq

Form = Literal["NFC", "NFKC"]
MAX_EXPANDED = 4_000_000
"""Maximum number of characters of a normal form that is more than twice as long as its text: NFKC makes up
to 18 characters of one."""
_DECOMPOSED: dict[Form, Literal["NFD", "NFKD"]] = {"NFC": "NFD", "NFKC": "NFKD"}
_MAX_RUN = 64
"""Runs of at least this many combining marks are sorted before Python normalises them, which is faster."""
_MAYBE_MARKS = re.compile(
    r"[^\0-\u02ff\u0370-\u0482\u2000-\u20cf\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ufb1d\ufe30-\uff9d]"
    rf"{{{_MAX_RUN},}}"
)
"""Pattern of long stretches that may consist of combining marks; it excludes most characters that are not
marks."""


def normal_form(text: str, form: Form = "NFKC") -> str:
    """Return ``unicodedata.normalize(form, text)``."""
    if form == "NFKC" and len(text) > MAX_EXPANDED // 18:
        expanded = len(text) + 17 * text.count("\ufdfa") + 7 * text.count("\ufdfb")
        if expanded > max(MAX_EXPANDED, 2 * len(text)):
            raise ValueError(f"a text of {len(text):,} characters becomes {expanded:,} in NFKC: too long")
    if _MAYBE_MARKS.search(text):
        text = _runs_of_marks(form).sub(lambda run: _sorted_marks(run[0], form), text)
    return unicodedata.normalize(form, text)


def _sorted_marks(run: str, form: Form) -> str:
    marks = "".join(unicodedata.normalize(_DECOMPOSED[form], mark) for mark in run)
    return "".join(sorted(marks, key=unicodedata.combining))


@cache
def _runs_of_marks(form: Form) -> re.Pattern[str]:
    marks = "".join(char for char in map(chr, range(0x300, 0x1F000)) if _begins_with_mark(char, form))
    return re.compile(f"[{marks}]{{{_MAX_RUN},}}")


def _begins_with_mark(char: str, form: Form) -> bool:
    return unicodedata.combining(unicodedata.normalize(_DECOMPOSED[form], char)[0]) > 0


_PRONOUNS = str.maketrans("妳祂牠", "你他它")
"""Pronouns that OpenCC does not replace, with the pronouns that mainland China uses for them."""
_ZHE = re.compile("(?<![名巨原土显编论遗昭卓专拙译])著(?!名(?![著字单片])|作(?![业文])|称|述)")
"""Pattern of 著 where it must become 着 (everywhere except in words about writing or fame); OpenCC does not
replace it."""
_RARE = re.compile("[\u3400-\u4dbf\U00020000-\U0003ffff]")
_SURROGATES = re.compile("([\ud800-\udfff]+)")


def simplify(text: str) -> str:
    """Return the text in simplified characters; the number of characters does not change."""
    if text.isascii():
        return text
    convert = _converter()
    try:
        simplified = convert(text)
    except UnicodeEncodeError:  # a lone surrogate (half of a character above U+FFFF) has no UTF-8 form
        parts = _SURROGATES.split(text)
        simplified = "".join(part if i % 2 else convert(part) for i, part in enumerate(parts))
    if _RARE.search(simplified):
        pairs = zip(text, simplified, strict=True)
        simplified = "".join(old if _RARE.match(new) and not _RARE.match(old) else new for old, new in pairs)
    return _ZHE.sub("着", simplified.translate(_PRONOUNS))


@cache
def _converter() -> Callable[[str], str]:
    import opencc

    # an absolute path, because OpenCC("t2s") prefers a file t2s.json in the working folder
    config = Path(opencc.__file__).parent / "clib" / "share" / "opencc" / "t2s.json"
    convert: Callable[[str], str] = opencc.OpenCC(str(config)).convert
    return convert


def segment(text: str) -> list[str]:
    """Split a text into words; whitespace and punctuation are kept."""
    words: list[str] = _tokenizer().lcut(text)
    return words


def last_word(run: str) -> str:
    """Return the last word of a run of characters that jieba treats as one block."""
    return segment(run)[-1]


@cache
def _tokenizer() -> Any:
    """Return a jieba tokenizer that parses only the dictionary words that it needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    tokenizer = jieba.Tokenizer()
    with jieba.get_module_res("dict.txt") as lines:
        dictionary = _Dictionary(lines.read().decode("utf-8"))
    # do what Tokenizer.initialize does, but without messages on stderr and a cache file in a shared folder
    tokenizer.FREQ, tokenizer.total = dictionary.frequencies, dictionary.total
    tokenizer.initialized = True
    find_words = tokenizer.get_DAG

    def get_dag(sentence: str) -> Any:
        dictionary.parse_words_of(sentence)
        return find_words(sentence)

    tokenizer.get_DAG = get_dag
    return tokenizer


class _Dictionary:
    """The words of jieba's dictionary with their frequencies."""

    # All words with the same first character are parsed when a text contains this character.

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: dict[str, list[tuple[int, int]]] = {}
        """Begin and end of the dictionary lines that are not parsed yet, by the first character of a line."""
        for lines in re.finditer(r"^(.).*\n?(?:^\1.*\n?)*", text, re.MULTILINE):
            self._spans.setdefault(lines[1], []).append(lines.span())
        self.total = sum(map(int, re.findall(r" (\d+) ", text)))
        """Sum of the frequencies of all words."""
        self.frequencies: dict[str, int] = {}
        """Frequency of each parsed word; 0 for a prefix of a word that is not a word itself."""
        self._lock = threading.Lock()

    def parse_words_of(self, sentence: str) -> None:
        """Parse the words that begin with any character of a sentence; several threads may call this."""
        if self._spans.keys().isdisjoint(sentence):
            return
        with self._lock:
            for char in self._spans.keys() & set(sentence):
                for begin, end in self._spans[char]:
                    self._parse_lines(begin, end)
                del self._spans[char]  # delete this last: it lets other threads skip the lock

    def _parse_lines(self, begin: int, end: int) -> None:
        for line in self._text[begin:end].splitlines():
            word, frequency, *_ = line.split(" ")
            self.frequencies[word] = int(frequency)
            for length in range(1, len(word)):
                self.frequencies.setdefault(word[:length], 0)


Width = Literal["keep", "fold"]
"""``fold`` applies NFKC (Unicode normalisation), which turns full-width letters and punctuation into ASCII;
``keep`` changes nothing."""
BleuTokenizer = Literal["13a", "zh", "char", "intl", "none", "jieba", "ja-mecab", "ko-mecab", "flores200"]
"""sacrebleu's tokenizers, and ``jieba``; ``ja-mecab``, ``ko-mecab`` and ``flores200`` need extra packages."""
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
_UNSPLIT = re.compile(  # characters that sacrebleu's zh does not split: _SYLLABLES, and Han outside the BMP
    rf"[{_SYLLABLES}\u3005-\u3007\U00020000-\U0003ffff](?<![\W_])"
)
_PLAIN_HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
_STOP = (  # whitespace, and punctuation of both widths
    r"\s!-/:-@\[-`{-~\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u3011\u3014-\u301f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_PLAIN = re.compile(f"[{_PLAIN_HAN}{_STOP}]*")
_STOPS = re.compile(f"[{_STOP}]+")
_MIN_CHAR_SHARE = 0.05
"""The tokenizer ``char`` is chosen if ``zh`` leaves this share of the letters or more unsplit."""


def fold_width(text: str, width: Width = "keep") -> str:
    """Return the text normalised by NFKC if ``width`` is ``fold``, otherwise unchanged."""
    return normal_form(text) if width == "fold" else text


def choose_bleu_tokenizer(references: Iterable[str]) -> BleuTokenizer:
    """Return the sacrebleu tokenizer that fits the script of the references."""
    texts = list(references)
    return choose_tokenizer_of_set(lambda: texts)


def choose_tokenizer_of_set(texts: Callable[[], Iterable[str]]) -> BleuTokenizer:
    """Return the sacrebleu tokenizer that fits the script of the texts, which are read one at a time."""
    has_han = has_letter = has_unsplit = False
    for text in texts():
        has_han = has_han or _HAN_LETTER.search(text) is not None
        has_letter = has_letter or has_han or _LETTER.search(text) is not None
        has_unsplit = has_unsplit or _UNSPLIT.search(text) is not None
    if has_unsplit:
        letters = unsplit = 0
        for text in texts():
            letters += len(_LETTER.findall(text))
            unsplit += len(_UNSPLIT.findall(text))
        if unsplit >= _MIN_CHAR_SHARE * letters:
            return "char"
    if has_han:
        return "zh"
    return "13a" if has_letter else "char"


def mixed_tokens(text: str) -> list[str]:
    """Return the lower-case tokens of a text in any script, without punctuation, symbols and emoji."""
    tokens: list[str] = []
    for piece in _mixed().findall(text.lower()):
        if len(piece) > 1 and "\u3400" <= piece[1] <= "\u9fff":  # only runs of Han characters contain these
            tokens.extend(piece)
        else:
            tokens.append(piece)
    return tokens


def mixed_sequence(text: str) -> Sequence[str]:
    """Return the tokens of a text as a list, or as a string in which each character is a token."""
    return _STOPS.sub("", text) if _PLAIN.fullmatch(text) else mixed_tokens(text)


def char_tokens(text: str) -> list[str]:
    """Return all characters except whitespace; punctuation and case are kept."""
    return list("".join(text.split()))


def jieba_tokens(text: str) -> list[str]:
    """Return the lower-case words of a text as segmented by jieba, without punctuation, symbols and emoji."""
    return [word for word in jieba_words(text.lower()) if _LETTER.search(word)]


def jieba_words(text: str) -> list[str]:
    """Return the words and punctuation of a text as segmented by jieba, without whitespace."""
    return [word for word in segment(text) if not word.isspace()]


def split_tokens(split: TokenSplit) -> Callable[[str], Sequence[str]]:
    """Return the tokenizer function for a name of :data:`TOKEN_SPLITS`."""
    tokenizers: dict[str, Callable[[str], Sequence[str]]] = {
        "mixed": mixed_sequence,
        "char": char_tokens,
        "jieba": jieba_tokens,
        "whitespace": str.split,
    }
    if split not in tokenizers:
        raise ValueError(f"tokenize must be auto, {', '.join(tokenizers)}, got {split!r}")
    return tokenizers[split]


@cache
def _marks() -> str:
    """Return all combining marks as ranges for a character class of a regular expression."""
    codes = [
        code
        for code in (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0))
        if unicodedata.category(chr(code))[0] == "M"
    ]
    runs = [[code for _, code in run] for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0])]
    return "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)


@cache
def _mixed() -> re.Pattern[str]:
    """Return a pattern that matches a token, or several adjacent Han characters, each of which is a token."""
    marks, letters = f"[{_marks()}]", f"[^\\W_{_HAN}{_SYLLABLES}]"
    character = f"(?:[{_PLAIN_HAN}]|[{_HAN}{_SYLLABLES}](?<![\\W_]))"
    return re.compile(f"[{_PLAIN_HAN}]+(?!{marks})|{character}{marks}*|{letters}+(?:{marks}+{letters}*)*")


_SMALL = 20_000_000
"""Maximum product of the lengths of the two sequences for which the bit-parallel algorithm is always used."""
_MAX_MATCHES = 5_000_000
"""Maximum number of pairs of equal tokens for the algorithm that visits only such pairs (n log n steps for n
pairs)."""
_MIN_CELLS_PER_MATCH = 1280
"""The algorithm that visits only pairs of equal tokens is used if such pairs are rare: at most one in this
many token pairs is a pair of equal tokens. Otherwise, the bit-parallel algorithm is faster, because it
compares 64 pairs at a time."""
_MAX_BYTE_CELLS, _MAX_WIDE_CELLS = 50_000_000_000, 4_000_000_000
"""Maximum product of the lengths of two texts: the first limit holds for texts that share at most 256
different tokens, the second for all others."""


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two sequences of tokens."""
    if len(a) * len(b) <= _SMALL:
        return LCSseq.similarity(a, b)
    shared = _common_affixes(a, b)
    if shared != (0, 0):
        start, end = shared
        return start + end + lcs_length(a[start : len(a) - end], b[start : len(b) - end])
    counts_a, counts_b = Counter(a), Counter(b)
    common = [token for token in counts_a if token in counts_b]
    matches = sum(counts_a[token] * counts_b[token] for token in common)
    if matches <= min(_MAX_MATCHES, len(a) * len(b) // _MIN_CELLS_PER_MATCH):
        return _by_matches(a, b)
    codes = {token: chr(code) for code, token in enumerate(common)}
    short_a, short_b = ("".join([codes[token] for token in tokens if token in codes]) for tokens in (a, b))
    limit = _MAX_BYTE_CELLS if len(common) <= 256 else _MAX_WIDE_CELLS
    if len(short_a) * len(short_b) > limit:
        raise ValueError(f"texts of {len(a)} and {len(b)} characters or tokens are too long to compare")
    return LCSseq.similarity(short_a, short_b)


def _common_affixes(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Return the length of the common prefix, and the length of the common suffix after that prefix."""
    limit = min(len(a), len(b))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), limit)
    backwards = enumerate(zip(reversed(a), reversed(b), strict=False))
    end = next((i for i, (x, y) in backwards if x != y), limit)
    return start, min(end, limit - start)


def _by_matches(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the LCS length by the Hunt-Szymanski algorithm, which visits only pairs of equal tokens."""
    indices: dict[str, list[int]] = {}
    for index in range(len(b) - 1, -1, -1):
        indices.setdefault(b[index], []).append(index)
    ends: list[int] = []
    for token in a:
        for index in indices.get(token, ()):
            at = bisect_left(ends, index)
            if at == len(ends):
                ends.append(index)
            else:
                ends[at] = index
    return len(ends)
