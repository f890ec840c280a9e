"""``hengwen validate PLAN``."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, open_or_create_store
from hengwen.cli.ui.messages import print_line, print_warning
from hengwen.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from hengwen.plans.suite import LoadedPlan


def validate(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    store: options.Store = options.DEFAULT_STORE,
    trust: options.Trust = False,
) -> None:
    """Check a plan and every file that it names, without evaluating or calling anything.

    The power of gates is estimated from earlier runs in the store, if there are any.
    """
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
    _show_gates(suite, store, plan)
    for warning in suite.warnings:
        print_warning(warning)
    print_line(f"{plan} is a valid plan")


def _show_gates(suite: LoadedPlan, location: str, path: Path) -> None:
    if not suite.plan.gates:
        return
    from hengwen.documents.gates.gate_text import power_line
    from hengwen.monitoring.gates.power import gate_powers
    from hengwen.store import store_files

    gates = [spec.parsed for spec in suite.plan.gates]
    sizes = {task.spec.name: len(task.samples.samples) for task in suite.tasks}
    files = store_files(location)
    exists = not files or files[0].exists()
    try:
        with open_or_create_store(location) if exists else nullcontext() as store:
            powers = gate_powers(store, suite.plan, gates, sizes)
    except StoreError as error:  # an unreadable store does not make the plan invalid
        print_warning(f"the power of gates is not known: {error}")
        powers = gate_powers(None, suite.plan, gates, sizes)
    command = f"hengwen run {shlex.quote(str(path))}"
    if location != options.DEFAULT_STORE and "://" not in location:  # a URL may have a password
        command += f" --store {shlex.quote(location)}"
    for gate, terms in zip(gates, powers, strict=True):
        if gate.tier == "fail" and [power.text for power in terms] == [gate.expression]:
            print_line(f"gate {power_line(terms[0], command)}")
            continue
        tier = "" if gate.tier == "fail" else f" ({gate.tier})"
        print_line(f"gate {gate.expression}{tier}")
        for power in terms:
            print_line(f"  {power_line(power, command)}")
