"""Templates of plans are bounded in time and memory, whatever they say."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.errors import ConfigError
from hengwen.prompts.render import check_template, render_subject_prompt
from hengwen.records import Sample

DOUBLE = "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = STEP %}{% endfor %}"
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
    with pytest.raises(ConfigError, match="prompt template: "):
        rendered(HOSTILE[kind])


def test_what_prompts_need_is_allowed() -> None:
    assert rendered("{{ input | truncate(20000) }}") == "in"
    assert rendered("{% for x in range(3) %}{{ x }},{% endfor %}") == "0,1,2,"
    assert rendered("{{ '%05.1f' % 3 }} {{ 'a' | upper }} {{ 'ab' | center(4) }}|") == "003.0 A  ab |"
    assert len(rendered("{% for x in range(9999) %}{{ input }}{% endfor %}")) == 2 * 9999
