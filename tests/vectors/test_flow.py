"""Tests of the pure functions of `vectors/flow`: ids, merges, log queries, slices, provenance, filters, summaries.

Files that run a chart, its commit buffer or its decisions are the concern of `test_flow_runs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import pytest

from agentfootprint.flow.observers.driver import FlushDriver
from agentfootprint.flow.observers.ring import BoundedRing
from agentfootprint.trace import (
    ABSENT,
    CausalNode,
    ChainOptions,
    CommitBundle,
    CommitRangeIndex,
    KeysReadSource,
    LogIndex,
    QualityScore,
    ReadsCoverage,
    SequenceStore,
    array_provenance,
    build_runtime_stage_id,
    deep_smart_merge,
    evaluate_filter,
    find_commit,
    find_commits,
    find_last_writer,
    flatten_causal_chain,
    format_causal_chain,
    format_forward_slice,
    format_quality_trace,
    format_slice,
    format_timeline,
    forward_slice_for_key,
    forward_slice_to_json,
    key_timeline,
    keys_read_from_execution_tree,
    keys_read_from_map,
    parse_branch_segment,
    parse_runtime_stage_id,
    payload_summary,
    quality_trace,
    quality_trace_to_json,
    read_marker,
    slice_key,
    slice_to_json,
    split_stage_id,
    summarize_value,
    thaw,
    timeline_to_json,
    update_value,
    value_at,
    walk_chain,
    write_marker,
)
from agentfootprint.trace import apply_smart_merge as replay
from tests.vectors.harness import Case, assert_same, load

FLOW = load("flow")
COVERED = (
    "bounded_ring",
    "causal_chain",
    "commit_log",
    "commit_range_index",
    "decide_filter",
    "element_provenance",
    "flush_driver",
    "forward_slice",
    "keys_read_tree",
    "merge",
    "quality_trace",
    "replay",
    "runtime_stage_id",
    "sequence_store",
    "slice_for_key",
    "summarize_value",
    "summary_markers",
    "update_value",
)
ELSEWHERE = (
    "build",
    "decide_rules",
    "pause_resume",
    "redact_patch",
    "redaction",
    "run_branch",
    "run_fork",
    "run_linear",
    "run_loop",
    "run_subflow",
    "transaction_buffer",
)
RUNS = Path(__file__).with_name("test_flow_runs.py")


@pytest.mark.parametrize("file", FLOW.not_built(*COVERED, *ELSEWHERE))
def test_topic(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")


@pytest.mark.parametrize("file", ELSEWHERE)
def test_what_is_left_to_the_engine_is_covered_or_skipped_there(file: str) -> None:
    assert f'"{file}"' in RUNS.read_text(encoding="utf-8")


Form: TypeAlias = Callable[[list[dict[str, Any]]], Sequence[Any]]
FORMS: dict[str, Form] = {
    "wire": lambda log: log,
    "records": lambda log: [CommitBundle.from_wire(bundle) for bundle in log],
    "index": LogIndex,
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def null_for_absent(value: object) -> object:
    return None if value is ABSENT else thaw(value)


@pytest.mark.parametrize("case", FLOW.cases("runtime_stage_id"))
def test_ids_are_built_and_taken_apart(case: Case) -> None:
    args: list[Any] = case.input["args"]

    def split(stage_id: str) -> dict[str, str]:
        local, path = split_stage_id(stage_id)
        return {"localStageId": local} | ({} if path is None else {"subflowPath": path})

    def branch(segment: str) -> object:
        parsed = parse_branch_segment(segment)
        return None if parsed is None else {"parentStageId": parsed.parent_stage_id, "index": parsed.index}

    functions: dict[str, Callable[..., object]] = {
        "build": build_runtime_stage_id,
        "parse": parse_runtime_stage_id,
        "split": split,
        "parse_branch_segment": branch,
    }
    assert_same(functions[case.input["fn"]](*args), case.expected)


@pytest.mark.parametrize("case", FLOW.cases("merge"))
def test_values_merge(case: Case) -> None:
    assert_same(deep_smart_merge(case.input["dst"], case.input["src"]), case.expected)


@pytest.mark.parametrize("case", FLOW.cases("update_value"))
def test_a_diagnostic_bag_is_written(case: Case) -> None:
    bag = case.input["object"]

    update_value(bag, case.input["key"], case.input["value"])

    assert_same(bag, case.expected)


@pytest.mark.parametrize("case", FLOW.cases("replay"))
def test_a_bundle_is_replayed(case: Case) -> None:
    bundle: dict[str, Any] = {
        "idx": 0,
        "stage": "S",
        "stageId": "s",
        "runtimeStageId": "s#0",
        "redactedPaths": [],
        **case.input,
    }
    base = case.input["base"]

    after = replay(base, bundle)

    assert_same(after, case.expected)
    assert_same(base, case.input["base"])


@every_form
@pytest.mark.parametrize("case", FLOW.cases("commit_log"))
def test_a_log_is_queried(case: Case, form: Form) -> None:
    asked = case.input
    log, key = form(asked["commitLog"]), asked.get("key")
    answers: dict[str, Callable[[], object]] = {
        "value_at": lambda: value_at(log, asked["idx"], key),
        "find_last_writer": lambda: find_last_writer(log, key, asked.get("before")),
        "find_commit": lambda: find_commit(log, asked["stageId"], key),
        "find_commits": lambda: find_commits(log, asked["stageId"], key),
    }

    assert_same(null_for_absent(answers[asked["fn"]]()), case.expected)


def options_of(asked: dict[str, Any], attribution: Literal["stage", "commit"]) -> ChainOptions:
    options: dict[str, Any] = asked["options"]
    weights: dict[str, float] = options.get("weights", {})
    control: dict[str, Any] | None = asked.get("controlDeps")

    def weigh(child: CausalNode, parent: CausalNode, key: str | None, _kind: str) -> float | None:
        return weights.get(f"{child.runtime_stage_id}>{parent.runtime_stage_id}>{key}")

    return ChainOptions(
        max_depth=options.get("maxDepth", 20),
        max_nodes=options.get("maxNodes", 100),
        control_deps=None if control is None else control.get,
        weigh=weigh if weights else None,
        edge_attribution=options.get("edgeAttribution", attribution),
        root_link_keys=options.get("rootLinkKeys"),
    )


def node_json(node: CausalNode) -> dict[str, Any]:
    edges = [
        {"parent": edge.parent.runtime_stage_id, "kind": edge.kind, "weight": edge.weight}
        | ({} if edge.key is None else {"key": edge.key})
        for edge in node.parent_edges
    ]
    wire: dict[str, Any] = {
        "runtimeStageId": node.runtime_stage_id,
        "stageId": node.stage_id,
        "stageName": node.stage_name,
        "keysWritten": list(node.keys_written),
        "linkedBy": node.linked_by,
        "depth": node.depth,
        "parents": [parent.runtime_stage_id for parent in node.parents],
        "parentEdges": edges,
    }
    if node.incomplete_sources:
        wire["incompleteSources"] = list(node.incomplete_sources)
    if node.truncated is not None:
        wire["truncated"] = thaw(node.truncated)
    return wire


@every_form
@pytest.mark.parametrize("case", FLOW.cases("causal_chain"))
def test_causes_are_walked_and_told(case: Case, form: Form) -> None:
    asked = case.input
    reads = keys_read_from_map(asked["keysRead"])

    root = walk_chain(form(asked["commitLog"]), asked["start"], reads, options_of(asked, "stage"))

    if root is None:
        assert case.expected is None
        return
    assert_same([node_json(node) for node in flatten_causal_chain(root)], case.expected["nodes"])
    assert format_causal_chain(root) == case.expected["text"]


@every_form
@pytest.mark.parametrize("case", FLOW.cases("slice_for_key"))
def test_a_key_is_explained(case: Case, form: Form) -> None:
    asked = case.input
    table: dict[str, list[str]] = asked["keysRead"]
    coverage = case.expected["json"].get("readsCoverage", {"steps": 0, "stepsWithReads": 0})
    sources: dict[str, Callable[[str], Any]] = {
        "map": keys_read_from_map(table),
        "custom-fn": lambda step: table.get(step, []),
        "probe": KeysReadSource("probe", lambda _: (), ReadsCoverage(coverage["steps"], coverage["stepsWithReads"])),
    }

    found = slice_key(
        form(asked["commitLog"]),
        asked["key"],
        sources[asked["source"]],
        before=asked["options"].get("before"),
        options=options_of(asked, "commit"),
    )

    assert_same(slice_to_json(found), case.expected["json"])
    if found.root is not None:
        assert list(slice_to_json(found)["nodes"]) == list(case.expected["json"]["nodes"])
    assert format_slice(found) == case.expected["text"]


@every_form
@pytest.mark.parametrize("case", FLOW.cases("element_provenance"))
def test_elements_have_births(case: Case, form: Form) -> None:
    found = array_provenance(form(case.input["commitLog"]), case.input["key"], at=case.input.get("atIdx"))

    assert_same(found, case.expected)


@pytest.mark.parametrize("case", FLOW.cases("keys_read_tree"))
def test_reads_come_from_the_tree(case: Case) -> None:
    source = keys_read_from_execution_tree(case.input["tree"])

    assert_same(source.coverage, case.expected["coverage"])
    assert_same({step: source(step) for step in case.expected["reads"]}, case.expected["reads"])


@pytest.mark.parametrize("case", FLOW.cases("decide_filter"))
def test_a_filter_is_evaluated(case: Case) -> None:
    state, redacted = case.input["state"], case.input["redacted"]
    expected = case.expected
    for condition in expected["conditions"]:
        if condition["redacted"] and condition["threshold"] == state[condition["key"]]:
            condition["threshold"] = "[REDACTED]"  # FLOW-DEC-8: here a threshold never tells a redacted value

    verdict = evaluate_filter(
        lambda key: state.get(key, ABSENT), case.input["filter"], is_redacted=lambda key: key in redacted
    )

    assert_same({"matched": verdict.matched, "conditions": verdict.conditions}, expected)


@pytest.mark.parametrize("case", FLOW.cases("summarize_value"))
def test_a_value_is_told_in_a_line(case: Case) -> None:
    assert summarize_value(case.input["value"], case.input["max"]) == case.expected


@pytest.mark.parametrize("case", FLOW.cases("summary_markers"))
def test_a_value_is_stood_for_by_a_marker(case: Case) -> None:
    made = {"read": read_marker, "write": write_marker, "payload": payload_summary}

    assert_same({kind: made[kind](case.input["value"]) for kind in case.expected}, case.expected)


@every_form
@pytest.mark.parametrize("case", FLOW.cases("forward_slice"))
def test_what_a_value_fed_is_told(case: Case, form: Form) -> None:
    asked = case.input
    log, reads, options = form(asked["commitLog"]), keys_read_from_map(asked["keysRead"]), asked["options"]

    slice_ = forward_slice_for_key(
        log, asked["key"], reads, before=options.get("before"), max_depth=options.get("maxDepth", 20)
    )
    timeline = key_timeline(log, asked["key"], reads, before=options.get("before"))

    assert_same(forward_slice_to_json(slice_), case.expected["forward"])
    assert format_forward_slice(slice_) == case.expected["forwardText"]
    assert_same(timeline_to_json(timeline), case.expected["timeline"])
    assert format_timeline(timeline) == case.expected["timelineText"]


@every_form
@pytest.mark.parametrize("case", FLOW.cases("quality_trace"))
def test_a_drop_in_quality_is_found(case: Case, form: Form) -> None:
    asked = case.input
    scores = {step: QualityScore(score, ("low",) if score < 0.5 else ()) for step, score in asked["scores"].items()}

    trace = quality_trace(form(asked["commitLog"]), asked["start"], keys_read_from_map(asked["keysRead"]), scores.get)

    assert_same(quality_trace_to_json(trace), case.expected["trace"])
    assert format_quality_trace(trace) == case.expected["text"]


@pytest.mark.parametrize("case", FLOW.cases("sequence_store"))
def test_entries_are_kept_in_order(case: Case) -> None:
    store = SequenceStore[int]()
    for position, step in enumerate(case.input["ids"]):
        store.push(position, step)
    visible: list[str] = case.input["visible"]

    found = {
        "ranges": {step: thaw(bounds) for step, bounds in store.entry_ranges().items()},
        "upTo": store.entries_up_to(visible),
        "accumulate": store.accumulate(lambda count, _: count + 1, 0, keys=visible),
        "keyCount": store.key_count,
        "size": len(store),
    }

    assert_same(found, case.expected)


@pytest.mark.parametrize("case", FLOW.cases("commit_range_index"))
def test_spans_of_the_log_are_found(case: Case) -> None:
    index = CommitRangeIndex()
    for label, start, end in case.input["ranges"]:
        token = index.open(label, start)
        if end is not None:
            index.close(token, end)

    found = {
        "enclosing": index.enclosing(case.input["enclosing"]),
        "overlapping": index.overlapping(*case.input["overlapping"]),
    }

    assert_same(found, case.expected)


@pytest.mark.parametrize("case", FLOW.cases("bounded_ring"))
def test_a_ring_keeps_its_bound(case: Case) -> None:
    asked = case.input
    ring: BoundedRing[Any] = BoundedRing(asked["capacity"], asked["policy"], sample_every=asked.get("sampleEvery", 10))

    def done(verb: str, *item: object) -> object:
        return msgspec.to_builtins(ring.push(*item)) if verb == "push" else ring.shift()

    results = [done(*operation) for operation in asked["ops"]]

    counters = {name: getattr(ring, name) for name in case.expected["counters"]}
    assert_same({"results": results, "counters": counters, "size": len(ring)}, case.expected)


@pytest.mark.parametrize("case", FLOW.cases("flush_driver"))
def test_a_flush_keeps_its_budget(case: Case) -> None:
    class Items:
        def __init__(self) -> None:
            self.left: int = case.input["depth"]
            self.now = 0.0
            self.turns: list[Callable[[], object]] = []

        def __len__(self) -> int:
            return self.left

        def deliver_next(self) -> None:
            self.left -= 1
            self.now += case.input["item_ms"]

        def schedule(self, flush: Callable[[], object]) -> Items:
            self.turns.append(flush)
            return self

        def cancel(self) -> None:
            self.turns.clear()

    items = Items()
    driver = FlushDriver(case.input["flush_budget_ms"], lambda: items.now)
    driver.arm(items)
    driver.arm(items)
    flushes: list[object] = []

    while items.turns:
        flushes.append(msgspec.to_builtins(items.turns.pop(0)()))

    stats = {
        "flushes": driver.flushes,
        "budgetExhausted": driver.budget_exhausted,
        "lastFlushMs": driver.last_flush_ms,
        "p95FlushMs": driver.p95_flush_ms,
        "armed": driver.armed,
    }
    assert_same({"flushes": flushes, "stats": stats}, case.expected)
