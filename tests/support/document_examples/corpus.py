"""Two metrics of a text file with a text that has no reference, tested against another system."""

from pathlib import Path

from hengwen.documents.blocks import Document
from hengwen.documents.metrics import corpus_document
from hengwen.runs.score_corpus import Baseline, score_corpus_files

TEXTS = {
    "new": ["今晚月色真美", "我在灯下等你回来", "你好", "再见"],
    "old": ["今晚月亮", "我在窗前等你回来", "好", "再会"],
    "ref": ["今晚月色很美", "我在灯下等你", "你好呀", ""],
}


def example(folder: Path) -> Document:
    for name, lines in TEXTS.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    result = score_corpus_files(
        folder / "new.txt",
        [folder / "ref.txt"],
        metrics=["bleu", "rougeL"],
        baseline=Baseline(file=folder / "old.txt", trials=50),
        seed=5,
    )
    return corpus_document(result)
