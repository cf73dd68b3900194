"""What the measured times, bytes and memory say: the figures that are promised, and the table that is printed.

Needs no peer installed: it works on what `benchmarks.peers.measure` printed.
"""

from __future__ import annotations

import statistics
from typing import Any

SIZES = (50, 200, 2000)
OURS = "agentfootprint"
LANGGRAPH = "LangGraph"

IMPORTS = {
    "import agentfootprint": "import agentfootprint",
    "agentfootprint: Agent, Mock": "from agentfootprint import Agent, Mock",
    "pydantic_ai: Agent": "from pydantic_ai import Agent",
    "langgraph.graph: StateGraph": "from langgraph.graph import StateGraph",
    "agents: Agent": "from agents import Agent",
}
LAZY, EAGER, EAGER_PEER = (*IMPORTS,)[:3]

Samples = dict[str, dict[int, list[dict[str, Any]]]]
"""What each candidate's processes printed, by candidate and length."""


def cell(samples: list[dict[str, Any]], iterations: int, limit: float) -> dict[str, Any]:
    """What is known of one candidate at one length: minima over its processes, or a lower bound when it was cut off."""
    cut = [sample for sample in samples if sample["seconds"] is None]
    whole = [sample for sample in samples if sample["seconds"] is not None]
    last = samples[0] if cut else whole[0]
    peak = min(sample["peak"] for sample in cut or whole)
    if cut:
        reached = max((sample["reached"] for sample in cut if sample["reached"] is not None), default=None)
        return {"atLeast": limit / iterations, "reached": reached, "peak": peak, "added": last["added"], "bytes": None}
    return {
        "seconds": min(sample["seconds"] for sample in whole),
        "median": statistics.median(sample["seconds"] for sample in whole),
        "bytes": last["bytes"],
        "peak": peak,
        "added": last["added"],
    }


def ratio(over: dict[str, Any], under: dict[str, Any]) -> tuple[float, bool] | None:
    """The one time over the other, and whether it is only known to be at least that; None when it isn't known."""
    if "seconds" not in under:
        return None
    if "seconds" in over:
        return over["seconds"] / under["seconds"], False
    return over["atLeast"] / under["seconds"], True


def report(samples: Samples, imports: dict[str, list[float]], limit: float) -> dict[str, Any]:
    """Everything that is stored."""
    cells = {
        name: {str(size): cell(found, size, limit) for size, found in sizes.items() if found}
        for name, sizes in samples.items()
    }
    best = {name: min(times) for name, times in imports.items()}
    small, large = str(SIZES[0]), str(SIZES[-1])
    measures: dict[str, float | None] = {}
    if OURS in cells and LANGGRAPH in cells and "seconds" in cells[LANGGRAPH][small]:
        measures["ofLangGraph"] = cells[OURS][small]["seconds"] / cells[LANGGRAPH][small]["seconds"]
    if OURS in cells and "seconds" in cells[OURS].get(large, {}):
        measures["growth"] = cells[OURS][large]["seconds"] / cells[OURS][small]["seconds"]
    if EAGER_PEER in best:
        measures["import"] = best[EAGER] / best[EAGER_PEER]
        measures["lazyImport"] = best[LAZY] / best[EAGER_PEER]
    return {"limit": limit, "candidates": cells, "imports": best, "measures": measures}


def _time(known: dict[str, Any] | None) -> str:
    if known is None:
        return "-"
    if "seconds" in known:
        return f"{known['seconds'] * 1e6:,.1f}" if known["seconds"] < 1e-4 else f"{known['seconds'] * 1e6:,.0f}"
    return f"> {known['atLeast'] * 1e6:,.0f}"


def _growth(cells: dict[str, Any]) -> str:
    small, large = cells.get(str(SIZES[0])), cells.get(str(SIZES[-1]))
    found = ratio(large, small) if small and large else None
    if found is None:
        return "-"
    value, at_least = found
    return f"> {value:,.0f}" if at_least else f"{value:,.2f}"


def _bytes(cells: dict[str, Any], size: int) -> str:
    known = cells.get(str(size))
    if known is None or "seconds" not in known:
        return "cut off" if known else "-"
    return "-" if known["bytes"] is None else f"{known['bytes'] / size:,.0f}"


def _memory(cells: dict[str, Any], field: str) -> str:
    known = cells.get(str(SIZES[-1]))
    return "-" if known is None or known[field] is None else f"{known[field] / 1e6:,.0f}"


MEASURES = {
    "ofLangGraph": ("ours to LangGraph without checkpointer, N=50", 0.15),
    "growth": ("growth of ours, N=2,000 to N=50", 1.4),
    "import": ("import of Agent, Mock to pydantic_ai's Agent", 0.15),
    "lazyImport": ("import agentfootprint to pydantic_ai's Agent", 0.05),
}


def lines(figures: dict[str, Any]) -> list[str]:
    """The table, then the cuts, the imports and the measures."""
    times, sizes = f"{'N=50':>8}{'N=200':>8}{'N=2,000':>11}", f"{'N=50':>9}{'N=200':>9}{'N=2,000':>12}"
    out = [
        f"{'':<17}{'us an iteration':>27}{'':>10}{'bytes recorded an iteration':>30}{'MB, N=2,000':>14}",
        f"{'':<17}{times}{'growth':>10}{sizes}{'peak':>7}{'added':>7}",
    ]
    notes: list[str] = []
    for name, cells in figures["candidates"].items():
        time = [_time(cells.get(str(size))) for size in SIZES]
        held = [_bytes(cells, size) for size in SIZES]
        out.append(
            f"{name:<17}{time[0]:>8}{time[1]:>8}{time[2]:>11}{_growth(cells):>10}"
            f"{held[0]:>9}{held[1]:>9}{held[2]:>12}{_memory(cells, 'peak'):>7}{_memory(cells, 'added'):>7}"
        )
        for size in SIZES:
            known = cells.get(str(size))
            if known and "seconds" not in known:
                where = "" if known["reached"] is None else f", in iteration {known['reached']:,}"
                notes.append(f"cut off after {figures['limit']:g} s: {name} at N={size:,}{where}")
    return [*out, "", *notes, *([""] if notes else []), *import_lines(figures)]


def import_lines(figures: dict[str, Any]) -> list[str]:
    """The imports, and every measure that is known."""
    out = [f"{name:<32}{seconds * 1e3:>9,.1f} ms to import" for name, seconds in figures["imports"].items()]
    out.append("")
    for key, (what, most) in MEASURES.items():
        value = figures["measures"].get(key)
        if value is not None:
            out.append(f"{what:<47}{value:>6.3f}  (at most {most:g}) {'ok' if value <= most else 'MISSED'}")
    return out
