"""Memory and time to import a log of inspect: ``python benchmarks/import_log.py [MEGABYTES]``."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from hengwen import import_scores

SAMPLE_BYTES = 2 << 20


def main() -> None:
    """Write a log of samples of 2 MiB each, import it, and print what it took."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    samples = max(1, megabytes // 2)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.eval")
        events = [
            {"event": "model", "text": "x" * 1000, "number": number} for number in range(SAMPLE_BYTES // 1050)
        ]
        with zipfile.ZipFile(log, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("header.json", json.dumps({"eval": {"model": "m", "task": "t"}}))
            for number in range(samples):
                sample = {
                    "id": number,
                    "epoch": 1,
                    "input": f"question {number}",
                    "output": {"completion": f"answer {number}"},
                    "scores": {"match": {"value": "C" if number % 3 else "I"}},
                    "events": events,
                }
                archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        started = time.perf_counter()
        result = import_scores(log, Path(folder, "store.db"))
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        size = log.stat().st_size >> 20
        print(f"{size} MiB, {result.scores} scores: {seconds:.1f} s, peak {peak} MiB (before: {before} MiB)")


if __name__ == "__main__":
    main()
