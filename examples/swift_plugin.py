"""A reward and the evaluation of saved checkpoints for ms-swift 4.6, which loads this file.

``swift rlhf --rlhf_type grpo --external_plugins examples/swift_plugin.py --reward_funcs hengwen
--callbacks hengwen ...``; the first checkpoint of ``plan.yaml`` names the backend that answers.
"""

from swift.callbacks import callbacks_map
from swift.rewards import orms

from hengwen.integrations import HengwenCallback, as_reward
from hengwen.registry import build

orms["hengwen"] = as_reward(build("scorers", "length", {"least": 20, "most": 200}), for_="swift")
callbacks_map["hengwen"] = lambda _args, _trainer: HengwenCallback("plan.yaml")
