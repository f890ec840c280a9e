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
"""Share of the cores that other programs may use without a warning."""


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
    """Mean number of cores that other programs kept busy; None where the system does not tell."""
    cores: int
    """Number of cores."""

    @property
    def note(self) -> str:
        """The load in words, with a warning if other programs were busy."""
        note = f"Load average {self.low:.1f} to {self.high:.1f}"
        if self.others is None:
            return f"{note}."
        note += f"; other programs kept {self.others:.1f} of {self.cores} cores busy."
        if self.others > BUSY_SHARE * self.cores:
            note += " **The machine was busy: wall times are too long, and CPU times somewhat.**"
        return note


class LoadSampler:
    """Context manager that samples the load average, and counts the CPU time of other programs."""

    def __init__(self, interval: float = 2.0) -> None:
        self._interval = interval
        self._averages: list[float] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> LoadSampler:
        self._started = time.monotonic()
        self._before = _busy_seconds(), cpu_seconds()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopped.set()
        self._thread.join()
        seconds = time.monotonic() - self._started
        machine, processes = _busy_seconds(), cpu_seconds()
        others = None
        if machine is not None and self._before[0] is not None:
            others = max(0.0, machine - self._before[0] - (processes - self._before[1])) / max(seconds, 1e-9)
        self.load = Load(low=min(self._averages), high=max(self._averages), others=others, cores=cores())

    def _sample(self) -> None:
        while True:
            self._averages.append(os.getloadavg()[0])
            if self._stopped.wait(self._interval):
                return


def _busy_seconds() -> float | None:
    """Return the seconds that all cores together were busy since the system started."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _idle, _waiting, *interrupts = (int(field) for field in fields[:8])
    return (user + nice + system + sum(interrupts[:2])) / os.sysconf("SC_CLK_TCK")


def _first_value(path: str, key: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")
