"""The table against pypinyin and jieba themselves, in a process of their own."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from hengwen.objective import rhyme_class

TEXT = """
音乐 快乐 银行 飞行 成长 睡觉 感觉 归还 还是 首都 我的 目的 大地 觉得 看着 睡着 走了 忘不了 为了 一会儿 花儿
相似 似的 淹没 没有 角落 露 颜色 薄荷 主角 尽头 参差 人参 出差 西藏 躲藏 数 曲 歌曲 弯曲 月亮 远方 大海 春天
T恤 卡拉OK K歌 A座 哦 呢 都 什么 暖和 和 说 游说 銀行 音樂 睡覺 著 沒 遠方 一觉 重 模样 血 流血 落 着 得 了
地 行 乐 觉 还 的 子 不 也 在 我 你 一
"""
WORDS = TEXT.split()

CHILD = """
import json, sys, warnings
warnings.simplefilter("ignore")
import jieba
jieba.setLogLevel(60)
from pypinyin import Style, pinyin
from pypinyin_dict.phrase_pinyin_data import large_pinyin
from pypinyin_dict.pinyin_data import cc_cedict
large_pinyin.load()
cc_cedict.load()
tokenizer = jieba.Tokenizer()
tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(jieba.get_module_res("dict.txt"))
tokenizer.initialized = True
lines = json.load(sys.stdin)
print(json.dumps([pinyin(list(tokenizer.cut(x)), style=Style.BOPOMOFO, strict=False)[-1][0] for x in lines]))
"""


def oracle_class(reading: str) -> str:
    plain = reading.rstrip("ˊˇˋ˙")
    if plain.endswith("ㄥ"):
        return "18D" if plain.endswith("ㄩㄥ") or (plain.endswith("ㄨㄥ") and plain != "ㄨㄥ") else "17G"
    table = "ㄚ01M ㄛ02B ㄜ03G ㄝ04J ㄓ05Z ㄔ05Z ㄕ05Z ㄖ05Z ㄗ05Z ㄘ05Z ㄙ05Z ㄦ06E ㄧ07Q ㄟ08W ㄞ09K ㄨ10G"
    table += " ㄩ11Y ㄡ12H ㄠ13H ㄢ14H ㄣ15H ㄤ16T"
    return {pair[0]: pair[1:] for pair in table.split()}[plain[-1]]


@pytest.mark.slow
def test_random_endings_are_classed_as_by_the_dictionaries() -> None:
    chance = random.Random(4)
    lines = WORDS + ["".join(chance.choices(WORDS, k=chance.randrange(2, 5))) for _ in range(1500)]
    lines = [line for line in lines if "\u4e00" <= line[-1] <= "\u9fff"]
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", CHILD],
        input=json.dumps(lines),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    readings = json.loads(done.stdout)
    assert len(readings) == len(lines) > 1400
    wrong = [
        (line, reading)
        for line, reading in zip(lines, readings, strict=True)
        if rhyme_class(line) != oracle_class(reading)
    ]
    assert wrong == []
