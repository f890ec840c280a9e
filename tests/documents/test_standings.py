"""Between which checkpoints a decision is open, and which are out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hengwen.documents.cells import score_names
from hengwen.documents.decision import DecisionWords
from hengwen.documents.standings import Standings
from hengwen.results.decide import CheckpointStanding, Decision, Disagreement, ScoreDecision
from hengwen.text.language import Bilingual, both


def standing(
    checkpoint: str, kind: Any, difference: float | None = None, **fields: Any
) -> CheckpointStanding:
    if difference is not None:
        fields = {"better": "b", "p": 0.3, "p_alone": 0.2, "prompts": 26, "prompts_needed": 270} | fields
    return CheckpointStanding(checkpoint=checkpoint, standing=kind, mean=0.5, difference=difference, **fields)


FORM = ScoreDecision(
    address="t/form",
    standings=(
        standing("a", "worse", -0.31),
        standing("b", "best seen"),
        standing("c", "not worse", -0.02),
        standing("d", "not worse", -0.04),
    ),
    best_seen="b",
    tests=12,
)
VARIETY = ScoreDecision(
    address="t/variety",
    standings=(
        standing("a", "worse", -0.21),
        standing("b", "best seen"),
        standing("c", "not worse", -0.01, p=0.2, better="d"),
        standing("d", "worse", -0.11),
    ),
    best_seen="b",
    is_group=True,
)
SHIP = Decision(verdict="ship", checkpoint="b", newest="d", on_every_list=("b", "c"), scores=(FORM, VARIETY))


def sentences(decision: Decision, language: str = "en", **fields: Any) -> list[str]:
    """Return who is undecided and who is out."""
    addresses = [score.address for score in decision.scores]
    words = {address: name.words for address, name in score_names(addresses).items()}
    standings = Standings(decision, dict.fromkeys(addresses, 2), words, **fields)
    verdicts = (*standings.undecided(), *standings.out())
    return [
        f"{getattr(both(item.subject), language)}: {getattr(both(item.sentence), language)}"
        for item in verdicts
    ]


def test_undecided_is_between_those_that_no_score_shows_to_be_worse() -> None:
    assert sentences(SHIP) == [
        "Undecided: neither b nor c is shown to be worse in any score; in form c (−0.02) trails b "
        "(26 prompts; about 270 would tell).",
        "Out: worse than b: in form a (−0.31), in variety at equal length a (−0.21) and d (−0.11).",
    ]
    assert sentences(SHIP, "zh") == [
        "未定: b、c 在任何一项上都没有显示更差；form 上 c (−0.02) 落后于 b"
        "（现有 26 题，约需 270 题才分得出）。",
        "已排除: 比 b 差的，form 上有 a (−0.31)，variety（字数相等时）上有 a (−0.21)、d (−0.11)。",
    ]


def title(decision: Decision) -> Bilingual:
    names = score_names([score.address for score in decision.scores])
    return DecisionWords(decision, dict.fromkeys(names, 2), names).title()


def test_the_decision_says_that_the_chosen_one_is_the_best_seen_of_those_that_are_undecided() -> None:
    assert title(SHIP) == (
        "建议发布 b，未定的 2 个中总体所见最好；最新的 d 的 variety（字数相等时）已比它低 0.11。",
        "Ship b, the best seen overall of 2 undecided. The newest, d, has fallen 0.11 below it in variety "
        "at equal length.",
    )
    newest = replace(SHIP, newest="b", scores=(FORM,))
    assert title(newest) == (
        "建议发布 b，即最新的检查点，未定的 3 个中所见最好：没有哪个检查点显示比它更好。",
        "Ship b, the newest, the best seen of 3 undecided: no checkpoint is shown to be better.",
    )
    form = replace(FORM, margin=0.05)
    assert title(replace(SHIP, scores=(form, VARIETY))).en.startswith("Ship b. The newest, d, ")


def test_a_score_that_can_hardly_tell_checkpoints_apart_has_no_number_of_prompts() -> None:
    uninformative = sentences(SHIP, uninformative={"t/form", "t/variety"})
    assert uninformative[0] == "Undecided: neither b nor c is shown to be worse in any score."


def test_where_nobody_is_left_beside_the_chosen_one_nothing_is_undecided() -> None:
    third = replace(FORM.standings[2], standing="missing answers")
    alone = replace(FORM, standings=(*FORM.standings[:2], third, FORM.standings[3]))
    assert [text[:3] for text in sentences(replace(SHIP, scores=(alone, VARIETY)))] == ["Out"]


def test_with_a_margin_a_checkpoint_that_is_not_within_it_is_undecided() -> None:
    third = replace(FORM.standings[2], standing="undecided")
    form = replace(FORM, margin=0.05, standings=(*FORM.standings[:2], third, FORM.standings[3]))
    assert sentences(replace(SHIP, verdict="undecided", scores=(form,))) == [
        "Undecided: in form c (−0.02) is not shown to be within 0.05 of b "
        "(26 prompts; about 270 would tell).",
        "Out: worse than b: in form a (−0.31).",
    ]


def test_where_scores_disagree_nobody_is_called_out_and_the_kept_one_is_named() -> None:
    keep = replace(
        SHIP,
        verdict="keep",
        on_every_list=(),
        disagreements=(Disagreement("d", ("t/form",), ("t/variety",)),),
    )
    assert not any(text.startswith("Out") for text in sentences(keep))
    names = score_names([score.address for score in keep.scores])
    (kept,) = [
        both(item.sentence).en
        for item in DecisionWords(keep, dict.fromkeys(names, 2), names).block().bullets
        if both(item.subject).en == "No checkpoint is among the best in every score"
    ]
    assert kept.startswith("form rises while variety falls at d. Kept: b, not shown to be worse in any score")
