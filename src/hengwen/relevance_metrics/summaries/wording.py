"""Sentences of the explanation of a summary, in English and Chinese."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "level": "Level: {n} scores, mean {mean}, median {median}, {share} at or above {top}.",
        "pen": "Permutation entropy (m={m}, delay={delay}): {value} nats, {part} of log {m}!.{null} "
        "{verdict}",
        "pen_none": "Permutation entropy: {n} scores are too few for m={m} and delay={delay}; {need} are "
        "needed.",
        "cin": "Inversions: {value} of {pairs} pairs fall.{null} {verdict}",
        "lis": "Longest increasing subsequence: {value}, or {weak} if equal scores may follow.{null} "
        "{verdict}",
        "null": " Random order of the same scores gives {mean} (sd {sd}){z}, p {p}.",
        "z": ", z {z}",
        "pen_low": "The short-term ups and downs are more regular than chance.",
        "pen_high": "The short-term ups and downs are more varied than chance.",
        "pen_same": "The short-term ups and downs are no different from random order.",
        "cin_low": "Later scores tend to be higher: a rise beyond chance.",
        "cin_high": "Later scores tend to be lower: a fall beyond chance.",
        "cin_same": "There is no rise or fall beyond chance; a small one may be missed.",
        "lis_high": "The longest rise is longer than chance gives.",
        "lis_low": "The longest rise is shorter than chance gives.",
        "lis_same": "The longest rise is no different from random order.",
        "not_tested": "It was not tested.",
        "limits": "These three metrics depend on the order only. If every score were lower by the same "
        "amount they would not change: they do not say how good the scores are, nor whether two checkpoints "
        "differ in level. They depend on n: compare at equal n, or by z. The p-values assume scores that are "
        "independent of their neighbours, and are not corrected for testing several metrics.",
        "short": "Warning: {windows} patterns are few for m={m}; below {enough} the entropy is too low.",
        "too_short": "Warning: the sequence is too short for m={m}.",
        "ties": "Warning: there are {levels} distinct scores, and {tied} of all pairs are tied. A tie is "
        "read as a rise, so random order does not reach log {m}!, and a strict subsequence has at most "
        "{levels} members.",
        "constant": "Warning: all scores are equal, so they have no order.",
        "untested": "Warning: the sequence is too long for random orders; only the inversions are tested.",
    },
    "zh": {
        "level": "水平：共 {n} 个分数，均值 {mean}，中位数 {median}，{share} 的分数不低于 {top}。",
        "pen": "排列熵（m={m}，延迟 {delay}）：{value} 奈特，为 log {m}! 的 {part}。{null}{verdict}",
        "pen_none": "排列熵：{n} 个分数太少，m={m}、延迟 {delay} 时至少需要 {need} 个。",
        "cin": "逆序数：{pairs} 对分数中有 {value} 对后者低于前者。{null}{verdict}",
        "lis": "最长上升子序列：长度 {value}，允许相等时为 {weak}。{null}{verdict}",
        "null": "相同分数随机排列时，均值为 {mean}（标准差 {sd}）{z}，p 值 {p}。",
        "z": "，z 值 {z}",
        "pen_low": "短期起伏比随机排列更规律。",
        "pen_high": "短期起伏比随机排列更多样。",
        "pen_same": "短期起伏与随机排列没有显著差异。",
        "cin_low": "后面的分数往往更高，上升趋势显著。",
        "cin_high": "后面的分数往往更低，下降趋势显著。",
        "cin_same": "没有显著的上升或下降趋势；较小的趋势可能检测不出。",
        "lis_high": "最长上升子序列比随机排列时更长。",
        "lis_low": "最长上升子序列比随机排列时更短。",
        "lis_same": "最长上升子序列与随机排列没有显著差异。",
        "not_tested": "未做检验。",
        "limits": "这三个指标只取决于分数的次序：如果所有分数降低相同的量，它们都不变。"
        "因此它们不能说明分数的高低，也不能说明两个检查点的水平是否不同。"
        "它们随 n 变化：只在 n 相同时直接比较，否则比较 z 值。"
        "p 值假定每个分数与相邻分数独立，且未做多重检验校正。",
        "short": "注意：m={m} 时 {windows} 个模式偏少，少于 {enough} 个时熵值偏低。",
        "too_short": "注意：序列太短，无法计算 m={m} 的排列熵。",
        "ties": "注意：只有 {levels} 个不同的分数，{tied} 的分数对相等。"
        "相等按上升处理，因此随机排列也达不到 log {m}!，严格上升子序列的长度不超过 {levels}。",
        "constant": "注意：所有分数相等，没有次序。",
        "untested": "注意：序列太长，未做随机排列，只检验了逆序数。",
    },
}
"""Sentences by language and key; the key of a warning is its name in ``SequenceSummary.warnings``."""
