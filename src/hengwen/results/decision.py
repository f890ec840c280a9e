"""The decision which checkpoint to ship, as data; ``results/decide.py`` makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from hengwen.results.comparisons import ComparisonVerdict

Standing = Literal["best seen", "not worse", "undecided", "worse", "missing answers", "not compared"]
"""Where a checkpoint stands in one score. ``not worse``: no test shows that another checkpoint is better;
with a margin, the checkpoint is shown to be within the margin of the best seen. ``undecided``: with a margin,
neither is shown. ``missing answers``: fewer than 95 % of its prompts or answers have a score."""
ScoreProblem = Literal[
    "", "nothing scored", "one checkpoint", "not comparable", "order unknown", "missing answers", "not tested"
]
"""Reason why a score does not count for the decision. ``not comparable``: the checkpoints were scored with
different settings. ``not tested``: the score is one number for a whole set of answers, for which there is no
test."""
DecisionVerdict = Literal["ship", "keep", "undecided", "none"]
"""``ship``: the named checkpoint is among the best seen in every score. ``keep``: no checkpoint is; the named
one has given nothing up. ``undecided``: more prompts or answers would tell; the named checkpoint has the
highest means. ``none``: there is nothing to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStanding:
    """Where one checkpoint stands in one score.

    Examples:
        >>> CheckpointStanding(checkpoint="step-1", standing="best seen", mean=0.8).difference is None
        True
    """

    checkpoint: str
    standing: Standing
    mean: float | None
    better: str = ""
    """Checkpoint that is shown to be better, or else the best seen; empty for the best seen itself."""
    difference: float | None = None
    """Value of this checkpoint minus the value of ``better``, on their common prompts."""
    p: float | None = None
    """p-value of this difference, corrected for all pairs and scores of the report."""
    p_alone: float | None = None
    """p-value of this difference alone, not corrected."""
    prompts: int | None = None
    """Number of their common prompts."""
    prompts_needed: int | None = None
    """Number of prompts that would show a true difference of this size (or, with a margin, that it is within
    the margin) with a probability of about 80 %; None if it is shown, or if it cannot be computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDecision:
    """Which checkpoints are not worse than the best seen in one score.

    Examples:
        >>> best = CheckpointStanding(checkpoint="step-2", standing="best seen", mean=0.8)
        >>> fallen = CheckpointStanding(checkpoint="step-3", standing="worse", mean=0.5, better="step-2")
        >>> score = ScoreDecision(address="t/s", standings=(best, fallen), best_seen="step-2")
        >>> score.not_worse
        ('step-2',)
    """

    address: str
    """``TASK/SCORE``."""
    standings: tuple[CheckpointStanding, ...]
    """Standing of each checkpoint, in training order."""
    best_seen: str = ""
    """Checkpoint with the best mean; it is overstated, because it is the best of several."""
    newest: ComparisonVerdict | None = None
    """The newest checkpoint against the best seen before it: ``worse`` if it has fallen from this peak."""
    peak: str = ""
    """The best seen before the newest checkpoint."""
    change: float | None = None
    """Value of the newest checkpoint minus that of the peak, on their common prompts."""
    p: float | None = None
    """p-value of this change, corrected for all pairs and scores of the report."""
    prompts: int | None = None
    """Number of common prompts of the newest checkpoint and the peak."""
    tests: int = 0
    """Number of comparisons for which the p-values are corrected together."""
    margin: float | None = None
    """How much worse than the best seen a checkpoint may be; None if the plan states no margin."""
    problem: ScoreProblem = ""
    """Why the score does not count for the decision; empty if it counts."""

    is_group: bool = False
    """Whether the score is one number for a whole set of answers. Then ``change`` and each ``difference``
    hold at equal numbers of tokens, and p-values are corrected for the tests of such scores."""

    @property
    def not_worse(self) -> tuple[str, ...]:
        """Checkpoints that are not worse than the best seen, with the best seen itself."""
        return tuple(
            item.checkpoint for item in self.standings if item.standing in ("best seen", "not worse")
        )


class Disagreement(NamedTuple):
    """A checkpoint that is better than the best seen before it in some scores, and worse in others."""

    checkpoint: str
    better: tuple[str, ...]
    """Addresses of the scores that have risen."""
    worse: tuple[str, ...]
    """Addresses of the scores that have fallen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which checkpoint to ship, and on what that rests.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import open_store, run_plan
        >>> with open_store("sqlite://") as store:
        ...     decision = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store).decision
        >>> decision.verdict, decision.checkpoint, decision.newest
        ('keep', 'ckpt-3000', 'ckpt-4000')
        >>> decision.disagreements[-1].worse
        ('persona/persona_generic.level',)
    """

    verdict: DecisionVerdict
    checkpoint: str = ""
    """Checkpoint to ship or keep; if the verdict is ``undecided``, the one with the highest means."""
    newest: str = ""
    """The newest checkpoint."""
    on_every_list: tuple[str, ...] = ()
    """Checkpoints that are not worse than the best seen in any score."""
    disagreements: tuple[Disagreement, ...] = ()
    """Checkpoints at which one score rises while another falls."""
    scores: tuple[ScoreDecision, ...] = ()
