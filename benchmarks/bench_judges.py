"""Compare the cost of a judgment (render, call, parse, store) with that of a call by the bare OpenAI client.

    .venv/bin/python benchmarks/bench_judges.py [--count 2000] [--rounds 3]

Hengwen and the client each run in a process of their own, against a local server in a third process. Output:
efficiency (the ideal time, count x latency / concurrency, divided by the actual time), CPU time per judgment
without the start, and memory above that of the imports. Targets: an efficiency of 85 % at 50 ms x 64 calls
and of 80 % at 200 ms x 256 calls, 0.8 ms of CPU a judgment, 0.55 times the CPU of the bare client, 60 MB, and
1.5 s for a program that judges one answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS = ((0.05, 64), (0.2, 256))


def usage() -> tuple[float, float]:
    """Return CPU seconds and peak megabytes of this process."""
    numbers = resource.getrusage(resource.RUSAGE_SELF)
    return numbers.ru_utime + numbers.ru_stime, numbers.ru_maxrss / 1024


def write_plan(folder: Path, count: int, url: str) -> Path:
    """Write a plan of one task with stored answers and one judge; return its path."""
    samples = [{"id": f"q{i}", "input": f"第{i}位船友问：今晚的风几点停？"} for i in range(count)]
    answers = [{"id": f"q{i}", "output": f"船友，第{i}封信我记一笔，风三点前会停。"} for i in range(count)]
    for name, rows in (("prompts", samples), ("a", answers)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    plan = {
        "name": "bench",
        "tasks": [
            {
                "name": "t",
                "samples": "prompts.jsonl",
                "judges": [{"rubric": "persona_generic", "backend": "j"}],
            }
        ],
        "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
        "backends": {"j": {"provider": "openai", "model": "stub", "base_url": url}},
    }
    (folder / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    return folder / "plan.yaml"


def hengwen_leg(url: str, count: int, concurrency: int) -> dict[str, float]:
    """Judge answers with Hengwen: run a plan with a store."""
    from hengwen import run_plan

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_plan(write_plan(folder, 1, url), store=folder / "warm.db", concurrency=concurrency)  # warm up
        plan = write_plan(folder, count, url)
        cpu, memory = usage()
        begin = time.perf_counter()
        result = run_plan(plan, store=folder / "x.db", concurrency=concurrency)
        wall = time.perf_counter() - begin
        assert not result.failures
        assert not result.unscored
    after, peak = usage()
    return {"wall": wall, "cpu": after - cpu, "memory": peak - memory}


def openai_leg(url: str, count: int, concurrency: int) -> dict[str, float]:
    """Send the same prompts with the bare OpenAI client, as its documentation shows."""
    from openai import AsyncOpenAI

    from hengwen.judges.rubric.verdict import verdict_schema
    from hengwen.prompts import load_rubric
    from hengwen.prompts.render import render_judge_prompt
    from hengwen.records import Response, Sample

    rubric = load_rubric("persona_generic")
    schema = {"name": "verdict", "strict": True, "schema": verdict_schema(rubric)}
    turns = render_judge_prompt(
        rubric,
        Sample(id="1", input="今晚的风几点停？"),
        Response(sample_id="1", text="三点前会停呐。"),
        language="zh",
    )
    messages = [{"role": role, "content": content} for role, content in turns]

    async def send_all(number: int) -> float:
        gate = asyncio.Semaphore(concurrency)
        async with AsyncOpenAI(base_url=url, api_key="x", max_retries=0) as client:

            async def call() -> None:
                async with gate:
                    await client.chat.completions.create(
                        model="stub",
                        messages=messages,  # type: ignore[arg-type]
                        response_format={"type": "json_schema", "json_schema": schema},  # type: ignore[arg-type]
                    )

            begin = time.perf_counter()
            await asyncio.gather(*(call() for _ in range(number)))
            return time.perf_counter() - begin

    asyncio.run(send_all(1))
    cpu, memory = usage()
    wall = asyncio.run(send_all(count))
    after, peak = usage()
    return {"wall": wall, "cpu": after - cpu, "memory": peak - memory}


def start_time(rounds: int) -> float:
    """Return the seconds that the program ``hengwen run`` takes for one judgment."""
    with stub(0.05) as url, tempfile.TemporaryDirectory() as name:
        plan, seconds = write_plan(Path(name), 1, url), []
        for turn in range(max(3, rounds)):
            command = [sys.executable, "-m", "hengwen", "run", str(plan), "--quiet"]
            begin = time.perf_counter()
            subprocess.run(
                [*command, "--store", f"{name}/{turn}.db"],
                env={**os.environ, "OPENAI_API_KEY": "x"},
                check=True,
            )
            seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


LEGS = {"hengwen": hengwen_leg, "openai": openai_leg}


@contextmanager
def stub(latency: float) -> Iterator[str]:
    """Start the server that answers with a fixed verdict, yield its URL, and stop it at the end."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("judge_stub.py")), str(latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.stdin.close()
        process.wait()


def measure(leg: str, latency: float, count: int, concurrency: int) -> dict[str, float]:
    """Run Hengwen or the client in its own process against a new server."""
    with stub(latency) as url:
        command = [sys.executable, __file__, "--leg", leg, "--url", url, "--count", str(count)]
        process = subprocess.run(
            [*command, "--concurrency", str(concurrency)], capture_output=True, text=True
        )
    if process.returncode:
        raise SystemExit(process.stderr)
    numbers: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return numbers


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--leg", choices=LEGS)
    parser.add_argument("--url")
    parser.add_argument("--concurrency", type=int)
    options = parser.parse_args()
    if options.leg:
        print(json.dumps(LEGS[options.leg](options.url, options.count, options.concurrency)))
        return
    print(f"{'leg':10} {'latency x concurrency':>22} {'efficiency':>11} {'CPU ms':>8} {'MB above':>9}")
    for latency, concurrency in SETTINGS:
        rounds: dict[str, list[dict[str, float]]] = {leg: [] for leg in LEGS}
        for _ in range(options.rounds):  # alternating, so that noise affects both
            for leg, results in rounds.items():
                results.append(measure(leg, latency, options.count, concurrency))
        ideal = options.count * latency / concurrency
        cpus = {}
        for leg, results in rounds.items():
            median = {key: statistics.median(result[key] for result in results) for key in results[0]}
            cpus[leg] = median["cpu"] / options.count * 1000
            setting = f"{latency * 1000:.0f} ms x {concurrency}"
            share, memory = ideal / median["wall"], median["memory"]
            print(f"{leg:10} {setting:>22} {share:>11.1%} {cpus[leg]:>8.2f} {memory:>9.0f}")
        print(f"{'ratio':10} {'hengwen / openai':>22} {'':>11} {cpus['hengwen'] / cpus['openai']:>8.2f}")
    print(f"program that judges one answer: {start_time(options.rounds):.2f} s")


if __name__ == "__main__":
    main()
