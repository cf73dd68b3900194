"""A program that spills records of agents and kills them: `python spilled_program.py FOLDER KILLS SEED`.

Each run has a process of its own, forked from this one, and is killed at a random moment of it. `full.jsonl` is of one
that was left alone. What is printed is how many were killed before their end.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from agentfootprint import Agent, Fact, Limits, Mock, RecordOptions, RunOptions, tool

ITERATIONS = 120


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    await asyncio.sleep(0)
    return f"Order {order_id}: purchased 47 days ago, price $480, category electronics."


def agent(folder: Path) -> Agent[Any, Any]:
    """An agent that looks orders up, one an iteration, and answers in the last."""
    calls = [Mock.call("lookup", order_id=f"A-{n:04}") for n in range(ITERATIONS - 1)]
    return Agent(
        Mock([*calls, "The last one was shipped today, all the others were delivered a week ago."], cursor="run"),
        system="You look after orders.",
        tools=[lookup],
        context=[Fact("vip", "Dana Reyes holds VIP status: refunds are approved beyond 30 days.")],
        limits=Limits(iterations=ITERATIONS + 1),
        record=RecordOptions(spill=folder),
    )


def run(folder: Path, name: str) -> None:
    asyncio.run(agent(folder).run("Where are my orders?", options=RunOptions(run_id=name)))


def main(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    run(folder, "warm")
    started = time.perf_counter()
    run(folder, "full")
    took = time.perf_counter() - started
    killed = 0
    for number in range(kills):
        child = os.fork()
        if child == 0:
            run(folder, f"run-{number}")
            os._exit(0)
        until = time.perf_counter() + chance.uniform(0.05, 1.1) * took
        while time.perf_counter() < until:
            pass
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
    sys.stdout.write(f"{killed}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
