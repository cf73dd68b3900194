"""`python -m benchmarks.peers`: ours, the floors and the peers, in turn and in fresh processes; stores a table.

Run it with `make bench-peers`, which makes the environment that has the peers. What takes longer than a minute is cut
off, and isn't tried again in later rounds. Ratios are of minima over the rounds: on a shared machine they hold where
microseconds don't.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers import measure, table

OUT = Path(__file__).parents[1] / "results" / "peers.json"
PACKAGES = ("agentfootprint", "langgraph", "langgraph-checkpoint", "pydantic-ai-slim", "openai-agents")
TIMED_IMPORT = "import time; begun = time.perf_counter(); {}; print(time.perf_counter() - begun)"
IMPORTS_A_ROUND = 3


def run(name: str, iterations: int, limit: float) -> dict[str, Any]:
    """One candidate at one length, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.peers.measure", name, str(iterations), str(limit)]
    try:  # a candidate that never yields can't be cut off from inside
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=3 * limit + 60)
    except subprocess.TimeoutExpired:
        return {"seconds": None, "reached": None, "bytes": None, "peak": 0, "added": None}
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        raise SystemExit(f"{name} failed at N={iterations}.") from error
    return json.loads(done.stdout.splitlines()[-1])


def timed_import(statement: str) -> float:
    """Seconds that a statement takes in a fresh interpreter, its start not counted."""
    command = [sys.executable, "-c", TIMED_IMPORT.format(statement)]
    # Whatever this shell says, all are imported from byte code, as installed packages are.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def time_imports(imports: dict[str, list[float]], times: int) -> None:
    """Time every import in turn, so many times."""
    for _ in range(times):
        for name, statement in table.IMPORTS.items():
            imports[name].append(timed_import(statement))


def alternate(rounds: int, limit: float) -> tuple[table.Samples, dict[str, list[float]]]:
    """Measure every candidate at every length, and every import, in turn."""
    samples: table.Samples = {name: {size: [] for size in table.SIZES} for name in measure.NAMES}
    imports: dict[str, list[float]] = {name: [] for name in table.IMPORTS}
    for number in range(rounds):
        for size in table.SIZES:
            for name, sizes in samples.items():
                if any(sample["seconds"] is None for sample in sizes[size]):
                    continue
                found = run(name, size, limit)
                sizes[size].append(found)
                told = "cut off" if found["seconds"] is None else f"{found['seconds'] * 1e6:10.1f} us an iteration"
                print(f"round {number + 1} of {rounds}  {name:<17} N={size:<5} {told}", file=sys.stderr, flush=True)
        time_imports(imports, IMPORTS_A_ROUND)
    return samples, imports


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="How often each candidate is timed (default 4).")
    parser.add_argument("--limit", type=float, default=60.0, help="Seconds after which a run is cut off (default 60).")
    parser.add_argument("--imports", action="store_true", help="Time the imports alone, and store nothing.")
    options = parser.parse_args()
    missing = [name for name in ("langgraph", "pydantic_ai", "agents") if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit(f"error: {', '.join(missing)} not installed here.\n  fix: Run it with `make bench-peers`.")
    for statement in table.IMPORTS.values():  # the first import of all writes byte code
        timed_import(statement)
    if options.imports:
        imports: dict[str, list[float]] = {name: [] for name in table.IMPORTS}
        time_imports(imports, options.rounds * IMPORTS_A_ROUND)
        print("\n".join(table.import_lines(table.report({}, imports, options.limit))))
        return
    figures = table.report(*alternate(options.rounds, options.limit), options.limit)
    figures["rounds"] = options.rounds
    figures["versions"] = {name: importlib.metadata.version(name) for name in PACKAGES}
    figures["machine"] = {"python": platform.python_version(), "cores": os.cpu_count()}
    told = ", ".join(f"{name} {version}" for name, version in figures["versions"].items())
    print(f"{told}\nPython {platform.python_version()}, {os.cpu_count()} cores, minima of {options.rounds} rounds\n")
    print("\n".join(table.lines(figures)))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(f"\nstored in {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}")


if __name__ == "__main__":
    main()
