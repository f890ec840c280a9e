"""What a judgment costs beside its wait: the whole path (render, call, parse, store), and the bare client.

    .venv/bin/python benchmarks/bench_judges.py [--count 2000] [--rounds 3]

Each leg is a process of its own against a stub on loopback (a third process). Printed: efficiency (the ideal
time, count x latency / concurrency, over that of the whole run), CPU of the client per judgment beyond that
of its start, memory above what the imports alone take. The aims: 85 % at 50 ms x 64, 80 % at 200 ms x 256,
0.8 ms of CPU a judgment, 0.55 times the bare client, 60 MB, and 1.5 s for a program that judges one answer.
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
    """CPU seconds and peak megabytes of this process."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime, found.ru_maxrss / 1024


def suite(folder: Path, count: int, url: str) -> Path:
    """A plan of one task with so many answers for a judge."""
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
    """Weigh so many answers; the path from plan to store."""
    from hengwen import run_plan

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_plan(suite(folder, 1, url), store=folder / "warm.db", concurrency=concurrency)  # all imports
        plan = suite(folder, count, url)
        cpu, memory = usage()
        begin = time.perf_counter()
        result = run_plan(plan, store=folder / "x.db", concurrency=concurrency)
        wall = time.perf_counter() - begin
        assert not result.failures
        assert not result.unscored
    after, peak = usage()
    return {"wall": wall, "cpu": after - cpu, "memory": peak - memory}


def openai_leg(url: str, count: int, concurrency: int) -> dict[str, float]:
    """The same prompts by the bare client, as its documentation shows it."""
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

    async def calls(number: int) -> float:
        gate = asyncio.Semaphore(concurrency)
        async with AsyncOpenAI(base_url=url, api_key="x", max_retries=0) as client:

            async def one() -> None:
                async with gate:
                    await client.chat.completions.create(
                        model="stub",
                        messages=messages,  # type: ignore[arg-type]
                        response_format={"type": "json_schema", "json_schema": schema},  # type: ignore[arg-type]
                    )

            begin = time.perf_counter()
            await asyncio.gather(*(one() for _ in range(number)))
            return time.perf_counter() - begin

    asyncio.run(calls(1))
    cpu, memory = usage()
    wall = asyncio.run(calls(count))
    after, peak = usage()
    return {"wall": wall, "cpu": after - cpu, "memory": peak - memory}


def start_time(rounds: int) -> float:
    """Seconds that ``hengwen run`` takes for one judgment, from its start to its end."""
    with stub(0.05) as url, tempfile.TemporaryDirectory() as name:
        plan, took = suite(Path(name), 1, url), []
        for turn in range(max(3, rounds)):
            command = [sys.executable, "-m", "hengwen", "run", str(plan), "--quiet"]
            begin = time.perf_counter()
            subprocess.run(
                [*command, "--store", f"{name}/{turn}.db"],
                env={**os.environ, "OPENAI_API_KEY": "x"},
                check=True,
            )
            took.append(time.perf_counter() - begin)
    return statistics.median(took)


LEGS = {"hengwen": hengwen_leg, "openai": openai_leg}


@contextmanager
def stub(latency: float) -> Iterator[str]:
    """The address of a fresh stub, which runs as long as this is open."""
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
    """Run a leg in a process of its own against a fresh stub."""
    with stub(latency) as url:
        command = [sys.executable, __file__, "--leg", leg, "--url", url, "--count", str(count)]
        done = subprocess.run([*command, "--concurrency", str(concurrency)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--leg", choices=LEGS)
    parser.add_argument("--url")
    parser.add_argument("--concurrency", type=int)
    chosen = parser.parse_args()
    if chosen.leg:
        print(json.dumps(LEGS[chosen.leg](chosen.url, chosen.count, chosen.concurrency)))
        return
    print(f"{'leg':10} {'latency x concurrency':>22} {'efficiency':>11} {'CPU ms':>8} {'MB above':>9}")
    for latency, concurrency in SETTINGS:
        rounds: dict[str, list[dict[str, float]]] = {leg: [] for leg in LEGS}
        for _ in range(chosen.rounds):  # in turn, so that noise falls on both
            for leg, found in rounds.items():
                found.append(measure(leg, latency, chosen.count, concurrency))
        ideal = chosen.count * latency / concurrency
        cpus = {}
        for leg, found in rounds.items():
            median = {key: statistics.median(one[key] for one in found) for key in found[0]}
            cpus[leg] = median["cpu"] / chosen.count * 1000
            setting = f"{latency * 1000:.0f} ms x {concurrency}"
            share, memory = ideal / median["wall"], median["memory"]
            print(f"{leg:10} {setting:>22} {share:>11.1%} {cpus[leg]:>8.2f} {memory:>9.0f}")
        print(f"{'ratio':10} {'hengwen / openai':>22} {'':>11} {cpus['hengwen'] / cpus['openai']:>8.2f}")
    print(f"one judgment from start to end of the program: {start_time(chosen.rounds):.2f} s")


if __name__ == "__main__":
    main()
