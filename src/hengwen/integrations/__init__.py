"""Results in the tools that a training and other evaluations use: loggers, trainers, rewards, frameworks.

Nothing of another tool is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.integrations.loggers import emit_results as emit_results, log_run as log_run
    from hengwen.integrations.rewards import as_reward as as_reward
    from hengwen.integrations.harnesses import to_evalscope as to_evalscope
    from hengwen.integrations.harnesses import to_lm_eval as to_lm_eval
    from hengwen.integrations.harnesses import to_opencompass as to_opencompass
    from hengwen.integrations.harnesses import to_inspect as to_inspect
    from hengwen.integrations.harnesses import to_mlflow as to_mlflow
    from hengwen.integrations.trainer import HengwenCallback as HengwenCallback

_EXPORTS = {
    "harnesses": "to_evalscope to_inspect to_lm_eval to_mlflow to_opencompass",
    "loggers": "emit_results log_run",
    "rewards": "as_reward",
    "trainer": "HengwenCallback",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
