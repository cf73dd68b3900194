"""`python -m benchmarks.charts`: the same charts here, on LangGraph and on Burr, in turn and in fresh processes.

Run it with `make bench-charts`. It prints a table and appends nothing: `benchmarks/results/charts.jsonl` holds the rows
of the last run, `{section, name, value, unit, detail}` each; `python -m benchmarks.charts.compare BASE NEW` judges two.
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

from benchmarks.charts import micro, ours
from benchmarks.charts.measure import PEERS
from benchmarks.charts.shapes import CHAIN, LOOP, RUNS

OUT = Path(__file__).parents[1] / "results" / "charts.jsonl"
OURS = "agentfootprint"
FLOOR = "recorded-floor"
PLAN: list[tuple[str, str, int]] = [
    ("floor", FLOOR, 200),
    *(("chain", name, CHAIN) for name in (*ours.CHAINS, *PEERS)),
    *(("loop", name, LOOP) for name in (OURS, *PEERS)),
    ("runs", "one after another", RUNS),
    ("runs", "at once", RUNS),
]
LIMITS = {
    ("chain", "a stage, everything on record, to half a floor iteration"): 1.0,
    ("loop", "growth, late to early iterations"): 1.3,
    ("runs", "at once, to one after another"): 1.5,
}
"""What must hold; the first is `performance.md`'s, in the form that doesn't depend on the machine."""
Samples = dict[tuple[str, str], list[dict[str, Any]]]


def one(shape: str, name: str, size: int, limit: float) -> dict[str, Any]:
    """One candidate in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.charts.measure", shape, name, str(size), str(limit)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=3 * limit + 60)
    except subprocess.TimeoutExpired:
        return {"seconds": None, "growth": None}
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        raise SystemExit(f"{shape}, {name} failed.") from error
    return json.loads(done.stdout.splitlines()[-1])


def alternate(rounds: int, limit: float) -> Samples:
    """Everything in turn, so many times; what was cut off isn't tried again."""
    samples: Samples = {(shape, name): [] for shape, name, _ in PLAN}
    for number in range(rounds):
        for shape, name, size in PLAN:
            found = samples[shape, name]
            if any(sample["seconds"] is None for sample in found):
                continue
            found.append(one(shape, name, size, limit))
            seconds = found[-1]["seconds"]
            told = f"cut off after {limit:.0f} s" if seconds is None else f"{seconds * 1e6:10.1f} us"
            print(f"round {number + 1} of {rounds}  {shape:<6} {name:<24} {told}", file=sys.stderr, flush=True)
    return samples


def least(samples: list[dict[str, Any]], field: str = "seconds") -> float | None:
    """The minimum over the rounds; None when it was cut off or is not known."""
    values = [sample[field] for sample in samples]
    return None if not values or None in values else min(values)


def row(section: str, name: str, value: float | None, unit: str, detail: str) -> dict[str, Any]:
    """One figure."""
    return {"section": section, "name": name, "value": value, "unit": unit, "detail": detail}


def ratios(samples: Samples) -> list[dict[str, Any]]:
    """What the times say, freed of the machine."""

    def of(shape: str, name: str) -> float | None:
        return least(samples[shape, name])

    def over(a: float | None, b: float | None) -> float | None:
        return None if a is None or b is None else a / b

    floor = of("floor", FLOOR)
    half = None if floor is None else floor / 2
    stage = of("chain", OURS)
    return [
        row("chain", "a stage, everything on record, to half a floor iteration", over(stage, half), "ratio", ""),
        *(
            row("chain", f"{name}, to everything on record", over(of("chain", name), stage), "ratio", "a knock-out")
            for name in ours.CHAINS
            if name != OURS
        ),
        *(
            row(shape, f"ours, to {name}", over(of(shape, OURS), of(shape, name)), "ratio", f"{shape} of {size:,}")
            for shape, size in (("chain", CHAIN), ("loop", LOOP))
            for name in PEERS
        ),
        row("loop", "growth, late to early iterations", least(samples["loop", OURS], "growth"), "ratio", f"{LOOP:,}"),
        *(row("loop", f"growth of {name}", least(samples["loop", name], "growth"), "growth", "") for name in PEERS),
        row(
            "runs",
            "at once, to one after another",
            over(of("runs", "at once"), of("runs", "one after another")),
            "ratio",
            f"{RUNS:,}",
        ),
    ]


def printed(figure: dict[str, Any]) -> str:
    """One line of the table."""
    value, unit = figure["value"], figure["unit"]
    limit = LIMITS.get((figure["section"], figure["name"]))
    judged = "" if limit is None or value is None else f"  (at most {limit}) {'ok' if value <= limit else 'MISSED'}"
    told = "cut off" if value is None else f"{value * 1e6:,.1f} us" if unit == "s" else f"{value:,.3f}"
    return f"{figure['section']:<7}{figure['name']:<60}{told:>14}  {figure['detail']}{judged}"


def main() -> int:
    """Measure, print, store; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.charts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="How often each candidate is timed (default 3).")
    parser.add_argument("--limit", type=float, default=60.0, help="Seconds after which a run is cut off (default 60).")
    options = parser.parse_args()
    missing = [name for name in ("langgraph", "burr") if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit(f"error: {', '.join(missing)} not installed here.\n  fix: Run it with `make bench-charts`.")
    samples = alternate(options.rounds, options.limit)
    sizes = {(shape, name): size for shape, name, size in PLAN}
    rows = [
        row(shape, name, least(found), "s", f"a step of {sizes[shape, name]:,}")
        for (shape, name), found in samples.items()
    ]
    rows += ratios(samples)
    rows += [row("micro", *figure) for figure in micro.rows()]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("langgraph", "apache-burr"))
    print(
        f"{versions}, Python {platform.python_version()}, {os.cpu_count()} cores, minima of {options.rounds} rounds\n"
    )
    print("\n".join(map(printed, rows)))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("".join(json.dumps(figure) + "\n" for figure in rows), encoding="utf-8")
    print(f"\nstored in {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}")
    missed = [
        r for r in rows if (r["section"], r["name"]) in LIMITS and (r["value"] or 0) > LIMITS[r["section"], r["name"]]
    ]
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
