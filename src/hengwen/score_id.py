"""The identity of a score as data, and as the text that people read and type.

No other module builds the name or the address of a score, or takes one apart. A text that a user types is
looked up among the addresses of known scores, so the words of the prefixes may also be names of judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

Role = Literal["answer", "task", "human", "anchor", "human anchor"]
"""What a value is about, and who gave it. ``answer``: the scorer or judge, about an answer or a group of
answers. ``task``: a number for a whole task, computed from the judge's scores. ``human``: people, about an
answer. ``anchor``: the judge, about a frozen answer that every run judges again. ``human anchor``: people,
about a frozen answer."""

Section = Literal["score", "human", "anchor"]
LEVEL = "level"
"""Part of a judge's overall level."""
FINAL = "final"
"""Part of a judge's level after rules have capped it."""
_FINAL_AT = f"{FINAL}_at_"
PUBLISHED = "published"
NORMALISED = "normalised"
RESERVED_PARTS = {LEVEL: "the whole verdict", FINAL: "the verdict after rules have capped it"}
"""Names that no criterion of a rubric may have, with their meanings."""
RULE_TAG = "|rule:cap|"
"""Part of the signature of every score of a rule; reports do not show such scores as main scores."""
IMPORTED_TAG = "|imported|"
"""Part of the signature of every score of another tool, none of which is more its main score than another."""
_PREFIXES: dict[Role, str] = {
    "answer": "",
    "task": "",
    "human": "human.",
    "anchor": "anchor.",
    "human anchor": "human.anchor.",
}
LABEL_ROLES: tuple[Role, ...] = ("human", "anchor", "human anchor")
"""Roles of human labels and of the scores of anchors, in the order of reports."""


class ScoreId(NamedTuple):
    """Identity of a score in a run: its task, who gives it, which of its parts it is, and its role.

    Examples:
        >>> score = ScoreId("chat", "persona", "level")
        >>> score.address, score.about("human").address
        ('chat/persona.level', 'chat/human.persona.level')
    """

    task: str
    evaluator: str
    """Name of the scorer or judge; empty for a scorer whose scores have no first part in common."""
    part: str
    """Name of the score among the scores of its scorer or judge; empty if it is called like the scorer."""
    role: Role = "answer"

    @property
    def base(self) -> str:
        """Name that the scorer or judge gives the score, such as ``persona.level``."""
        return (
            f"{self.evaluator}.{self.part}" if self.evaluator and self.part else self.evaluator or self.part
        )

    @property
    def name(self) -> str:
        """Name of the score in reports, such as ``human.persona.level``."""
        return _PREFIXES[self.role] + self.base

    @property
    def address(self) -> str:
        """Address of the score in plans and reports: ``TASK/SCORE``."""
        return address_of(self.task, self.name)

    @property
    def source(self) -> str:
        """Name by which scores of one scorer or judge belong together; a score without one is alone."""
        return self.evaluator or self.part

    @property
    def is_human(self) -> bool:
        """Whether people gave the values."""
        return self.role in ("human", "human anchor")

    @property
    def is_anchor(self) -> bool:
        """Whether the values are about anchors (frozen answers that every run judges again)."""
        return self.role in ("anchor", "human anchor")

    @property
    def is_of_run(self) -> bool:
        """Whether scorers or judges gave the values, about the answers of the run."""
        return self.role in ("answer", "task")

    @property
    def section(self) -> Section:
        """Section of a report that shows the score."""
        if self.is_anchor:
            return "anchor"
        return "human" if self.is_human else "score"

    @property
    def is_derived(self) -> bool:
        """Whether a judge's score is computed from its level by rules or over a whole task."""
        return self.role == "task" or self.part == FINAL or self.part.startswith(_FINAL_AT)

    def about(self, role: Role) -> ScoreId:
        """Return the score of the same name with another role."""
        return self if role == self.role else self._replace(role=role)

    def with_part(self, part: str) -> ScoreId:
        """Return another score of the same scorer or judge, with the same role unless it is of a task."""
        return self._replace(part=part, role="answer" if self.role == "task" else self.role)


def score_ids(task: str, names: Sequence[str], evaluator: str = "") -> dict[str, ScoreId]:
    """Return the identity of each score of a scorer or judge, by the name that it gives the score.

    Examples:
        >>> score_ids("t", ["team.persona.level", "team.persona.tone"], "team.persona")["team.persona.tone"]
        ScoreId(task='t', evaluator='team.persona', part='tone', role='answer')
        >>> [score.part for score in score_ids("t", ["distinct_1", "distinct_2"]).values()]
        ['distinct_1', 'distinct_2']
    """
    firsts = {name.partition(".")[0] for name in names}
    for source in (evaluator, *(firsts if len(firsts) == 1 else ())):
        scores = {name: ScoreId(task, source, name[len(source) + 1 :]) for name in names if source}
        if scores and all(score.base == name for name, score in scores.items()):
            return scores
    return {name: ScoreId(task, "", name) for name in names}


class Named(Protocol):
    """A scorer or judge; a scorer to which a plan gives a name has the attribute ``configured_name``."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the scores; the first of a judge is ``NAME.level``."""
        ...


def scores_of(plugin: Named, task: str, *, is_judge: bool) -> dict[str, ScoreId]:
    """Return the identity of each score of a scorer or judge in a task, by the name of the score."""
    names = list(plugin.names)
    return score_ids(task, names, judge_name(names) if is_judge else getattr(plugin, "configured_name", ""))


def judged_scores(task: str, judges: Iterable[Named]) -> list[ScoreId]:
    """Return the scores of judges in a task."""
    return [score for judge in judges for score in scores_of(judge, task, is_judge=True).values()]


def judge_name(names: Sequence[str]) -> str:
    """Return the name of a judge from the names of its scores, of which the first is ``NAME.level``."""
    return names[0].rpartition(".")[0] or names[0]


def score_name(evaluator: str, part: str) -> str:
    """Return the name of a score of a judge."""
    return ScoreId("", evaluator, part).base


def final_part(threshold: float | None) -> str:
    """Return the part of a level that rules have capped at one of their thresholds; None for the main one."""
    return FINAL if threshold is None else f"{_FINAL_AT}{threshold:g}"


def renamed(names: Sequence[str], evaluator: str) -> dict[str, str]:
    """Return the names of a scorer's scores with the name that a plan gives the scorer."""
    if len(names) == 1 and "." not in names[0]:
        return {names[0]: evaluator}
    scores = score_ids("", names)
    shared = all(score.evaluator and score.part for score in scores.values())
    return {name: f"{evaluator}.{score.part if shared else name}" for name, score in scores.items()}


def address_of(task: str, name: str) -> str:
    """Return the address of a score from its task and the name that people type, as in a file of labels."""
    return f"{task}/{name}"


def split_address(address: str) -> tuple[str, str]:
    """Return the task and the score that a text names; both are empty if it is no address (TASK/SCORE)."""
    task, _, name = address.partition("/")
    return (task, name) if task and name else ("", "")


def caps(signature: str) -> bool:
    """Return whether a signature is that of a rule that caps a judge's level."""
    return RULE_TAG in signature
