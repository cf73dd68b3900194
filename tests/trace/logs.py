"""Commit logs for tests: written by hand in a line a bundle, or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from agentfootprint.trace import split_path

Wire = dict[str, Any]

PATHS = ("a", "h", "o", "o\x1fx", "o\x1fy", "o\x1fx\x1fz")
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from((0.5, 1.0)) | st.sampled_from(("", "t"))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


def bundle(idx: int, step: str, *entries: tuple[str, str, Any], reads: dict[str, list[str]] | None = None) -> Wire:
    """A bundle in wire form: entries are `(path, verb, payload)`, `reads` gives the read keys of a path."""
    stage = step.rpartition("#")[0]
    wire: Wire = {
        "idx": idx,
        "stage": stage.upper(),
        "stageId": stage,
        "runtimeStageId": step,
        "trace": [],
        "overwrite": {},
        "updates": {},
        "redactedPaths": [],
    }
    for path, verb, payload in entries:
        entry: Wire = {"path": path, "verb": verb}
        if reads is not None and path in reads:
            entry["readKeys"] = reads[path]
        wire["trace"].append(entry)
        if verb != "delete":
            _lay(wire["updates" if verb == "merge" else "overwrite"], split_path(path), payload)
    return wire


def _lay(target: Wire, segments: Sequence[str], payload: Any) -> None:
    for segment in segments[:-1]:
        if not isinstance(target.get(segment), dict):
            target[segment] = {}
        target = target[segment]
    target[segments[-1]] = payload


entries = st.tuples(st.sampled_from(PATHS), st.sampled_from(("set", "append", "merge", "delete")), values)


@st.composite
def logs(draw: st.DrawFn, max_size: int = 6) -> list[Wire]:
    """Logs whose paths overlap and whose payloads fit their verbs or don't."""
    size = draw(st.integers(0, max_size))
    return [bundle(idx, f"s#{idx}", *draw(st.lists(entries, max_size=3))) for idx in range(size)]
