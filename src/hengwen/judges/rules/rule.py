"""What a rule is: it detects one thing in an answer, scores it, and may cap the level that a judge gave.

A rule decides what can be decided without a model. Its result is a code score of its own, a sentence that the
judge is shown (it never quotes the answer and holds no threshold, so that a threshold can move without a new
verdict), and possibly a cap. A cap is a share of the judge's scale: 0.5 is its middle, 0 its low end; if the
scale has levels, a cap between two of them is the lower one.

``hengwen.registry`` lists the rules: ``BUILTINS["rules"]`` and the entry point group ``hengwen.rules``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from hengwen.records import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.rules.input import RuleInput

RULE_TAG = "|rule:cap|"
"""Part of the signature of every code score of a rule; reports do not repeat such a score as a headline."""
PASS_SCALE = Scale(low=0, high=1, levels=(0, 1))
"""1 if the answer passes the rule."""
FAIL_SCALE = Scale(low=0, high=1, levels=(0, 1), higher_is_better=False)
"""1 if the answer has the fault."""
LOWER_BETTER = Scale(low=0, high=1, higher_is_better=False)
"""A share of which less is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """Result of one rule for one answer."""

    value: float | None
    """Value of the code score; None if the rule does not apply."""
    en: str
    zh: str
    """Sentence for the judge, in its language; if the rule does not apply, the cause."""
    judge_note: tuple[str, str] = ("", "")
    """Addition to the sentence that only the judge is shown, in English and Chinese."""
    visible_to_judge: bool = True
    """Whether the judge is shown the sentence."""
    reason: str = ""
    """Reason of the code score, which may quote the answer; default: ``en``."""
    cap: float | None = None
    """The best share of the scale that remains possible; None: no cap."""
    extra_caps: Mapping[float, float | None] = field(default_factory=dict)
    """The cap at each of the rule's extra thresholds."""
    flags: tuple[str, ...] = ()
    """Marks for the reader of a report, such as ``leak_suspect``."""
    details: Mapping[str, Any] = field(default_factory=dict)


class Rule(Protocol):
    """A rule beside a judge; its fields are its options in a plan.

    A rule may also have ``check_sample`` (see ``hengwen.protocols.SampleValidator``), which is called for
    each sample before any call is made.
    """

    @property
    def name(self) -> str:
        """Name in plans and in ``metadata.exempt``."""
        ...

    @property
    def score_name(self) -> str:
        """Name of its code score."""
        ...

    @property
    def scale(self) -> Scale:
        """Scale of its code score."""
        ...

    @property
    def extra_thresholds(self) -> Sequence[float]:
        """Other thresholds at which the final score is given as well."""
        ...

    @property
    def evidence_signature(self) -> str:
        """Everything that can change what the judge is shown; no threshold and no cap."""
        ...

    @property
    def signature(self) -> str:
        """Everything that can change its code score, its flags and its caps."""
        ...

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Return the result for an answer; exemptions are handled by the caller."""
        ...


def not_applicable(en: str, zh: str, *, visible_to_judge: bool = False) -> RuleResult:
    """Return the result of a rule that does not apply to an answer.

    Args:
        en: The cause, in English.
        zh: The cause, in Chinese.
        visible_to_judge: Whether the judge is shown the cause.
    """
    return RuleResult(value=None, en=en, zh=zh, visible_to_judge=visible_to_judge)


def check_share(name: str, value: object, *, above_zero: bool = False) -> float:
    """Return a threshold or a cap from a plan as a number.

    Args:
        name: Name of the option, for the message.
        value: Value from the plan.
        above_zero: Whether 0 is refused.

    Raises:
        ValueError: The value is not a number from 0 to 1.

    Examples:
        >>> check_share("cap", 1)
        1.0
    """
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1 or (above_zero and not value):  # type: ignore[operator]
        raise ValueError(
            f"{name} must be a number {'above 0' if above_zero else 'from 0'} to 1, got {value!r}"
        )
    return float(value)  # type: ignore[arg-type]
