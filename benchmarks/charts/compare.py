"""`python -m benchmarks.charts.compare BASE NEW`: fails when a figure got worse by more than a quarter.

Both are files of JSON rows as `python -m benchmarks.charts` writes them. Only ratios and counts are judged: times of
two separate runs differ by what else the machine did. A figure that only one file has is named, and fails nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

WORSE = 1.25
NOISE = {"ratio": 0.02, "count": 0.5}
"""By unit: what a figure may rise by and mean nothing, however small it is."""


def read(path: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of a file, by section and name."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return {(row["section"], row["name"]): row for row in map(json.loads, filter(None, lines))}


def regressions(base: dict[tuple[str, str], Any], new: dict[tuple[str, str], Any]) -> list[str]:
    """What got worse, a line each."""
    out: list[str] = []
    for key, row in new.items():
        before = base.get(key)
        noise = NOISE.get(row["unit"])
        if before is None or noise is None or row["value"] is None or before["value"] is None:
            continue
        if row["value"] > before["value"] * WORSE and row["value"] > before["value"] + noise:
            out.append(f"{key[0]}: {key[1]} rose from {before['value']:.4g} to {row['value']:.4g} ({row['unit']})")
    return out


def main() -> int:
    """Compare two files."""
    if len(sys.argv) != 3:
        print("usage: python -m benchmarks.charts.compare BASE NEW", file=sys.stderr)
        return 2
    try:
        base, new = read(sys.argv[1]), read(sys.argv[2])
    except (OSError, ValueError, KeyError) as error:
        print(f"error: {type(error).__name__}: {error}\n  fix: Give two files of `make bench-charts`.", file=sys.stderr)
        return 2
    for section, name in base.keys() ^ new.keys():
        print(f"only in one: {section}: {name}")
    worse = regressions(base, new)
    print("\n".join(worse) or "Nothing got worse by more than a quarter.")
    return 1 if worse else 0


if __name__ == "__main__":
    raise SystemExit(main())
