"""What a plan says about its results: what counts when one ships, where they are logged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hengwen.errors import ConfigError
from hengwen.io.strict_yaml import StrictModel

LogTool = Literal["wandb", "swanlab", "trackio", "mlflow", "tensorboard"]


class ShipSpec(StrictModel):
    """What counts when checkpoints are compared to decide which one to ship."""

    not_worse: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    """For the address of a score (``TASK/SCORE``): how much worse than the best seen a checkpoint may be."""


class LogSpec(StrictModel):
    """A tool that draws curves: ``wandb`` or ``{tensorboard: FOLDER}`` in YAML."""

    tool: LogTool
    folder: Path | None = None
    """Folder of TensorBoard's files, within the folder of the plan."""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"tool": data}
        if isinstance(data, dict) and "tool" not in data:
            if set(data) != {"tensorboard"}:
                raise ValueError("a logger is a name, or tensorboard: FOLDER")
            return {"tool": "tensorboard", "folder": data["tensorboard"]}
        return data

    @model_validator(mode="after")
    def _has_folder(self) -> LogSpec:
        if (self.tool == "tensorboard") != (self.folder is not None):
            raise ValueError("tensorboard: FOLDER says where its files go; the other tools have no folder")
        return self

    def within(self, plan_folder: Path) -> LogSpec:
        """Return the logger with an absolute folder, which a plan may choose only within its own."""
        if self.folder is None:
            return self
        folder = (plan_folder / self.folder).resolve()
        if not folder.is_relative_to(plan_folder.resolve()):
            raise ConfigError(f"tensorboard: {str(self.folder)!r} is not within the folder of the plan")
        return self.model_copy(update={"folder": folder})
