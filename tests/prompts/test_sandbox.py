"""Templates of plans are bounded in time and memory, whatever they say."""

from __future__ import annotations

import re

import pytest
from rows import each_row

from hengwen.errors import ConfigError
from hengwen.prompts.render import check_template, render_subject_prompt
from hengwen.records import Sample

DOUBLE = "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = STEP %}{% endfor %}"
LONG = "{% set x = 'x' * 100000 %}{% set many = [x] * 1000 %}"
NESTED = (
    "{% set n = namespace(a=(1,), b=(1,)) %}{% for i in range(60) %}{% set n.a = (n.a, n.a) %}{% endfor %}"
)
TWICE = "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}"
HOSTILE = {
    "repeated text": "{{ 'a' * 10**9 }}",
    "repeated by the left": "{{ 10**9 * 'a' }}",
    "repeated twice": "{{ ('a' * 9999) * 9999 }}",
    "power": "{{ 9**9**9 }}",
    "nested ranges": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "nested texts": "{% set x = 'x' * 1000 %}{% for a in x %}{% for b in x %}{% endfor %}{% endfor %}",
    "doubled by ~": DOUBLE.replace("STEP", "n.x ~ n.x"),
    "doubled by +": DOUBLE.replace("STEP", "n.x + n.x"),
    "doubled by join": DOUBLE.replace("STEP", "[n.x, n.x] | join"),
    "doubled by replace": DOUBLE.replace("STEP", "n.x.replace('x', 'xx')"),
    "doubled list": DOUBLE.replace("namespace(x='x')", "namespace(x=[1])").replace("STEP", "n.x + n.x"),
    "endless recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "exponential recursion": TWICE,
    "recursive loop": "{% for a in range(99999) recursive %}{{ loop(range(99999)) }}{% endfor %}",
    "centred": "{{ 'a' | center(10**9) }}",
    "justified": "{{ 'a'.ljust(10**9) }}",
    "filled": "{{ '1'.zfill(999999999) }}",
    "wide format": "{{ '{:1000000000}'.format(1) }}",
    "wide %": "{{ '%1000000000d' % 1 }}",
    "wide % by an argument": "{{ '%*d' % (1000000000, 1) }}",
    "wide format filter": "{{ '%1000000000d' | format(1) }}",
    "slices": "{{ 'abc' | slice(10**9) | list }}",
    "batch": "{{ 'abc' | batch(10**9, 'x') | list }}",
    "indented": "{{ 'a' | indent(10**9, true) }}",
    "lorem ipsum": "{{ lipsum(n=10**6) }}",
    "indented lines": "{{ ('a\n' * 100000) | indent(100000) }}",
    "replaced by a long text": "{{ ('a' * 100000) | replace('a', 'b' * 100000) }}",
    "replaced by a method": "{{ ('a' * 100000).replace('a', 'b' * 100000) }}",
    "translated": "{{ ('a' * 100000).translate({97: 'b' * 100000}) }}",
    "wide tabs": "{{ ('\t' * 100000).expandtabs(100000) }}",
    "wrapped": "{{ ('a ' * 100000) | wordwrap(1, wrapstring='b' * 100000) }}",
    "formatted copies": "{% set x = 'x' * 100000 %}{{ ('{0}' * 100000).format(x) }}",
    "formatted by %": "{% set x = 'x' * 100000 %}{{ ('%(x)s' * 100000) % {'x': x} }}",
    "joined copies": LONG + "{{ (many * 100) | join | length }}",
    "joined by a method": LONG + "{{ ''.join(many * 100) | length }}",
    "joined capitals": LONG + "{{ (many * 100) | map('upper') | join | length }}",
    "listed capitals": LONG + "{{ (many * 100) | map('upper') | list | length }}",
    "printed copies": LONG + "{{ many * 100 }}",
    "copies as JSON": LONG + "{{ (many * 100) | tojson | length }}",
    "indented JSON": "{{ (range(100000) | list) | tojson(indent=100000) | length }}",
    "copies as a text": LONG + "{{ (many * 100) ~ '' }}",
    "copies in a dict": "{% set x = 'x' * 100000 %}{{ dict.fromkeys(range(99999), x) }}",
    "added lists": "{% set x = range(10000) | list %}{{ ([x] * 10000) | sum(start=[]) | length }}",
    "kept in a block": LONG + "{% set y %}{% for i in range(20000) %}{{ x }}{% endfor %}{% endset %}",
    "kept text of a block": "{% set y %}{% for i in range(20000) %}"
    + "x" * 99999
    + "{% endfor %}{% endset %}",
    "printed by a macro": LONG
    + "{% macro f() %}{% for i in many %}{{ x }}{% endfor %}{% endmacro %}{{ f() }}",
    "nested lists": NESTED + "{{ n.a }}",
    "compared nested lists": NESTED + NESTED.partition("%}")[2].replace("n.a", "n.b") + "{{ n.a == n.b }}",
    "nested lists as a key": NESTED + "{{ {}[n.a] }}",
    "a list in itself": "{% set x = [1] %}{{ x.append(x) }}{{ x.extend(x * 9) }}{{ x }}",
    "a namespace in itself": "{% set n = namespace() %}{% set n.n = n %}{{ [n] * 50000 }}",
    "squared number": DOUBLE.replace("x='x'", "x=10").replace("STEP", "n.x * n.x"),
    "sliced often": "{% set x = 'x' * 999999 %}{% for i in range(9999) %}{% set y = x[1:] %}{% endfor %}",
    "found often": LONG + "{% for i in range(9999) %}{% if x ~ 'y' in many %}{% endif %}{% endfor %}",
    "tested often": LONG + "{% for i in range(9999) %}{% if x is in many %}{% endif %}{% endfor %}",
    "sorted often": LONG + "{% for i in range(9999) %}{% set y = many | sort %}{% endfor %}",
    "long join": "{{ ('x' * 9999) | list | join('y' * 9999) }}",
    "printed often": "{% set x = 'x' * 9999 %}{% for a in range(9999) %}{{ x }}{% endfor %}",
    "brackets": "{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}",
    "attributes": "{{ ''.__class__ }}",
}


def rendered(template: str) -> str:
    check_template(template)
    return render_subject_prompt(None, template, Sample(id="s", input="in"))[-1][1]


@pytest.mark.slow
@each_row("kind", HOSTILE)
def test_a_hostile_template_is_refused(kind: str) -> None:
    with pytest.raises(ConfigError, match="prompt template[:,] "):
        rendered(HOSTILE[kind])


def test_what_prompts_need_is_allowed() -> None:
    assert rendered("{{ input | truncate(20000) }}") == "in"
    assert rendered("{% for x in range(3) %}{{ x }},{% endfor %}") == "0,1,2,"
    assert rendered("{{ '%05.1f' % 3 }} {{ 'a' | upper }} {{ 'ab' | center(4) }}|") == "003.0 A  ab |"
    assert rendered("{{ missing | default('-') }}{{ missing is defined }}") == "-False"
    assert rendered("{% set a, b = (1, [2, 3]) %}{{ b[a:] }}{{ {'k': a}['k'] }}{{ 2 in b }}") == "[3]1True"
    assert rendered("{{ {'k': [1, 2]} | tojson(indent=2) }}".replace("2)", "1)")).count("\n") == 5
    assert rendered("{{ ', '.join(['a', 'b']) }} {{ '{}-{}'.format(1, 'b') }} {{ 'a b'.split() }}") == (
        "a, b 1-b ['a', 'b']"
    )
    assert rendered("{% macro f(n) %}{{ n.x }}{% endmacro %}{{ f(namespace(x=5)) }}") == "5"
    assert len(rendered("{{ ('ab ' * 99999).replace('b', 'c') | upper | trim }}")) == 3 * 99999 - 1
    assert len(rendered("{% for x in range(9999) %}{{ input }}{% endfor %}")) == 2 * 9999


@each_row(
    ("template", "message"),
    [
        ("{{ 'abc' | truncate(2) }}", "sample 's': prompt template: expected length >= 3, got 2"),
        ("{{ 3 | dictsort }}", "sample 's': prompt template: 'int' object has no attribute 'items'"),
        ("{{ cycler() }}", "sample 's': prompt template: at least one item has to be provided"),
        ("{% set x = {[]: 1} %}", "prompt template: unhashable type: 'list'"),
    ],
)
def test_what_a_filter_raises_is_an_error_of_the_template(template: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}"):
        rendered(template)
