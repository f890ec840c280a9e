"""Model names and the vendor families they belong to."""

from __future__ import annotations

from rows import each_row

from hengwen.judges.trust.biases import FAMILIES, families_of, same_family
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite


@each_row(
    ("model", "families"),
    [
        ("openai/gpt-4o-mini", ["openai"]),
        ("o3-mini", ["openai"]),
        ("claude-3-7-sonnet", ["anthropic"]),
        ("gemma3:27b", ["google"]),
        ("THUDM/chatglm2-6b-int4", ["zhipu"]),
        ("Muice-2.7.1-Llama3-Chinese-8b-Instruct", ["meta"]),
        ("deepseek-r1-distill-qwen-7b", ["deepseek", "qwen"]),
        ("models/qwen2.5-7b.gguf/", ["qwen"]),
        ("yi-34b", ["yi"]),
        ("internlm2_5-7b", ["internlm"]),
        ("phi4", ["microsoft"]),
        ("", []),
        ("my-yielding-finetune", []),
        ("ckpt-step-1000-seed-42", []),
        ("openai/tiny-judge-1", []),
    ],
)
def test_a_model_name_gives_its_families_or_none(model, families):
    assert sorted(families_of(model)) == families


def test_no_word_stands_for_two_families():
    words = [word for known in FAMILIES.values() for word in known]
    assert len(words) == len(set(words))
    assert all(families_of(word) == {family} for family, known in FAMILIES.items() for word in known)


def test_models_without_a_family_share_none():
    assert not same_family("tiny", "tiny")
    assert same_family("Qwen3-8B", "DeepSeek-R1-Distill-Qwen-7B") == {"qwen"}


def test_a_judge_of_the_family_of_a_target_is_warned_about_once(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"id": "a", "input": "?"}\n', "utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "output": "x"}\n', "utf-8")
    (tmp_path / "plan.yaml").write_text(
        """\
name: p
tasks:
  - name: t
    samples: s.jsonl
    judges: [{rubric: relevance, backend: gpt}, {rubric: muice_live, panel: [gpt, glm]}]
checkpoints:
  - {name: stored, responses: a.jsonl}
  - {name: one, backend: tuned}
  - {name: two, backend: tuned}
  - {name: three, backend: mine}
backends:
  gpt: {provider: openai, model: gpt-4o}
  glm: {provider: openai, model: glm-4}
  tuned: {provider: openai, model: gpt-4o-mini-tuned}
  mine: {provider: langchain, factory: "a:b"}
""",
        "utf-8",
    )
    warnings = load_suite(load_plan(tmp_path / "plan.yaml"), trust=True).warnings
    assert [warning for warning in warnings if "family" in warning] == [
        "gpt-4o and gpt-4o-mini-tuned are both of the openai family: judges tend to favour their own family; "
        "compare with human labels or use a judge of another family"
    ]
