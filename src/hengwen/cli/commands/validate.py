"""``hengwen validate PLAN``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, print_line, print_warning
from hengwen.errors import ConfigError


def validate(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    trust: options.Trust = False,
) -> None:
    """Check a plan and every file that it names, without evaluating or calling anything."""
    from hengwen.plans.locations import locate
    from hengwen.plans.suite import build_backend, build_backends, key_variable, load_suite

    loaded = load_trusted(plan, trust=trust)
    suite = load_suite(loaded, trust=True)
    build_backends(loaded, check_key=False)  # a missing API key is only a warning
    for name, spec in loaded.backends.items():
        try:
            backend = build_backend(spec, check_key=False)
            key_name = key_variable(spec)
            key = f", key from {key_name}" if key_name else ""
            print_line(f"backend {name}: {backend.endpoint}{key}")
            build_backend(spec)  # fails where its key is missing
        except ConfigError as error:
            print_warning(f"{locate(loaded, 'backends', name)}backend {name!r}: {error}")
    for task in suite.tasks:
        scorers = [scorer.signature for scorer in task.scorers]
        scorers += [scorer.signature for scorer in task.set_scorers]
        judges = [
            f"{judge.name} ({' by '.join([judge.spec.plugin, *judge.spec.backend_names])})"
            for judge in task.panel
        ]
        extra = sorted({name for sample in task.samples.samples.values() for name in sample.metadata})
        print_line(f"task {task.spec.name}: {len(task.samples.samples)} samples")
        print_line(f"  scorers: {', '.join(scorers) or 'none'}")
        print_line(f"  judges: {', '.join(judges) or 'none'}")
        if extra:
            print_line(f"  metadata: {', '.join(extra)}")
    for checkpoint in loaded.checkpoints:
        stored = suite.responses.get(checkpoint.name)
        source = f"{len(stored)} stored answers" if stored is not None else f"backend {checkpoint.backend}"
        print_line(f"checkpoint {checkpoint.name}: {source}")
    if suite.labels or suite.anchors:
        print_line(f"labels: {len(suite.labels)}, anchors: {len(suite.anchors)}")
    for warning in suite.warnings:
        print_warning(warning)
    print_line(f"{plan} is a valid plan")
