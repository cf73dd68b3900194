"""Tests of agentfootprint.trace.questions.chain."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.trace import (
    CausalNode,
    ChainOptions,
    ControlDep,
    LogIndex,
    causal_chain,
    flatten_causal_chain,
    format_causal_chain,
    keys_read_from_map,
    walk_chain,
)
from tests.trace.logs import Wire, bundle

KEYS = ("a", "b", "c")


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Wire], dict[str, list[str]]]:
    keys: st.SearchStrategy[list[str]] = st.lists(st.sampled_from(KEYS), max_size=3)
    log: list[Wire] = []
    reads: dict[str, list[str]] = {}
    for idx in range(draw(st.integers(1, 8))):
        step = f"s#{draw(st.integers(0, 5))}"
        reads.setdefault(step, draw(keys))
        log.append(bundle(idx, step, *((key, "set", idx) for key in draw(keys))))
    return log, reads


def reached(log: list[Wire], reads: dict[str, list[str]], start: str) -> set[str]:
    """Which steps a step depends on, by scanning the log for every read."""
    last = {each["runtimeStageId"]: idx for idx, each in enumerate(log)}
    found, todo = {start}, [start]
    while todo:
        step = todo.pop()
        for key in reads[step]:
            before = log[: last[step]]
            writers = [each["runtimeStageId"] for each in before if key in [e["path"] for e in each["trace"]]]
            if writers and writers[-1] not in found:
                found.add(writers[-1])
                todo.append(writers[-1])
    return found


@given(runs())
def test_the_chain_holds_what_a_scan_of_the_log_finds(run: tuple[list[Wire], dict[str, list[str]]]) -> None:
    log, reads = run
    start = log[-1]["runtimeStageId"]

    root = causal_chain(log, start, keys_read_from_map(reads))

    assert root is not None
    assert {node.runtime_stage_id for node in flatten_causal_chain(root)} == reached(log, reads, start)


@given(runs())
def test_a_saved_log_gives_the_same_chain(run: tuple[list[Wire], dict[str, list[str]]]) -> None:
    log, reads = run
    start = log[-1]["runtimeStageId"]

    told = [
        format_causal_chain(root)
        for each in (log, json.loads(json.dumps(log)), LogIndex(log))
        if (root := causal_chain(each, start, keys_read_from_map(reads))) is not None
    ]

    assert told == [told[0]] * 3


def linear(steps: int) -> tuple[list[Wire], dict[str, list[str]]]:
    return [bundle(i, f"s#{i}", ("k", "set", i)) for i in range(steps)], {f"s#{i}": ["k"] for i in range(steps)}


def test_a_limit_that_cuts_is_said() -> None:
    log, reads = linear(6)

    root = causal_chain(log, "s#5", keys_read_from_map(reads), max_nodes=3)

    assert root is not None
    assert root.truncated is not None
    assert (root.truncated.by_depth, root.truncated.by_nodes) == (False, True)
    assert len(flatten_causal_chain(root)) == 3
    assert format_causal_chain(root).endswith(
        "⚠ slice truncated (maxNodes reached) — older causes exist beyond this horizon"
    )


def test_a_chain_of_any_depth_is_walked_and_told() -> None:
    log, reads = linear(5_000)

    root = causal_chain(log, "s#4999", keys_read_from_map(reads), max_depth=10_000, max_nodes=10_000)

    assert root is not None
    assert root.truncated is None
    assert len(format_causal_chain(root).splitlines()) == 5_000


def test_a_source_of_reads_or_a_weigher_that_raises_breaks_nothing() -> None:
    log, _ = linear(2)

    def broken(*_: Any) -> Any:
        raise RuntimeError("mine")

    blind = causal_chain(log, "s#1", broken, control_deps=broken)
    unweighed = causal_chain(log, "s#1", lambda _: ["k"], weigh=broken)

    assert blind is not None
    assert blind.parents == []
    assert unweighed is not None
    assert [edge.weight for edge in unweighed.parent_edges] == [1]


def test_a_node_is_shown_without_what_lies_behind_it() -> None:
    log, reads = linear(5_000)

    root = causal_chain(log, "s#4999", keys_read_from_map(reads), max_depth=5_000, max_nodes=5_000)

    assert root is not None
    assert repr(root) == "CausalNode('s#4999', keys_written=('k',), linked_by='', depth=0)"
    assert repr(root.parent_edges) == "[CausalEdge(to 's#4998', kind='data', key='k')]"


def test_a_slice_whose_edges_lead_back_is_found_by_the_collector() -> None:
    log, reads = linear(2)
    before = found_by_the_collector(CausalNode)

    root = causal_chain(log, "s#1", keys_read_from_map(reads), control_deps=lambda _: ControlDep("s#1"))

    assert root is not None
    assert root.parents[0].parents == [root]
    assert found_by_the_collector(CausalNode) == before + 2
    del root
    assert found_by_the_collector(CausalNode) == before


def test_a_step_is_named_once_as_a_parent_whatever_was_read_of_it() -> None:
    log = [bundle(0, "a#0", ("x", "set", 1), ("y", "set", 2)), bundle(1, "b#1", ("z", "set", 3))]

    root = causal_chain(log, "b#1", keys_read_from_map({"b#1": ["x", "y", "x"]}))

    assert root is not None
    assert [parent.runtime_stage_id for parent in root.parents] == ["a#0"]
    assert [edge.key for edge in root.parent_edges] == ["x", "y"]


def found_by_the_collector(kind: type[Any]) -> int:
    gc.collect()
    return sum(type(each) is kind for each in gc.get_objects())


def test_control_edges_that_lead_back_end() -> None:
    log = [bundle(0, "a#0"), bundle(1, "b#1")]
    deciders = {"a#0": ControlDep("b#1"), "b#1": ControlDep("a#0", "why not")}

    root = causal_chain(log, "b#1", lambda _: (), control_deps=deciders.get)

    assert root is not None
    assert [node.runtime_stage_id for node in flatten_causal_chain(root)] == ["b#1", "a#0"]
    assert format_causal_chain(root) == "B (b#1)\n  A (a#0) ← [control: why not]\n    ↳ b#1 (see above)"


@pytest.mark.parametrize("attribution", ["commit", "per-write"])
def test_edges_follow_the_reads_of_a_write_under_either_name(attribution: Any) -> None:
    log = [
        bundle(0, "a#0", ("x", "set", 1), ("y", "set", 1)),
        bundle(1, "b#1", ("p", "set", 1), ("q", "set", 1), reads={"p": ["x"], "q": []}),
        bundle(2, "c#2", ("out", "set", 1)),
    ]
    reads = keys_read_from_map({"b#1": ["x", "y"], "c#2": ["q"]})

    by_write = causal_chain(log, "c#2", reads, edge_attribution=attribution)
    by_stage = causal_chain(log, "c#2", reads)

    assert by_write is not None
    assert [node.runtime_stage_id for node in flatten_causal_chain(by_write)] == ["c#2", "b#1"]
    assert by_stage is not None
    assert len(flatten_causal_chain(by_stage)) == 3


def test_a_second_link_by_another_key_expands_what_it_adds() -> None:
    log = [
        bundle(0, "a#0", ("x", "set", 1)),
        bundle(1, "b#1", ("y", "set", 1)),
        bundle(2, "m#2", ("p", "set", 1), ("q", "set", 1), reads={"p": ["x"], "q": ["y"]}),
        bundle(3, "c#3", ("out", "set", 1)),
    ]
    reads = keys_read_from_map({"m#2": ["x", "y"], "c#3": ["p", "q"]})

    root = causal_chain(log, "c#3", reads, edge_attribution="commit")

    assert root is not None
    assert [node.runtime_stage_id for node in flatten_causal_chain(root)] == ["c#3", "m#2", "a#0", "b#1"]


def test_an_unknown_attribution_is_refused() -> None:
    unknown: Any = "guess"

    with pytest.raises(ConfigError, match=r"edge attribution 'guess' is not known.*'stage' or 'commit'"):
        causal_chain([], "a#0", lambda _: (), edge_attribution=unknown)


def test_the_last_of_several_writes_of_a_key_counts_on_request() -> None:
    log = [
        bundle(0, "a#0", ("x", "set", 1)),
        bundle(1, "b#1", ("y", "set", 1)),
        bundle(2, "w#2", ("k", "set", 1), ("k", "set", 2)),
        bundle(3, "e#3", ("out", "set", 1)),
    ]
    for entry, keys in zip(log[2]["trace"], (["x"], ["x", "y"]), strict=True):
        entry["readKeys"] = keys
    reads = keys_read_from_map({"w#2": ["x", "y"], "e#3": ["k"]})

    def found(options: ChainOptions) -> list[str]:
        root = walk_chain(log, "e#3", reads, options)
        assert root is not None
        return [node.runtime_stage_id for node in flatten_causal_chain(root)]

    assert found(ChainOptions()) == ["e#3", "w#2", "a#0"]
    assert found(ChainOptions(entry="last")) == ["e#3", "w#2", "a#0", "b#1"]


def test_a_step_with_several_bundles_goes_on_at_the_one_that_wrote_on_request() -> None:
    log = [
        bundle(0, "a#0", ("k", "set", 1)),
        bundle(1, "m#1", ("out", "set", 1)),
        bundle(2, "b#2", ("k", "set", 2)),
        bundle(3, "m#1"),
        bundle(4, "c#3", ("end", "set", 1)),
    ]
    reads = keys_read_from_map({"m#1": ["k"], "c#3": ["out"]})

    def found(options: ChainOptions) -> list[str]:
        root = walk_chain(log, "c#3", reads, options)
        assert root is not None
        return [node.runtime_stage_id for node in flatten_causal_chain(root)]

    assert found(ChainOptions()) == ["c#3", "m#1", "b#2"]
    assert found(ChainOptions(anchor="writer")) == ["c#3", "m#1", "a#0"]


def test_a_weight_is_asked_for_by_child_parent_key_and_kind() -> None:
    log, reads = linear(2)
    asked: list[Any] = []

    def weigh(child: CausalNode, parent: CausalNode, key: str | None, kind: str) -> float:
        asked.append((child.runtime_stage_id, parent.runtime_stage_id, key, kind))
        return 0.25

    root = causal_chain(log, "s#1", keys_read_from_map(reads), weigh=weigh)

    assert asked == [("s#1", "s#0", "k", "data")]
    assert root is not None
    assert " ← via k (0.25) " in format_causal_chain(root)
