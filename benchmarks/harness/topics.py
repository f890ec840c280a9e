"""The topics of the results: which scripts measure them, with which options and time limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A benchmark script and its options."""

    name: str
    """File name in ``benchmarks``."""
    options: tuple[str, ...] = ()
    """Options of a full measurement."""
    quick: tuple[str, ...] = ()
    """Options of a quick measurement, which shows only that the script works."""
    rounds: int | None = 3
    """Rounds of a full measurement; None if the script has no rounds."""
    seconds: int = 600
    """Time limit in seconds."""
    is_pytest: bool = False
    """Whether the script is run by pytest-benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A section of the results."""

    name: str
    """Value of ``--only``."""
    title: str
    """Heading of the section."""
    scripts: tuple[Script, ...]
    """Scripts, in the order of their tables."""


PARTS_OF_200 = (
    "family",
    "decision",
    "groups",
    "intervals",
    "judge-drift",
    "admission",
    "calibration",
    "rankings",
    "compare",
    "course",
    "gate",
)
"""Parts of ``bench_monitoring.py`` that simulate 200 cases; a thousand would take hours."""
TOPICS = (
    Topic(
        name="lyrics",
        title="Lyric scorer",
        scripts=(Script(name="bench_lyrics.py", is_pytest=True, rounds=11),),
    ),
    Topic(
        name="sequences",
        title="Sequence metrics",
        scripts=(Script(name="bench_sequences.py", is_pytest=True, rounds=15),),
    ),
    Topic(
        name="text",
        title="Text metrics",
        scripts=(
            Script(name="bench_text.py", quick=("-k", "not near_duplicates"), is_pytest=True, rounds=5),
        ),
    ),
    Topic(
        name="judges",
        title="Judges",
        scripts=(
            Script(name="bench_judges.py", quick=("--count", "200", "--peer-count", "100"), seconds=1200),
            Script(name="bench_judge_run.py", quick=("--count", "200")),
        ),
    ),
    Topic(
        name="faults",
        title="Endpoints that refuse, fail or limit calls",
        scripts=(
            Script(name="bench_faults.py", quick=("--count", "200", "--limited", "60")),
            Script(name="bench_outages.py", quick=("--count", "200", "--seconds", "1"), rounds=1),
        ),
    ),
    Topic(
        name="fuzz",
        title="Hostile texts, replies and files",
        scripts=(
            Script(
                name="bench_fuzz.py",
                quick=("--sizes", "1000", "10000", "--only", "lyric"),
                rounds=None,
                seconds=7200,
            ),
            Script(name="bench_memory_limits.py", rounds=None),
        ),
    ),
    Topic(
        name="kill",
        title="Killed and concurrent runs",
        scripts=(
            Script(name="bench_kill.py", quick=("--count", "200", "--kills", "5"), rounds=6, seconds=1800),
            Script(name="bench_two_processes.py", quick=("--count", "600")),
        ),
    ),
    Topic(
        name="run",
        title="The whole run",
        scripts=(
            Script(name="bench_main_job.py", quick=("--answers", "1080"), rounds=1, seconds=900),
            Script(name="bench_stages.py", quick=("--count", "200")),
        ),
    ),
    Topic(
        name="reports",
        title="Reports",
        scripts=(
            Script(name="bench_intervals.py", quick=("--sizes", "100", "10000"), rounds=5),
            Script(name="bench_report.py", quick=("--sizes", "120"), seconds=600),
            Script(name="bench_view.py", quick=("--checkpoints", "10", "--prompts", "60", "--steps", "5")),
            Script(name="bench_monitoring.py", options=("--part", "speed"), quick=("--checkpoints", "10")),
        ),
    ),
    Topic(
        name="peer-review",
        title="Peer review: 1,000,000 battles",
        scripts=(Script(name="bench_peer_review.py", seconds=900),),
    ),
    Topic(name="start", title="Start", scripts=(Script(name="bench_start.py", rounds=9),)),
    Topic(
        name="memory",
        title="Memory",
        scripts=(
            Script(name="bench_stream.py", quick=("--counts", "1000", "4000"), rounds=1),
            Script(
                name="bench_million.py",
                options=("--lyrics", "100000", "--judgments", "50000"),
                quick=("--lyrics", "1000", "--judgments", "200"),
                rounds=None,
            ),
        ),
    ),
    Topic(
        name="monitoring",
        title="Simulated error rates of monitoring",
        scripts=(
            Script(
                name="bench_monitoring.py",
                options=("--part", "slope", "drift"),
                quick=("--samples", "10"),
                rounds=None,
                seconds=3600,
            ),
            Script(
                name="bench_monitoring.py",
                options=("--samples", "200", "--part", *PARTS_OF_200),
                quick=("--samples", "10"),
                rounds=None,
                seconds=7200,
            ),
        ),
    ),
    Topic(
        name="calibration",
        title="Simulated intervals of calibration",
        scripts=(
            Script(name="bench_kappa.py", quick=("--simulations", "10"), rounds=None, seconds=1800),
            Script(name="bench_ppi.py", quick=("--simulations", "10"), rounds=None, seconds=1800),
        ),
    ),
)
