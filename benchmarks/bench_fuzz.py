"""Time every scorer, rule and judge of rules on hostile texts of 100,000 and 1,000,000 characters.

    nice .venv/bin/python benchmarks/bench_fuzz.py [--sizes 100000 1000000] [--only lyric rouge]

Each case runs in a process of its own with 4 GB of address space. A case that ends with a failure that states
a limit counts as refused. Targets: the time grows like n log n (at most 16 times for ten times the size), and
each case ends within 60 s of CPU time.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import resource
import time
from typing import TYPE_CHECKING, Any

from harness.figures import Figure, Problem, print_entries, script_parser

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

    from harness.figures import Entry

MEMORY = 4 << 30
MAX_SECONDS = 60
MAX_CPU = 4 * MAX_SECONDS
"""Seconds of CPU time after which a case is killed."""
MAX_GROWTH = 16.0
SHORTEST = 0.05
"""Seconds below which a growth is noise."""
_HAN = [chr(code) for code in range(0x4E00, 0x9FA6)]


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _random(alphabet: str | list[str]) -> Callable[[int], str]:
    return lambda size: "".join(random.Random(size).choices(alphabet, k=size))


def _lines(text: str) -> str:
    return "\n".join(text[start : start + 7] for start in range(0, len(text), 8))


TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": _repeated("a"),
    "one character": _repeated("月"),
    "random Han": _random(_HAN),
    "two letters": _random("ab"),
    "twelve letters and spaces": _random("abcdefghijkl "),
    "lines of Han": lambda size: _lines(_random(_HAN)(size)),
    "equal lines": _repeated("今晚的月亮很圆\n"),
    "empty lines": _repeated("\n"),
    "blanks": _repeated(" "),
    "brackets": _repeated("[(（【{"),
    "closing": _repeated("</think>"),
    "open think": _repeated("<think>"),
    "markup": _repeated("# *`_~|> - 1. "),
    "numbers": _repeated("1,234.5e6 三千五百万零一"),
    "particles": _repeated("啊呀呢嘛吧哦喵的说"),
    "sections": _repeated("(verse)\n月亮\n(chorus)\n星星\n"),
    "syllables": _repeated("RRRR;RRR,\n"),
    "JSON": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "quotes": _repeated("“”\"'「」"),
    "combining": _repeated("a\u0301\u0302"),
    "emoji": _repeated("👩‍👩‍👧‍👦🏳️‍🌈"),
    "expanding": _repeated("\ufdfa"),
}
"""A row is a kind of text; NFKC makes 18 characters of each character of the last."""
OPTIONS: dict[str, dict[str, Any]] = {
    "contains": {"words": ["月亮", "zzz"]},
    "regex": {"pattern": "(a|b)+c"},
    "length": {"most": 100},
}


def _cases() -> dict[str, Callable[[str, str], object]]:
    """Return, for each evaluator, a function of a text and another text of the same kind."""
    from hengwen import registry
    from hengwen.judges.rules.judge import RulesJudge
    from hengwen.judges.rules.rule import RuleInput
    from hengwen.prompts import load_rubric
    from hengwen.records import Response, Sample

    def sample(other: str) -> Sample:
        metadata = {"template": other, "number": 7}
        return Sample(id="1", input=other, references=(other,), metadata=metadata)

    def answer(text: str, repeat: int = 1) -> Response:
        return Response(sample_id="1", text=text, repeat=repeat)

    def scored(scorer: Any) -> Callable[[str, str], object]:
        if hasattr(scorer, "score"):
            return lambda text, other: scorer.score(sample(other), answer(text))
        return lambda text, other: scorer.score_set(
            [(sample(other), answer(text)), (sample(other), answer(other, 2))]
        )

    def ruled(rule: Any) -> Callable[[str, str], object]:
        return lambda text, other: rule.evaluate(
            RuleInput(sample=sample(other), response=answer(text), earlier=[answer(other)])
        )

    judge = RulesJudge(rubric=load_rubric("persona_generic"))
    cases: dict[str, Callable[[str, str], object]] = {
        "judge rules": lambda text, other: asyncio.run(judge.judge(sample(other), answer(text)))
    }
    for group, wrap in (("scorers", scored), ("rules", ruled)):
        for name in registry.BUILTINS[group]:
            if name != "leakage":  # its time is that of its index, which the corpus decides
                cases[f"{group[:-1]} {name}"] = wrap(registry.build(group, name, OPTIONS.get(name, {})))
    return cases


def _run(case: Callable[[str, str], object], text: str, other: str, answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU, MAX_CPU))
    begin = time.process_time()
    try:
        case(text, other)
        outcome = ""
    except ValueError as error:
        outcome = f"refused: {str(error)[:80]}"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {str(error)[:80]}"
    answer.send((time.process_time() - begin, outcome))


def measure(case: Callable[[str, str], object], kind: str, size: int) -> tuple[float, str]:
    """Return the seconds of CPU time of a case, and what it was refused for."""
    make = TEXTS[kind]
    text = make(size)
    other = text[: size // 3] + text[size // 2 :] + text[: size // 6]
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(case, text, other, sender))
    process.start()
    sender.close()
    try:
        seconds, outcome = receiver.recv()
    except EOFError:
        seconds, outcome = float(MAX_CPU), f"no answer in {MAX_CPU} s of CPU time"
    process.join()
    return seconds, outcome


def figures(options: argparse.Namespace) -> Iterator[Entry]:
    """Measure the slowest text and the largest growth of each evaluator."""
    for name, case in _cases().items():
        if options.only and name.split()[1] not in options.only:
            continue
        times: dict[str, list[float]] = {}
        for kind in TEXTS:
            for size in options.sizes:
                seconds, outcome = measure(case, kind, size)
                times.setdefault(kind, []).append(seconds)
                if outcome and not outcome.startswith("refused"):
                    yield Problem(case=f"{name}: {kind}, {size:,}", system="", message=outcome)
        for index, size in enumerate(options.sizes):
            kind = max(times, key=lambda kind: times[kind][index])
            case = f"{name}: {size:,} of {kind!r}"
            yield Figure(case=case, value=times[kind][index], unit="s", high=MAX_SECONDS)
        growths = {kind: many[-1] / max(many[0], SHORTEST) for kind, many in times.items()}
        kind = max(growths, key=lambda kind: growths[kind])
        yield Figure(case=f"{name}: growth at {kind!r}", value=growths[kind], unit="times", high=MAX_GROWTH)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--only", nargs="+", default=())
    options = parser.parse_args()
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()
