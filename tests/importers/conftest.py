"""A small document in the shape of the Muice evaluation page, with words of our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

DOCUMENT = """\
## 怎么给分

四个小任务，说明如下：

### 新话题发起测试

由角色主动开口。

| 要求                       | 分数 |
| -------------------------- | ---- |
| 像在回应这条 Prompt ；有趣；不啰嗦 | 1    |
| 略像别的提示；有一句不顺   | 0.75 |
| 一般；像谁都会说的话       | 0.5  |
| 勉强看得懂                 | 0.25 |
| 看不懂；坏了               | 0    |

例子：

| Prompt               | Response       | Score | Reason                 |
| -------------------- | -------------- | ----- | ---------------------- |
| <生成推文: AI生活>   | 风扇今天唱歌了 | 1     | 1. 具体；2. 只有她会说 |
| <日常问候：早上>     | 早            | 0.25  | 1. 太短                |

每个 Prompt 用默认参数重复生成 5 个答案，若下方的答案与上方高度吻合，此答案计 0 分。平均分 * 10 就是得分。

### 直播对话测试

每个 Prompt 重复生成 3 个答案，若下方的答案与上方高度吻合，此答案计 0 分。平均分 * 10 就是得分。

| 要求                  | 分数 |
| --------------------- | ---- |
| 接得住；不输参考      | 1    |
| 比参考稍差            | 0.75 |
| 只换了语气词          | 0.5  |
| 答非所问              | 0.25 |
| 毫不相干              | 0    |

评测 Prompt | 参考答案 有：

1. input: 晚饭吃了吗␠
target: 吃了⭐半节电池😊

2. input: 2^3-log2(4)是多少？␠
target: 2^3-log_2(4) = 8 - 2 = 6

3. input: 你怕不怕“停电呢”？怕“打雷”吗？␠
target: 别·催·我...（躲起来）

### 情感对话测试

每个 Prompt 重复生成 3 个答案，若下方的答案与上方高度吻合，此答案计 0 分。平均分 * 10 就是得分。

评测标准参考“直播对话测试”。

评测 Prompt 和 参考答案 有：

1. input: 今天有点累␠
target: 那就先坐一会儿吧。

2. input: 我喜欢下雨天 |（探头）我也喜欢！

3. input: 朋友确诊了抑郁，我该说什么␠
target: 先听，别急着劝。

### 综合对话测试

评测标准参考“直播对话测试”。

例子：

| Prompt   | Label        | Response | Score | Reason          |
| -------- | ------------ | -------- | ----- | --------------- |
| 在吗在吗 | 在的，刚醒。 | 不在     | 0     | 1. 冷淡；答错了 |

每一个 Prompt 仅取一个答案，比较风格。将总分除以 10  就是得分。
""".replace("␠", " ")  # a blank at the end of a line


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., Path]:
    """Write the document, each old text changed into a new one, and return its path."""

    def write(*changes: tuple[str, str], name: str = "evaluate.md", end: str = "\n") -> Path:
        text = DOCUMENT
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_bytes(text.replace("\n", end).encode())
        return path

    return write


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """The lines of the document."""
    return DOCUMENT.split("\n")
