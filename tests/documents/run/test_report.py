"""What a report computes: order, arithmetic, the scores and answers that it shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from score_rows import by_score, row_of

from hengwen.documents.answers.sources import AnswerList, AnswerRecord
from hengwen.documents.blocks import AnswerFilter, Sentence, Verdict
from hengwen.documents.cells import score_names
from hengwen.documents.decision import DecisionWords
from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.write import to_html
from hengwen.documents.run.document import run_document
from hengwen.documents.run.report import ReportData, build_report
from hengwen.records import Failure, Run, Score
from hengwen.results.decide import CheckpointStanding, Decision, ScoreDecision
from hengwen.results.score_table import ScoreTable


def test_means_are_over_scored_prompts_and_failures_are_counted(table_of):
    report = build_report(table_of({"a": [1.0, 2.0, None, 3.0]}))
    cell = report.scores[0].summaries[0]
    assert cell is not None
    assert (cell.n, cell.prompts, cell.mean, cell.coverage) == (3, 3, 2.0, 0.75)
    assert (cell.failures, cell.failed, cell.method) == ({"timeout": 1}, 1, "t")
    # t with 2 degrees of freedom: 2 -+ 4.3027 * 1 / sqrt(3)
    assert cell.interval == pytest.approx((-0.484138, 4.484138), abs=1e-5)


def test_the_heading_says_of_how_many_prompts_and_answers_means_are(table_of):
    once = table_of({"a": [1.0, 2.0, None, 3.0], "b": [1.0, 2.0, 3.0, 4.0]})
    assert run_document(once).notes[1] == ("4 题的均值", "means of 4 prompts")
    about = {"run_id": "r1", "task": "t", "checkpoint": "b", "sample_id": "s0", "cluster": "s0"}
    for repeat in (2, 3):  # more answers to one prompt, which counts once
        score = Score(name="a.x", value=1.0, signature="a|v:1")
        once.table.add(row_of(**about, repeat=repeat, outcome=score))
    other = Score(name="b.x", value=1.0, signature="b|v:1")
    once.table.add(row_of(**about, repeat=1, outcome=other))
    expected = ("1–4 题的均值（1–6 个回答）", "means of 1–4 prompts (1–6 answers)")
    assert run_document(once).notes[1] == expected


def test_scores_stand_in_the_order_of_the_table_code_first(data):
    report = build_report(data)
    assert [task.name for task in report.tasks] == ["lyrics"]
    assert [(s.name, s.is_headline) for s in report.tasks[0].scores] == [
        ("lyric.total", True),
        ("lyric.errors", False),
        ("distinct_n.distinct_2", True),
        ("lyric_craft.level", True),
        ("lyric_craft.imagery", False),
        ("anchor.lyric_craft.level", False),
        ("human.lyric_craft.level", False),
    ]


def test_blocks_hold_each_score_once(data):
    task = build_report(data).tasks[0]
    assert [s.name for s in task.others] == ["lyric.errors", "lyric_craft.imagery"]
    assert [s.name for s in task.anchors] == ["anchor.lyric_craft.level"]
    assert [[s.name for s in pair] for pair in task.human_pairs] == [
        ["lyric_craft.level", "human.lyric_craft.level"]
    ]


def test_human_labels_without_a_judge_stand_alone(table_of):
    report = build_report(table_of({"a": [1.0]}, name="human.craft.level", kind="human"))
    assert [[s.name for s in pair] for pair in report.tasks[0].human_pairs] == [["human.craft.level"]]
    assert report.findings == ()


def test_means_and_trajectory_of_the_fixed_report(data):
    report = build_report(data)
    scores = {score.name: score for score in report.scores}
    total = scores["lyric.total"]
    assert [cell.mean for cell in total.summaries if cell] == [65.0, 76.0, 85.0, 77.0]
    path = report.trajectories[total.address]
    assert (path.metrics["cin"].value, path.metrics["lis"].value, path.windows) == (1, 3, 2)
    assert report.worse_runs(total) == set()  # four prompts are too few for a test
    level = scores["lyric_craft.level"].summaries[3]
    assert level is not None
    assert (level.n, level.failures, level.coverage) == (3, {"parse_error": 1}, 0.75)
    imagery = scores["lyric_craft.imagery"].summaries[0]
    assert imagery is not None
    assert (imagery.mean, imagery.coverage, imagery.not_applicable) == (None, None, 4)


def test_the_table_of_answers_has_the_scores_that_answers_have(table_of):
    run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
    key = {"run_id": "r", "task": "t", "checkpoint": "c", "repeat": 1, "cluster": "s"}
    whole = Score(name="set.x", value=1.0, signature="w")
    single = Score(name="one.x", value=1.0, signature="o")
    table = ScoreTable(
        [row_of(**key, sample_id=None, outcome=whole), row_of(**key, sample_id="s", outcome=single)]
    )
    answer = AnswerRecord(
        run_id="r",
        task="t",
        checkpoint="c",
        sample_id="s",
        repeat=1,
        input="",
        text="",
        outcomes=by_score(single),
    )
    report = build_report(ReportData(plan="p", runs=(run,), table=table, answers=AnswerList([answer])))
    assert [column.head for column in report.answers.columns] == ["one.x"]
    assert [row.values for row in report.answers.rows] == [(1.0,)]
    (task,) = report.tasks
    behind = {score.name: report.answers_of(score, 0) for score in task.scores}
    assert behind == {"set.x": None, "one.x": AnswerFilter("c", "t", "one.x")}


def test_rows_of_other_runs_are_left_out(table_of):
    full = table_of({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    report = build_report(ReportData(plan="p", runs=full.runs[1:], table=full.table))
    assert [[cell.mean for cell in score.summaries if cell] for score in report.scores] == [[3.5]]


class CountingAnswers(AnswerList):
    """Counts the answers that a report streams and loads."""

    streamed = loaded = 0

    def stream(self):
        for answer in super().stream():
            self.streamed += 1
            yield answer

    def load(self, keys, *, explained=False):
        self.loaded += len(keys)
        return super().load(keys, explained=explained)


def test_excerpts_of_360_answers_are_streamed_once_and_only_compared_answers_are_loaded(data):
    answers = tuple(
        AnswerRecord(
            run_id=run.id,
            task="lyrics",
            checkpoint=run.checkpoint,
            sample_id=f"p{i}",
            repeat=1,
            input="题" * 200,
            text="词曲\n" * 100,
            outcomes=by_score(
                Score(name="lyric.total", value=float(i), signature="lyric|rules:document|v:1")
            ),
        )
        for run in data.runs
        for i in range(90)
    )
    source = CountingAnswers(answers)
    data = ReportData(plan="p", runs=data.runs, table=data.table, answers=source, size="excerpts")
    text = to_html(run_document(data), "zh")
    assert source.streamed == 360
    assert source.loaded == 10  # both answers of the five prompts that changed in either score
    assert text.count('<tr id="a-') == 360
    assert "只有各条回答的开头" in text


def ruled(*, complete: bool = False) -> ReportData:
    """A task with a rule, a judge, its final score and a published one; the second answer is a repeat."""
    run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
    key = {"run_id": "r", "task": "t", "checkpoint": "c"}
    table = ScoreTable()
    for repeat, (alike, raw, final) in enumerate([(0.1, 0.75, 0.75), (0.9, 1.0, 0.0)], 1):
        for name, value, kind, signature in (
            ("near_duplicate.similarity", alike, "scorer", "near_duplicate|rule:cap|v:1"),
            ("distinct.share", 0.5, "scorer", "distinct|v:1"),
            ("x.level", raw, "judge", "x|v:1"),
            ("x.wit", raw, "judge", "x|v:1"),
            ("x.final", final, "judge", "x.final|caps:[near_duplicate|rule:cap|v:1]|[x|v:1]|v:1"),
        ):
            score = Score(name=name, value=value, kind=kind, signature=signature)
            table.add(row_of(**key, sample_id="s", repeat=repeat, cluster="s", outcome=score))
    missing = Failure(
        name="x.published", status="missing", message="incomplete", signature="x.published|v:1", kind="judge"
    )
    whole = Score(name="x.published", value=3.75, signature="x.published|v:1", kind="judge")
    table.add(row_of(**key, sample_id=None, repeat=None, cluster="t", outcome=whole if complete else missing))
    answers = tuple(
        AnswerRecord(
            run_id=run.id,
            task="t",
            checkpoint="c",
            sample_id="s",
            repeat=repeat,
            input="?",
            text="!",
            outcomes=by_score(
                Score(name="distinct.share", value=0.5, signature="s"),
                Score(name="x.final", value=final, signature="s", kind="judge"),
            ),
        )
        for repeat, final in enumerate([0.75, 0.0], 1)
    )
    return ReportData(plan="p", runs=(run,), table=table, answers=AnswerList(answers))


def test_the_score_of_the_task_stands_first_and_the_final_score_beside_the_raw_one() -> None:
    report = build_report(ruled())
    (task,) = report.tasks
    assert [score.name for score in task.headlines] == [
        "x.published",
        "distinct.share",
        "x.level",
        "x.final",
    ]
    assert [score.group for score in task.headlines] == ["published", "scorer", "judge", "judge"]
    assert [score.name for score in task.others] == ["near_duplicate.similarity", "x.wit"]


def test_the_summary_speaks_of_final_scores_and_answers_are_ranked_by_them() -> None:
    report = build_report(ruled())
    for complete in (False, True):
        findings = build_report(ruled(complete=complete)).findings
        assert [finding.address for finding in findings if "/x." in finding.address] == ["t/x.final"]
    assert report.answers.columns[0].head == "x.final"
    assert [row.repeat for row in report.answers.rows] == [2, 1]


def test_a_task_that_is_incomplete_says_so_in_all_faces() -> None:
    document = run_document(ruled())
    for text in (to_html(document, "zh"), to_markdown(document, "zh")):
        assert "任务得分" in text
        assert "不完整" in text


def test_what_three_bullets_cannot_hold_stands_before_the_judges() -> None:
    decision = Decision(verdict="none", checkpoint="", newest="b", scores=())
    doubts = [Verdict(tone="open", sentence=f"doubt {i}") for i in range(4)]
    judge = Verdict(tone="untested", sentence="judge")
    block = DecisionWords(decision, {}, {}).block(further=doubts, judges=[judge])
    assert block.bullets == tuple(doubts[:3])
    assert block.judges == (doubts[3], judge)


def test_a_pair_that_is_significant_only_alone_is_explained() -> None:
    best = CheckpointStanding(checkpoint="b", standing="best seen", mean=0.8)
    trailing = CheckpointStanding(
        checkpoint="a", standing="not worse", mean=0.7, better="b", difference=-0.1, p=0.07, p_alone=0.009
    )
    score = ScoreDecision(address="t/s", standings=(trailing, best), best_seen="b", tests=3)
    decision = Decision(verdict="undecided", checkpoint="b", newest="b", scores=(score,))
    words = DecisionWords(decision, {"t/s": 2}, score_names(["t/s"]))
    texts = [item.text.en for item in words.block().details if isinstance(item, Sentence)]
    explained = [
        text for text in texts if text.startswith("a alone against b has p = .009, corrected for 3 tests")
    ]
    assert len(explained) == 1
    clear = replace(decision, scores=(replace(score, standings=(replace(trailing, p_alone=0.06), best)),))
    words = DecisionWords(clear, {"t/s": 2}, score_names(["t/s"]))
    assert not any("hengwen compare" in str(item) for item in words.block().details)
