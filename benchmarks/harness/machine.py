"""The machine that benchmarks run on, and how busy other programs keep it."""

from __future__ import annotations

import os
import platform
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from .figures import cpu_seconds

BUSY_SHARE = 0.15
"""Share of the cores that may be lost to other programs and to the host without a warning."""


def machine_facts() -> dict[str, str]:
    """Return the processor, the number of cores, memory, system and Python version."""
    return {
        "processor": _first_value("/proc/cpuinfo", "model name")
        or platform.processor()
        or platform.machine(),
        "cores": str(cores()),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
    }


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load of the machine while a topic ran."""

    low: float
    """Smallest load average (of one minute), the benchmark itself included."""
    high: float
    """Largest load average."""
    others: float | None
    """Mean number of cores that were kept busy by programs for which the scripts do not wait: other programs,
    but also PostgreSQL and Ray; None where the system does not report it."""
    cores: int
    """Number of cores."""
    stolen: float = 0.0
    """Mean number of cores that the host gave to other virtual machines (steal time)."""

    @property
    def note(self) -> str:
        """The load in words, with a warning if other programs were busy."""
        note = f"Load average {self.low:.1f} to {self.high:.1f}"
        if self.others is None:
            return f"{note}."
        note += "; programs outside the benchmark's processes, its PostgreSQL and Ray included, kept"
        note += f" {self.others:.1f} of {self.cores} cores busy"
        note += f"; the host took {self.stolen:.1f} cores." if self.stolen >= 0.05 else "."
        if self.others + self.stolen > BUSY_SHARE * self.cores:
            note += (
                " **Unless that was PostgreSQL or Ray of the benchmark, the machine was busy: wall times are"
            )
            note += " too long, and CPU times somewhat.**"
        return note


class LoadSampler:
    """Context manager that samples the load average, and counts the CPU time outside the scripts."""

    def __init__(self, interval: float = 2.0) -> None:
        self._interval = interval
        self._averages: list[float] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> LoadSampler:
        self._started = time.monotonic()
        self._before = _machine_seconds(), cpu_seconds()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopped.set()
        self._thread.join()
        seconds = time.monotonic() - self._started
        machine, processes = _machine_seconds(), cpu_seconds() - self._before[1]
        others, stolen = None, 0.0
        if machine is not None and self._before[0] is not None:
            busy, steal = (after - before for after, before in zip(machine, self._before[0], strict=True))
            others = max(0.0, busy - processes) / max(seconds, 1e-9)
            stolen = steal / max(seconds, 1e-9)
        low, high = min(self._averages), max(self._averages)
        self.load = Load(low=low, high=high, others=others, cores=cores(), stolen=stolen)

    def _sample(self) -> None:
        while True:
            self._averages.append(os.getloadavg()[0])
            if self._stopped.wait(self._interval):
                return


def _machine_seconds() -> tuple[float, float] | None:
    """Return the core-seconds, since the system started, that were busy, and those that the host took."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _idle, _waiting, *interrupts, stolen = (int(field) for field in fields[:8])
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + sum(interrupts)) / ticks, stolen / ticks


def _first_value(path: str, key: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")
