"""Exemptions: one reader, strict for rules of a plan, lenient for the rules judge."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen import registry
from hengwen.judges.rules.rule import exemptions
from hengwen.records import Sample


@each_row(
    ("metadata", "rules"),
    [
        ({}, set()),
        ({"exempt": []}, set()),
        ({"exempt": ["target_copy", "number"]}, {"target_copy", "number"}),
        ({"exempt_copy": True}, set()),
    ],
)
def test_a_sample_lists_the_rules_that_it_is_exempt_from(metadata, rules):
    assert exemptions(Sample(id="1", metadata=metadata)) == rules


@each_row(
    ("names", "message"),
    [
        ("number", "must be a list of rules, got 'number'"),
        ([1], r"must be a list of rules, got \[1\]"),
        (None, "must be a list of rules, got None"),
        (["nubmer"], "unknown rule 'nubmer'; did you mean 'number'"),
    ],
)
def test_a_malformed_list_is_refused_or_ignored(names, message):
    sample = Sample(id="1", metadata={"exempt": names})
    with pytest.raises(ValueError, match=message):
        exemptions(sample)
    assert exemptions(sample, lenient=True) <= {"nubmer"}


@each_row(
    ("metadata", "rules"),
    [
        ({"exempt_copy": True}, {"target_copy"}),
        ({"exempt_duplicate": True, "exempt": ["number", 3]}, {"near_duplicate", "number"}),
        ({"exempt_copy": "yes"}, set()),
    ],
)
def test_lenient_reading_also_knows_flags(metadata, rules):
    assert exemptions(Sample(id="1", metadata=metadata), lenient=True) == rules


def test_every_registered_rule_can_be_exempted():
    names = registry.known("rules")
    assert exemptions(Sample(id="1", metadata={"exempt": names})) == set(names)
