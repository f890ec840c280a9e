"""Parts of a plan in YAML: a scorer, what counts when a checkpoint ships, where results are logged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from hengwen.errors import ConfigError
from hengwen.io.strict_yaml import StrictModel


def _plain_name(value: str) -> str:
    if not re.fullmatch(r"[^\W_][\w.\-]*", value) or len(value) > 100:
        raise ValueError(
            "a name starts with a letter or digit and has only letters, digits, '_', '-' and '.'"
        )
    return value


def _number_as_text(value: Any) -> Any:
    """Return a number as text, so that a name such as 1000 needs no quotes in YAML."""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


Name = Annotated[str, BeforeValidator(_number_as_text), AfterValidator(_plain_name)]


class ScorerSpec(StrictModel):
    """A scorer of a task: ``lyric``, ``{lyric: {rules: muchin}}`` or ``{lyric: {...}, name: x}`` in YAML.

    The long form is ``{scorer: lyric, options: {...}, name: x}``.
    """

    written_keys: ClassVar[dict[str, str]] = {"name": "score_prefix"}

    name: str
    """Name of a plug-in, or the location of a class: ``module:Class`` or ``file.py:Class``."""
    options: dict[str, Any] = {}
    score_prefix: Name | None = None
    """First part of the score names (``name`` in YAML); default: the first part that the scorer uses."""

    @model_validator(mode="before")
    @classmethod
    def _yaml_forms(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"name": data}
        if isinstance(data, ScorerSpec):
            return data
        form = "a scorer is a name, or NAME: {OPTION: VALUE} with an optional name:"
        if not isinstance(data, dict):
            raise ValueError(form)
        if "scorer" in data:
            others = {key: value for key, value in data.items() if key not in ("scorer", "name")}
            return {"name": data["scorer"], "score_prefix": data.get("name"), **others}
        if "name" in data and set(data) <= {"name", "options", "score_prefix"}:
            return data
        plugins = [key for key in data if key != "name"]
        if len(plugins) != 1:
            raise ValueError(form)
        options = data[plugins[0]]
        if options is not None and not isinstance(options, dict):
            raise ValueError(f"the options of {plugins[0]!r} must be a mapping")
        return {"name": plugins[0], "options": options or {}, "score_prefix": data.get("name")}


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
