"""The scorer against a slow and obvious one, written from the rules' text, and its properties."""

from __future__ import annotations

import difflib
import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective import rhyme_class, score_lyric, to_msstr

pytestmark = pytest.mark.slow

NAMES = ("verse", "chorus", "bridge", "intro", "interlude")
FILLER = "天"
ENDS = "沙波歌月诗耳溪水海湖雨秋桥山春风空"
"""One character for each class but the one of 窗, in which rhymes are made."""

Plan = list[tuple[str, list[tuple[int, bool]]]]
"""(name, [(characters, whether the line rhymes)])."""


def is_han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"


def oracle_sections(text: str, is_lyric: bool) -> list[tuple[str, list[dict[str, object]]]]:
    sections: list[tuple[str, list[dict[str, object]]]] = [("", [])]
    for line in (raw.strip() for raw in text.splitlines()):
        if re.fullmatch(r"\([\w-]+\)", line):
            folded = line[1:-1].casefold()
            name = re.sub(r"\d+$", "", folded).rstrip("-_") or folded
            sections.append((name, [{"text": line, "tag": True}]))
        elif line:
            sections[-1][1].append({"text": line, "tag": False})
    if is_lyric:
        for _, rows in sections:
            lines = [row for row in rows if not row["tag"]]
            codes = Counter(rhyme_class(str(row["text"])) for row in lines)
            for row in lines:
                row["text"] = oracle_simplify(str(row["text"]), codes)
    return [(name, rows) for name, rows in sections if rows]


def oracle_simplify(line: str, codes: Counter[str | None]) -> str:
    signs = ["\ufffd" if char in "cR" else "c" if is_han(char) else char for char in line]
    indices = [index for index, char in enumerate(line) if is_han(char)]
    if indices and codes[rhyme_class(line)] > 1:
        signs[indices[-1]] = "R"
    return "".join(signs)


def oracle(lyric: str, template: str) -> dict[str, float]:
    template_sections, lyric_sections = oracle_sections(template, False), oracle_sections(lyric, True)
    texts = [
        "\n".join(str(row["text"]) for _, rows in side for row in rows)
        for side in (template_sections, lyric_sections)
    ]
    p1 = difflib.SequenceMatcher(None, texts[0], texts[1], False).ratio()
    names = difflib.SequenceMatcher(
        None, [n for n, _ in template_sections], [n for n, _ in lyric_sections], False
    )
    minimum = both = required = rhymed = parallel = 0
    product = 1.0
    for i, j, size in names.get_matching_blocks():
        for step in range(size):
            left = [str(row["text"]) for row in template_sections[i + step][1] if not row["tag"]]
            right = [str(row["text"]) for row in lyric_sections[j + step][1] if not row["tag"]]
            minimum += min(len(left), len(right))
            both += len(left) + len(right)
            for template_line, lyric_line in zip(left, right, strict=False):
                o, e = (line.count("c") + line.count("R") for line in (template_line, lyric_line))
                product *= 2 * min(o, e) / (o + e) if o + e else 1
                required += "R" in template_line
                rhymed += "R" in lyric_line
                parallel += "R" in template_line and "R" in lyric_line
    p2_2 = 2 * minimum / both if both else 1.0
    p4 = 2 * min(required, rhymed) / (required + rhymed) if required + rhymed else 1.0
    r = rhymed / minimum if minimum else 0.0
    bonus = 1.0 if 0.6 <= r <= 0.8 else 0.5 if parallel == required == rhymed > 0 else 0.0
    am = names.ratio() * p2_2
    return {
        "phase1": 10 * p1,
        "phase2_1": 32.5 * names.ratio(),
        "phase2_2": 17.5 * am,
        "phase3": 20 * product * am,
        "phase4": 20 * p4 * am,
        "extra": 10 * bonus * am,
    }


def random_text(chance: random.Random, is_lyric: bool) -> str:
    rows = []
    for _ in range(chance.randrange(1, 30)):
        kind = chance.random()
        if kind < 0.25:
            rows.append(chance.choice(["({})", "({}2)", " ({}) "]).format(chance.choice(NAMES)))
        elif kind < 0.3:
            rows.append(chance.choice(["", "  ", "(oh) yeah", "（啊）", "(verse 1)"]))
        elif is_lyric:
            rows.append("".join(chance.choices(f"{ENDS}{FILLER}的了着,cR ", k=chance.randrange(1, 9))))
        else:
            rows.append("c" * chance.randrange(8) + chance.choice(["R", "c", " c"]))
    return "\n".join(rows)


def test_random_texts_score_as_the_rules_say() -> None:
    chance = random.Random(3)
    for _ in range(150):
        lyric, template = random_text(chance, True), random_text(chance, False)
        if not template.strip():
            continue
        score = score_lyric(lyric, template).as_dict()
        for name, value in oracle(lyric, template).items():
            assert score[name] == pytest.approx(value, abs=1e-9), (name, lyric, template)


def plans(most_lines: int = 12) -> st.SearchStrategy[Plan]:
    line = st.tuples(st.integers(1, 9), st.booleans())
    return st.lists(
        st.tuples(st.sampled_from(NAMES), st.lists(line, min_size=1, max_size=most_lines)),
        min_size=1,
        max_size=4,
    )


def template_of(plan: Plan) -> str:
    return "\n".join(
        row
        for name, lines in plan
        for row in (f"({name})", *("c" * (size - 1) + ("R" if rhyme else "c") for size, rhyme in lines))
    )


def lyric_of(plan: Plan) -> str:
    """Return a lyric that keeps to the plan: rhymes end on 窗, each other line in a class of its own."""
    rows = []
    for name, lines in plan:
        ends = iter(ENDS)
        rows.append(f"({name})")
        rows += [FILLER * (size - 1) + ("窗" if rhyme else next(ends)) for size, rhyme in lines]
    return "\n".join(rows)


def without_lonely_rhymes(plan: Plan) -> Plan:
    return [
        (name, [(size, rhyme and sum(r for _, r in lines) > 1) for size, rhyme in lines])
        for name, lines in plan
    ]


@settings(deadline=None, max_examples=80)
@given(plans())
def test_a_perfect_lyric_is_100_and_the_bonus_of_its_rhyme_share(plan: Plan) -> None:
    plan = without_lonely_rhymes(plan)
    rhymes = [rhyme for _, lines in plan for _, rhyme in lines]
    share = sum(rhymes) / len(rhymes)
    bonus = 10.0 if 0.6 <= share <= 0.8 else 5.0 if any(rhymes) else 0.0
    score = score_lyric(lyric_of(plan), template_of(plan))
    assert score.base == pytest.approx(100.0, abs=1e-9)
    assert score.bonus == bonus


@settings(deadline=None, max_examples=80)
@given(plans())
def test_a_lyric_made_into_a_template_is_met_by_itself(plan: Plan) -> None:
    lyric = lyric_of(without_lonely_rhymes(plan))
    assert to_msstr(lyric) == to_msstr(lyric, clean=True) == template_of(without_lonely_rhymes(plan))


@settings(deadline=None, max_examples=80)
@given(plans())
def test_a_template_that_is_given_back_gets_at_most_60(plan: Plan) -> None:
    plan[0][1][0] = (plan[0][1][0][0], True)
    assert score_lyric(template_of(plan), template_of(plan)).total <= 60


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 12), st.lists(st.integers(0, 24), min_size=2, max_size=5))
def test_the_ratio_of_lines_falls_with_the_distance_on_each_side(
    template_sections: int, counts: list[int]
) -> None:
    def ratio(count: int) -> float:
        return score_lyric("(verse)\n" + "天\n" * count, "(verse)\n" + "c\n" * template_sections).p2_2_cr

    below = [ratio(count) for count in sorted(count for count in counts if count <= template_sections)]
    above = [ratio(count) for count in sorted(count for count in counts if count >= template_sections)]
    assert below == sorted(below)
    assert above == sorted(above, reverse=True)
    assert ratio(template_sections) == 1.0


messy = st.text(st.sampled_from("cR()[]（）verse1 \n\r\t\u2028\u3000月亮天了乐,*#`:\ud800ß"), max_size=120)


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(st.text(max_size=80), messy),
    st.one_of(st.text(max_size=80), messy),
    st.sampled_from(["document", "muchin"]),
    st.sampled_from(["exact", "lenient"]),
    st.booleans(),
)
def test_any_two_strings_give_0_to_110_or_say_why(
    lyric: str, template: str, rules: str, parse: str, carry: bool
) -> None:
    try:
        score = score_lyric(lyric, template, rules=rules, parse=parse, carry_phase1=carry)
    except ValueError as error:
        if "the template is empty" not in str(error):
            raise
        return
    assert 0 <= score.total <= 110 + 1e-9
    assert score.explain()


@each_row("rules", ["document", "muchin"])
def test_texts_of_ten_thousand_characters_are_scored(rules: str) -> None:
    chance = random.Random(8)
    for alphabet in ("(verse)\ncR", "月天窗\n", "(a)月c\n ", "".join(map(chr, range(32, 1200)))):
        lyric, template = ("".join(chance.choices(alphabet, k=10_000)) for _ in "ab")
        assert 0 <= score_lyric(lyric, template, rules=rules).total <= 110
