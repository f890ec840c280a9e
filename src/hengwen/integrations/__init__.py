"""Results in the tools that a training uses: loggers, a callback of the trainer, rewards.

Nothing of another tool is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.integrations.loggers import log_run as log_run
    from hengwen.integrations.rewards import as_reward as as_reward
    from hengwen.integrations.trainer import HengwenCallback as HengwenCallback

_EXPORTS = {
    "loggers": "log_run",
    "rewards": "as_reward",
    "trainer": "HengwenCallback",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
