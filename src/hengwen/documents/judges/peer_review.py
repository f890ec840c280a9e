"""The document of a peer review: the ranking, what limits it, the judges, and the agreement with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from hengwen.documents.blocks import Bar, Cell, Decision, Details, Document, Table, Tone, Verdict
from hengwen.documents.cells import (
    count_cell,
    interval_cell,
    left,
    percent_cell,
    right,
    signed_cell,
    table_of,
    thousands_cell,
    verdicts_on_rewards,
)
from hengwen.documents.judges.trust import trust_record, trust_summary, trust_verdicts
from hengwen.monitoring.judge_trust import JudgeTrust
from hengwen.peer_review.estimates.votes import RankingMethod
from hengwen.peer_review.human import HumanComparison
from hengwen.peer_review.notes import names
from hengwen.peer_review.result import PeerReview, RankingWithout, ReviewedJudge, ReviewedModel
from hengwen.text.language import COLON, LIST_COMMA, NO_TEXT, SEMICOLON, Bilingual
from hengwen.text.numbers import NOTHING, count, counted, number, percent, plural

_METHODS: dict[RankingMethod, Bilingual] = {
    "judge-bt": Bilingual(
        "区分评审质量的 Bradley-Terry 模型", "Bradley-Terry model with judge quality (judge-bt)"
    ),
    "bradley-terry": Bilingual("Bradley-Terry 模型", "Bradley-Terry model"),
    "uniform": Bilingual("等权投票", "uniform vote"),
    "consistency": Bilingual("PiCO 一致性优化", "consistency optimisation (PiCO)"),
}
_JUDGES = Bilingual("评审", "Judges")
_RANKING = Bilingual("排名", "Ranking")
_NOT_COMPARED = Bilingual(
    "没有与人的排名比较过，只说这些评审的看法；--human FILE 可给出人的排名。",
    "not compared with one by people, so it is what these judges think; --human FILE takes a ranking by "
    "people.",
)
MAX_LEADERS, MAX_NAMES = 3, 8
"""Maximum number of models that the title, and a sentence, names."""
MAX_JUDGES = 3
"""Maximum number of judges with a line of their own on the first screen; more are counted there."""
_MODEL_COLUMNS = (
    right("rank", "名次", "rank"),
    right("ranks", "名次区间", "ranks"),
    left("model", "模型", "model"),
    right("score", "得分", "score"),
    right("matches", "胜/平/负", "won/tied/lost"),
)
_WITHOUT_NOTES = (
    Bilingual(
        "名次差：去掉后名次减名次，正数表示去掉后名次靠后。",
        "Difference: rank without minus rank; above 0, the model is worse without these judges.",
    ),
    Bilingual(
        "一致的评审若占上风，排名会跟着他们走，被点名的反而可能是其余评审。对战无法判断哪一方正确。",
        "Judges who agree may outweigh the others; the ranking then follows them, and the others may be the "
        "ones named. Battles cannot tell which side is right.",
    ),
)
_RANKS_NOTE = Bilingual(
    "名次区间：现有数据下仍有可能的最好与最差名次，由按题重抽样得出。",
    "Ranks: the best and the worst rank that the data leave possible, from resampled questions.",
)
_JUDGES_NOTE = Bilingual(
    "顺序一致：两种顺序下判定相同的比例。偏向首位：判给排在前面的回答的比例，50% 为无偏好。",
    "Consistent: share of equal verdicts in both orders. For first: share of verdicts for the answer shown "
    "first; 50% is no preference.",
)


def peer_review_document(
    review: PeerReview,
    human: HumanComparison | None = None,
    *,
    failures: int = 0,
    rewards: Sequence[str] = (),
    judges: Sequence[JudgeTrust] = (),
) -> Document:
    """Return the document of a peer review; ``failures`` counts the verdicts that judges failed to give."""
    counts = {judge.name: judge.verdicts for judge in review.judges}
    if len({judge.judge for judge in judges}) < len(judges):  # a judge of several tasks has one count for all
        counts = {}
    trust = trust_verdicts(judges, counts)
    is_long = len(trust) > MAX_JUDGES
    return Document(
        kind="peer-review",
        title=Bilingual("同行评议", "Peer review"),
        notes=(_method(review),),
        blocks=(
            Decision(title=_title(review), bullets=tuple(_bullets(review))),
            _models(review),
            *([] if human else [Verdict(tone="open", subject=_RANKING, sentence=_NOT_COMPARED)]),
            *([trust_summary(judges)] if is_long else trust),
            *verdicts_on_rewards(rewards),
            *(Verdict(tone="plain", sentence=text) for text in _sentences(review, human, failures)),
            *(
                Details(title=_without_title(group), blocks=(_without(group, position),))
                for position, group in enumerate(review.without, start=1)
            ),
            Details(title=_JUDGES, blocks=(*(trust if is_long else ()), _judges(review))),
        ),
        record={
            "schema": 1,
            **asdict(review),
            "failures": failures,
            "human": None if human is None else asdict(human),
            "judge_trust": trust_record(judges),
            **({"rewards": list(rewards)} if rewards else {}),
        },
    )


def _title(review: PeerReview) -> Bilingual:
    """Return which models may lead, and how many places are settled."""
    leaders = [model.name for model in review.models if model.ranks[0] == 1]
    settled = sum(model.ranks[0] == model.ranks[1] for model in review.models)
    n = len(review.models)
    if len(leaders) == 1:
        first = Bilingual(f"{leaders[0]} 领先", f"{leaders[0]} leads")
    elif len(leaders) <= MAX_LEADERS:
        *others, last = leaders
        first = Bilingual(f"{'、'.join(leaders)} 之一领先", f"{', '.join(others)} or {last} leads")
    else:
        first = Bilingual(f"{len(leaders)} 个模型都可能领先", f"any of {len(leaders)} models may lead")
    places = Bilingual(f"{n} 个名次中 {settled} 个已定。", f"{settled} of {n} places are settled.")
    return SEMICOLON.join([first, places])


def _bullets(review: PeerReview) -> Iterator[Verdict]:
    """Yield the models whose place is settled, and those that cannot be put in order."""
    settled = [model for model in review.models if model.ranks[0] == model.ranks[1]]
    open_ones = [model for model in review.models if model not in settled]
    groups: tuple[tuple[Tone, Bilingual, list[ReviewedModel]], ...] = (
        ("better", Bilingual("已定", "Settled"), settled),
        ("open", Bilingual("未定", "Undecided"), open_ones),
    )
    for tone, word, models in groups:
        if models:
            listed = LIST_COMMA.join(f"{model.name} ({_range(model.ranks)})" for model in models[:MAX_NAMES])
            more = len(models) - MAX_NAMES
            rest = Bilingual(f" 等 {len(models)} 个", f" and {more} more") if more > 0 else ""
            yield Verdict(tone=tone, subject=word, sentence=NO_TEXT.join([listed, rest]))


def _method(review: PeerReview) -> Bilingual:
    models, judges = len(review.models), len(review.judges)
    battles, level = count(review.battles), percent(review.confidence)
    facts = Bilingual(
        f"{models} 个模型，{judges} 位评审，{count(review.questions)} 题，{battles} 条判定；区间 {level}",
        f"{models} models, {plural(judges, 'judge')}, {counted(review.questions, 'question')}, "
        f"{battles} verdicts; {level} intervals",
    )
    return COLON.join([_METHODS[review.method], facts])


def _sentences(review: PeerReview, human: HumanComparison | None, failures: int) -> Iterator[Bilingual]:
    for note in review.notes:
        yield Bilingual(note.zh, note.en)
    if failures:
        n = count(failures)
        yield Bilingual(
            f"评审失败、未给出判定：{n} 次；失败不算平局，也不计入。",
            f"Verdicts that are missing because a judge failed: {n}. A failure is not a tie and does not "
            "count.",
        )
    if human is not None:
        yield _human(human)


def _human(human: HumanComparison) -> Bilingual:
    ranking = human.ranking
    values = (
        f"Spearman {number(ranking.spearman, 3)}, Kendall tau-b {number(ranking.tau_b, 3)}, "
        f"PEN {number(ranking.pen, 3)}, PEN ({ranking.triples} triples) {number(ranking.pen_triples, 3)}, "
        f"CIN {ranking.cin}, LIS {ranking.lis}/{ranking.n}"
    )
    n, missing = ranking.n, [*human.only_review, *human.only_human]
    text = Bilingual(f"与人工排名比较（{n} 个模型）：{values}", f"against people ({n} models): {values}")
    if not missing:
        return text
    apart = Bilingual("只在一方出现、未比较", "only in one of the rankings, not compared")
    return SEMICOLON.join([text, COLON.join([apart, LIST_COMMA.join(missing)])])


def _models(review: PeerReview) -> Table:
    decimals = 3 if review.models[0].score <= 1 else 2
    return Table(
        key="models",
        columns=_MODEL_COLUMNS,
        rows=tuple(_model(model, decimals, len(review.models)) for model in review.models),
        notes=(_RANKS_NOTE,),
    )


def _model(model: ReviewedModel, decimals: int, models: int) -> tuple[Cell, ...]:
    ends = tuple(map(float, model.ranks))
    bar = Bar(
        value=model.rank, interval=(ends[0], ends[1]), limits=(1.0, float(max(2, models))), reference=None
    )
    return (
        count_cell(model.rank),
        replace(_ranks_cell(model.ranks), bar=bar),
        Cell(text=model.name),
        interval_cell(model.score, model.interval, decimals),
        Cell(
            text=f"{model.wins}/{model.ties}/{model.losses}",
            values={"won": model.wins, "tied": model.ties, "lost": model.losses},
        ),
    )


def _range(ranks: tuple[int, int]) -> str:
    best, worst = ranks
    return str(best) if best == worst else f"{best}–{worst}"


def _ranks_cell(ranks: tuple[int, int]) -> Cell:
    return Cell(text=_range(ranks), values={"best": ranks[0], "worst": ranks[1]})


def _without_title(group: RankingWithout) -> Bilingual:
    judges = Bilingual(names(group.judges, "zh"), names(group.judges, "en"))
    return Bilingual("去掉 {} 后的排名", "Ranking without {}").format(judges)


def _without(group: RankingWithout, position: int) -> Table:
    tau = Bilingual(
        "去掉后：{}，与全体评审排名的 Kendall tau-b 为 {}。",
        "Without: {}; Kendall's tau-b with the ranking by all judges: {}.",
    )
    return table_of(
        group.models,
        (left("model", "模型", "model"), lambda model: Cell(text=model.name)),
        (right("rank", "名次", "rank"), lambda model: count_cell(model.rank)),
        (right("without", "去掉后名次", "rank without"), lambda model: count_cell(model.rank_without)),
        (right("ranks", "去掉后区间", "ranks without"), lambda model: _ranks_cell(model.ranks_without)),
        (right("difference", "名次差", "difference"), lambda model: signed_cell(model.difference, 0)),
        (right("alone", "仅由他们评", "by them alone"), lambda model: count_cell(model.rank_alone)),
        key=f"without-{position}",
        notes=(tau.format(_METHODS[group.method], number(group.tau, 2)), *_WITHOUT_NOTES),
    )


def _judges(review: PeerReview) -> Table:
    return table_of(
        review.judges,
        (left("judge", "评审", "judge"), lambda judge: Cell(text=judge.name)),
        (right("verdicts", "判定数", "verdicts"), lambda judge: thousands_cell(judge.verdicts)),
        (
            right("weight", "权重", "weight"),
            lambda judge: interval_cell(judge.weight, judge.weight_interval, 2),
        ),
        (right("consistent", "顺序一致", "consistent"), lambda judge: percent_cell(judge.consistent)),
        (right("first", "偏向首位", "for first"), lambda judge: percent_cell(judge.first_share)),
        (right("own", "自己/他人评自己", "own/by others"), _own_cell),
        key="judges",
        notes=(_JUDGES_NOTE,),
    )


def _own_cell(judge: ReviewedJudge) -> Cell:
    text = NOTHING
    if judge.own_share is not None:
        text = f"{percent(judge.own_share)}/{percent(judge.own_others)}"
    return Cell(text=text, values={"": judge.own_share, "others": judge.own_others})
