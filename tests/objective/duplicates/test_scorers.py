"""Near duplicates and leakage as scorers of a plan."""

from __future__ import annotations

from pathlib import Path

from hengwen import registry
from hengwen.objective.duplicates.training_set import NearDuplicates
from hengwen.records import Response, Sample

TURNS = ["晚上好呀，今天的月亮很圆呢", "我想吃鱼", "沐雪最喜欢和大家一起聊天啦，每天都很开心"]


def test_the_scorer_names_what_repeats_and_what_deserves_a_look() -> None:
    texts = [
        "晚上好，主人",
        "我想吃鱼",
        "晚上好呀，主人~",
        "今天的月亮真圆啊很好看",
        "今天的月亮真大啊不好看",
    ]
    items = [
        (Sample(id="7"), Response(sample_id="7", text=text, repeat=r)) for r, text in enumerate(texts, 1)
    ]
    scorer = NearDuplicates()
    (score,) = scorer.score_set(items)
    assert (score.name, score.value) == ("near_duplicates.repeats", 1 / 5)
    assert scorer.signature == "near_duplicates|at:0.85|scope:repeats|v:1"
    assert score.details["duplicates"] == [{"answer": "7#3", "of": "7#1", "similarity": 1.0}]
    assert [duplicate["answer"] for duplicate in score.details["review"]] == ["7#5"]
    assert score.details["shares"] == {"0.8": 0.4, "0.85": 0.2, "0.9": 0.2}


def test_the_scorer_has_the_files_in_its_signature(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("\n".join(TURNS), encoding="utf-8")
    scorer = registry.build("scorers", "leakage", {"corpus": str(path)})
    (score,) = scorer.score(Sample(id="1"), Response(sample_id="1", text="我想吃鱼呀！"))
    assert (score.name, score.value, score.details["kind"]) == ("leakage.containment", 1, "particle_only")
    assert score.reason == "particle_only, closest to answer 2 of the corpus"
    path.write_text("别的", encoding="utf-8")
    other = registry.build("scorers", "leakage", {"corpus": [str(path)]})
    assert other.signature != scorer.signature == score.signature
