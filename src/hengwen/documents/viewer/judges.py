"""The judges of a plan: what is known of each, its tests, its anchors in the course of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Chart, Column, Decision, Document, Point, Sentence, Series, Table
from hengwen.documents.cells import right
from hengwen.documents.judges.doctor import attack_words, check_words
from hengwen.documents.judges.trust import trust_verdicts
from hengwen.text.language import Bilingual
from hengwen.text.numbers import number, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.blocks import Block
    from hengwen.monitoring.judge_trust import JudgeTrust

JUDGES = Bilingual("评审", "Judges")
CALIBRATION = Bilingual("评审与人工标注的比较", "Calibration with human labels")
DRIFT = Bilingual("评审漂移", "Judge drift")
SLOW = Bilingual("（要算几秒）", "(takes a few seconds)")
NO_LABELS = Bilingual(
    "没有可比的标注：请运行 hengwen view --label PLAN，或 hengwen label PLAN。",
    "There are no labels to compare with: run hengwen view --label PLAN, or hengwen label PLAN.",
)
SCATTER = Bilingual(
    "评审的等级（横）与人的等级（竖）：圆的面积是回答数",
    "Level of the judge (across) and of people (up): the area is the number of answers",
)
PEOPLE = Bilingual("人", "people")
JUDGE = Bilingual("评审", "judge")


def judges_document(judges: Sequence[JudgeTrust]) -> Document:
    """Return what is known of each judge of the newest run."""
    return Document(
        kind="judges",
        title=JUDGES,
        blocks=(Decision(title=_title(judges), judges=trust_verdicts(judges)), *_blocks(judges)),
    )


def _title(judges: Sequence[JudgeTrust]) -> Bilingual:
    if not judges:
        return Bilingual("最新的运行里没有评审。", "The newest run has no judge.")
    n = len(judges)
    certified = sum(
        judge.agreement is not None and judge.agreement.decision == "certified" for judge in judges
    )
    return Bilingual(
        f"{n} 个评审中 {certified} 个通过校准。", f"{certified} of {plural(n, 'judge')} certified."
    )


def _blocks(judges: Sequence[JudgeTrust]) -> Iterator[Block]:
    charts = [_anchors(judge, index) for index, judge in enumerate(judges) if len(judge.anchors) > 1]
    yield from charts
    if charts:
        yield Sentence(
            text=Bilingual(
                "锚点是不变的回答：线动了，动的是评审。",
                "Anchors never change: if their line moves, it is the judge that moved.",
            ),
            is_note=True,
        )
    rows = [row for judge in judges for row in _checks(judge)]
    if rows:
        yield Table(
            key="checks",
            title=Bilingual("准入测试", "admission tests"),
            columns=(
                Column(key="judge", head=JUDGE),
                Column(key="check", head=Bilingual("检查", "check")),
                right("passed", "通过", "passed"),
                right("decided", "判定", "decided"),
            ),
            rows=tuple(rows),
        )


def _anchors(judge: JudgeTrust, index: int) -> Chart:
    address = f"{judge.task}/{judge.judge}"
    points = tuple(
        Point(
            x=float(x),
            label=anchor.checkpoint,
            value=anchor.mean,
            text=number(anchor.mean, 2),
            hint=f"{anchor.checkpoint}: {number(anchor.mean, 3)} (n={anchor.n})",
        )
        for x, anchor in enumerate(judge.anchors)
    )
    values = ", ".join(f"{point.hint}" for point in points)
    return Chart(
        key=f"anchors-{index}",
        title=Bilingual(f"{address} 给锚点的均值", f"Mean that {address} gave the anchors"),
        series=(Series(name=address, points=points),),
        description=values,
    )


def _checks(judge: JudgeTrust) -> Iterator[tuple[Cell, ...]]:
    record = judge.admission
    if record is None:
        return
    name = Cell(text=f"{judge.task}/{judge.judge}")
    for check, (passed, n) in record.checks.items():
        failed = record.problems.get(check) == "failed"
        yield (
            name,
            Cell(text=check_words(check), tone="worse" if failed else "plain"),
            Cell(text=str(passed), values={"": passed}),
            Cell(text=str(n), values={"": n}),
        )
    if record.attacks:
        words = attack_words(record.fooled, record.informative, record.attacks)
        yield name, Cell(text=words), Cell(text=""), Cell(text=str(record.attacks))
