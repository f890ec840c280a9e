"""Parse the words after ``--batch``, and refuse options that cannot be combined with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import typer

    from hengwen.runs.batch.options import BatchAction, BatchOptions

TAKES = {"export": "one folder", "import": "one or more files", "cancel": "no further word"}


def batch_options(
    context: typer.Context,
    words: Sequence[str],
    *,
    batch: bool,
    refused: Mapping[str, bool],
    poll: float,
    online_below: int,
    report: Callable[[str], None] | None,
) -> BatchOptions | None:
    """Return the options of a run in batches; None without ``--batch``."""
    from hengwen.cli.ui.options import refuse
    from hengwen.errors import ConfigError
    from hengwen.runs.batch.options import BatchOptions

    if not batch:
        if words:
            raise ConfigError(f"{words[0]!r} needs --batch, as in: hengwen run PLAN --batch export FOLDER")
        refuse(context, dict.fromkeys(("poll", "online_below"), "needs --batch"))
        return None
    for option, is_set in refused.items():
        if is_set:
            raise ConfigError(
                f"{option} cannot be combined with --batch, which resumes until no call is missing"
            )
    action, paths = _parse(words)
    reason = f"does not apply to --batch {action}"
    ignored = {"export": ("poll", "online_below"), "import": ("poll", "online_below", "dry_run")}
    refuse(context, dict.fromkeys({**ignored, "cancel": ("online_below", "dry_run")}.get(action, ()), reason))
    missing = [path for path in paths if action == "import" and not path.is_file()]
    if missing:
        raise ConfigError(f"{missing[0]}: no such file")
    if action == "export" and paths[0].exists() and not paths[0].is_dir():
        raise ConfigError(f"{paths[0]}: is no folder; --batch export writes files into a folder")
    return BatchOptions(
        action=action,
        folder=paths[0] if action == "export" else None,
        files=tuple(paths) if action == "import" else (),
        poll_seconds=poll,
        online_below=online_below,
        report=report,
    )


def _parse(words: Sequence[str]) -> tuple[BatchAction, list[Path]]:
    """Return the action and its paths."""
    from hengwen.errors import ConfigError, did_you_mean

    if not words:
        return "run", []
    word, *names = words
    actions: dict[str, BatchAction] = {"export": "export", "import": "import", "cancel": "cancel"}
    if word not in actions:
        raise ConfigError(f"unknown word {word!r} after --batch{did_you_mean(word, TAKES)}")
    if not {"export": len(names) == 1, "import": bool(names), "cancel": not names}[word]:
        raise ConfigError(f"--batch {word} takes {TAKES[word]}, got {len(names)}")
    return actions[word], [Path(name) for name in names]
