"""Evaluate each checkpoint that a trainer saves: ``python examples/trainer.py MODEL TEXTS.jsonl PLAN.yaml``.

Written for transformers 5.23. Each line of the texts is ``{"text": "..."}``.
"""

import sys

from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

from hengwen.integrations import HengwenCallback


def generate(prompts, *, model, processing_class, **_):
    """Return the model's answer to each prompt."""
    model.eval()  # the trainer sets it back at its next step
    answers = []
    for prompt in prompts:
        tokens = processing_class.apply_chat_template(
            [{"role": "user", "content": prompt}],
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
        ).to(model.device)
        output = model.generate(**tokens, max_new_tokens=512)[0]
        answer = output[tokens["input_ids"].shape[1] :]
        answers.append(processing_class.decode(answer, skip_special_tokens=True))
    return answers


name, texts, plan = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(name)
rows = load_dataset("json", data_files=texts, split="train")
Trainer(
    model=AutoModelForCausalLM.from_pretrained(name),
    args=TrainingArguments(output_dir="out", save_steps=500),
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    train_dataset=rows.map(lambda row: tokenizer(row["text"]), remove_columns=rows.column_names),
    processing_class=tokenizer,
    callbacks=[HengwenCallback(plan, generate)],
).train()
