"""`python -m benchmarks`: ours beside two floors, alternated in fresh processes; prints a table and stores it.

Ratios are of minima over the rounds: on a shared machine they hold where microseconds don't.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import adapters, candidates, concurrent, observers

SIZES = (50, 2000)
OUT = Path(__file__).parent / "results" / "floors.json"


def _measure(name: str, iterations: int, *extra: str) -> float:
    command = [sys.executable, "-m", "benchmarks.candidates", name, str(iterations), *extra]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def alternate(rounds: int) -> dict[str, dict[int, list[float]]]:
    """Time every candidate at every size, in turn, `rounds` times."""
    times: dict[str, dict[int, list[float]]] = {name: {size: [] for size in SIZES} for name in candidates.CANDIDATES}
    for number in range(rounds):
        for size in SIZES:
            for name in candidates.CANDIDATES:
                times[name][size].append(_measure(name, size))
                print(f"round {number + 1} of {rounds}  {name:<15} N={size:<5} ", end="", file=sys.stderr)
                print(f"{times[name][size][-1] * 1e6:8.1f} us an iteration", file=sys.stderr)
    return times


def report(times: dict[str, dict[int, list[float]]]) -> dict[str, Any]:
    """The figures that are promised, from the times and from counts."""
    best = {name: {size: min(values) for size, values in sizes.items()} for name, sizes in times.items()}
    middle = {
        name: {size: statistics.median(values) for size, values in sizes.items()} for name, sizes in times.items()
    }
    small, large = SIZES
    without_collector = _measure("agentfootprint", large, "--no-gc")
    return {
        "microseconds": {name: {str(size): best[name][size] * 1e6 for size in SIZES} for name in best},
        "medians": {name: {str(size): middle[name][size] * 1e6 for size in SIZES} for name in middle},
        "timesRecordedFloor": best["agentfootprint"][small] / best["recorded-floor"][small],
        "timesBareLoop": best["agentfootprint"][small] / best["bare"][small],
        "growth": best["agentfootprint"][large] / best["agentfootprint"][small],
        "collectorShare": max(0.0, 1 - without_collector / best["agentfootprint"][large]),
        "recordingBytesPerIteration": candidates.recording_bytes_per_iteration(),
        "trackedObjectsPerIteration": candidates.tracked_objects_per_iteration(),
        "memoryBytesPerIteration": candidates.memory_per_iteration(),
        "perIteration": candidates.counts_per_iteration(),
        "concurrentShare": concurrent.share_of_single_rate(),
        "tenObservers": observers.times_unobserved(),
        "adapterMicroseconds": {name: adapters.seconds_a_request(name) * 1e6 for name in adapters.ADAPTERS},
    }


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="How often each candidate is timed (default 4).")
    figures = report(alternate(parser.parse_args().rounds))
    print(f"{'':<16}{'N=50':>12}{'N=2,000':>12}   us an iteration, minimum of the rounds")
    for name, sizes in figures["microseconds"].items():
        print(f"{name:<16}{sizes['50']:>12.1f}{sizes['2000']:>12.1f}")
    print(f"against the recorded floor, N=50   {figures['timesRecordedFloor']:.1f} x   (at most 12, goal 8)")
    print(f"against the bare loop, N=50        {figures['timesBareLoop']:.1f} x")
    print(f"growth, N=2,000 to N=50            {figures['growth']:.2f}    (at most 1.5)")
    print(f"collector's share at N=2,000       {figures['collectorShare']:.0%}    (under 5 %)")
    print(f"recording, bytes an iteration      {figures['recordingBytesPerIteration']:,.0f}   (at most 4,096)")
    print(f"tracked objects an iteration       {figures['trackedObjectsPerIteration']:.1f}   (at most 8)")
    print(f"memory, bytes an iteration         {figures['memoryBytesPerIteration']:,.0f}")
    print("an iteration is                    " + ", ".join(f"{v:g} {k}" for k, v in figures["perIteration"].items()))
    print(f"1,000 runs at once, each so fast   {figures['concurrentShare']:.2f} of one alone   (at least 0.8)")
    print(f"ten listeners, against none        {figures['tenObservers']:.2f}    (at most 1.5)")
    added = ", ".join(f"{name} {value:.0f}" for name, value in figures["adapterMicroseconds"].items())
    print(f"an adapter adds, us a request      {added}   (200 messages, 2 of them new; at most 300)")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(f"stored in {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}")


if __name__ == "__main__":
    main()
