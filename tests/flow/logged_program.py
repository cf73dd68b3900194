"""A program that logs runs and kills them: `python logged_program.py FOLDER KILLS SEED`.

Each run has a process of its own, forked from this one, and is killed at a random moment of it. `run-full.log` is one
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

from agentfootprint.flow import Chart, Decider, Flow, Fork, Stage, Subflow

PASSES = 200


def chart() -> Flow:
    """A loop with a mount, a fork, a growing list and text that is mapped around."""

    def start(s: Any) -> None:
        s["n"], s["log"], s["letter"] = 0, [], "Dear Sir or Madam, " * 20

    def count(s: Any) -> None:
        s["total"] = s["given"] + len(s["text"])

    def add(s: Any) -> None:
        s["n"] = s["n"] + 1
        s["log"] = [*s["log"], {"pass": s["n"], "total": s["total"]}]

    def halve(s: Any) -> None:
        s["half"] = s["n"] / 2

    def idle(s: Any) -> None:
        """A stage that does nothing."""

    def again(s: Any) -> str:
        return "again" if s["n"] < PASSES else "stop"

    inner = Chart.of("Count", Stage(count, id="count"))
    return Chart.of(
        "Killed",
        Stage(start, id="start"),
        Subflow(inner, id="sf", input={"given": "n", "text": "letter"}, output=("total",)),
        Stage(add, id="add"),
        Fork([Stage(halve, id="half"), Stage(idle, id="idle")]),
        Decider(again, [Stage(idle, id="again", loop_to="sf"), Stage(idle, id="stop")], id="decide"),
    ).build()


def run(path: Path) -> None:
    asyncio.run(chart().run(run_log=path, max_iterations=10_000))


def main(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    started = time.perf_counter()
    run(folder / "run-full.log")
    took = time.perf_counter() - started
    killed = 0
    for number in range(kills):
        child = os.fork()
        if child == 0:
            run(folder / f"run-{number}.log")
            os._exit(0)
        until = time.perf_counter() + chance.uniform(0.1, 1.1) * took
        while time.perf_counter() < until:
            pass
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
    sys.stdout.write(f"{killed}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
