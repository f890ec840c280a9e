"""Train on a score, evaluate by others: ``python examples/grpo.py MODEL PROMPTS.jsonl PLAN.yaml``.

Written for TRL 1.16. A line of the prompts is ``{"prompt": [{"role": "user", "content": "..."}]}``. The first
checkpoint of the plan names the backend that answers, such as a server of the model. Reports of the plan mark
the score as a reward, if the plan has it with the same options.
"""

import sys

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

from hengwen.integrations import HengwenCallback, as_reward
from hengwen.registry import build

name, prompts, plan = sys.argv[1:]
GRPOTrainer(
    model=name,
    reward_funcs=as_reward(build("scorers", "length", {"least": 20, "most": 200})),
    args=GRPOConfig(output_dir="out", save_steps=100),
    train_dataset=load_dataset("json", data_files=prompts, split="train"),
    callbacks=[HengwenCallback(plan)],
).train()
