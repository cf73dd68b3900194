"""Tests of charts that run: every case of the run files of `vectors/flow`, part by part (DEC-66).

A part whose topic is not built is one skip with its name; so is every part of a case that needs such a feature.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest

from agentfootprint.flow import (
    BranchOutcome,
    ChartBuildError,
    FlowLimitError,
    ReadonlyInputError,
    Rule,
    Staged,
    TransactionBuffer,
    bundle_of_ops,
    decide,
    select,
)
from agentfootprint.trace import (
    ABSENT,
    apply_smart_merge,
    freeze,
    keys_read_from_execution_tree,
    slice_for_key,
    slice_to_json,
    thaw,
)
from tests.vectors.flow_charts import Error, Ran, Unbuilt, built, ran
from tests.vectors.harness import Case, assert_same, load

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FLOW = load("flow")
RUN_FILES = ("run_linear", "run_branch", "run_loop", "run_subflow", "run_fork", "pause_resume", "build")
NOT_BUILT = ("redaction", "redact_patch")
UNBUILT_PARTS = ("narrative", "structure", "description", "mermaid", "openapi", "mcp")
LIBRARY_ERRORS: list[tuple[str, type[Exception], tuple[str, ...]]] = [
    (r"Cannot write to readonly input key", ReadonlyInputError, ("'q'",)),
    (r"Maximum loop iterations \(3\) exceeded", FlowLimitError, ("(3)", "'work'")),
]
"""Errors of the reference whose words are its own: pattern, our class, what our message must name."""


@pytest.mark.parametrize("file", NOT_BUILT)
def test_topic_not_built(file: str) -> None:
    pytest.skip(f"flow/{file}.json: redaction is not built")


def parts() -> list[ParameterSet]:
    out: list[ParameterSet] = []
    for param in FLOW.cases(*RUN_FILES):
        case = param.values[0]
        if not isinstance(case, Case):
            out.append(pytest.param(None, "", id=str(param.id), marks=param.marks))
            continue
        for part in case.expected:
            names = [part]
            if part == "resumes":
                names = [f"resumes.{n}.{key}" for n, expected in enumerate(case.expected[part]) for key in expected]
            out += [pytest.param(case, name, id=f"{case.id}-{name}") for name in names]
    return out


@pytest.mark.parametrize(("case", "part"), parts())
def test_part(case: Case, part: str) -> None:
    leaf = part.rpartition(".")[2]
    if leaf in UNBUILT_PARTS:
        pytest.skip(f"{leaf} is not built")
    if leaf == "buildError":
        check_build_error(case)
        return
    try:
        run = ran(case.input)
    except Unbuilt as feature:
        pytest.skip(f"{feature} is not built")
    expected: Any = case.expected
    if part.startswith("resumes."):
        number = int(part.split(".")[1])
        run, expected = run.resumes[number], expected["resumes"][number]
    CHECKS[leaf](run, expected[leaf], case)


def check_build_error(case: Case) -> None:
    with pytest.raises(ChartBuildError) as refused:
        built(case.input["chart"])

    named = re.findall(r"'([^']+)'", case.expected["buildError"])
    assert any(name in str(refused.value) for name in named)


def check_result(run: Ran, expected: Any, case: Case) -> None:
    assert run.error is None
    assert run.result is not None
    value = run.result.value
    if isinstance(value, dict):
        ends = cast("dict[str, BranchOutcome]", value)  # what a fork's children came to
        value = {key: end.to_wire() for key, end in ends.items()}
    assert_same(value, expected)


def check_error(run: Ran, expected: Any, case: Case) -> None:
    error = run.error
    assert error is not None
    for pattern, kind, fragments in LIBRARY_ERRORS:
        if re.search(pattern, expected["message"]):
            assert isinstance(error, kind)
            assert all(fragment in str(error) for fragment in fragments)
            return
    assert isinstance(error, Error)
    assert_same({"name": type(error).__name__, "message": str(error)}, expected)


def check_log(run: Ran, expected: Any, case: Case) -> None:
    log = [bundle.to_wire() for bundle in run.snapshot.commit_log]
    assert [bundle["idx"] for bundle in log] == list(range(len(log)))
    if case.input.get("order") == "per-branch":
        assert_same(grouped(log, by_bundle), grouped(expected, by_bundle))
    else:
        assert_same(log, expected)


def by_bundle(bundle: Any) -> tuple[str, Any]:
    return bundle["runtimeStageId"], {key: value for key, value in bundle.items() if key != "idx"}


def by_event(event: Any) -> tuple[str, Any]:
    payload = event[1]
    return payload.get("runtimeStageId") or payload["traversalContext"]["runtimeStageId"], event


def grouped(entries: list[Any], key: Callable[[Any], tuple[str, Any]]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for entry in entries:
        name, shown = key(entry)
        groups.setdefault(name, []).append(shown)
    return groups


def check_events(run: Ran, expected: Any, case: Case) -> None:
    seen, wanted = own_words(run.events), own_words(expected)
    if case.input.get("order") == "per-branch":
        assert_same(grouped(seen, by_event), grouped(wanted, by_event))
        firsts = [event[1]["runtimeStageId"] for event in seen if event[0] == "onStageStart"]
        assert firsts == [event[1]["runtimeStageId"] for event in wanted if event[0] == "onStageStart"]
    else:
        assert_same(seen, wanted)


def own_words(events: list[Any]) -> list[Any]:
    """Events without the words and class names of errors that are the library's own."""

    def told(payload: dict[str, Any]) -> dict[str, Any]:
        error = payload.get("structuredError")
        is_theirs = error is not None and error["name"] == "Error"
        if error is None or (is_theirs and not any(re.search(p, error["message"]) for p, *_ in LIBRARY_ERRORS)):
            return payload
        words = {"message": "its words"} if "message" in payload else {}
        return {**payload, "structuredError": "of the library", **words}

    return [[hook, told(payload)] for hook, payload in events]


def check_slices(run: Ran, expected: Any, case: Case) -> None:
    tree = run.snapshot.execution_tree
    assert tree is not None
    log, reads = run.snapshot.commit_log, keys_read_from_execution_tree(tree)
    assert_same([slice_to_json(slice_for_key(log, key, reads)) for key in case.input["slice"]], expected)


def check_checkpoint(run: Ran, expected: Any, case: Case) -> None:
    assert run.result is not None
    assert run.result.checkpoint is not None
    wire = run.result.checkpoint.to_wire()
    del wire["pausedAt"]
    assert_same(wire, expected)


def check_paused(run: Ran, expected: Any, case: Case) -> None:
    assert run.result is not None
    assert (run.result.status == "paused") is expected


def check_state(run: Ran, expected: Any, case: Case) -> None:
    assert_same(run.snapshot.shared_state, expected)
    if run.result is not None:
        assert_same(run.result.state, expected)


CHECKS: dict[str, Callable[[Ran, Any, Case], None]] = {
    "result": check_result,
    "error": check_error,
    "paused": check_paused,
    "checkpoint": check_checkpoint,
    "sharedState": check_state,
    "commitLog": check_log,
    "events": check_events,
    "slices": check_slices,
    "streams": lambda run, expected, case: assert_same(run.streams, expected),
    "executionTree": lambda run, expected, case: assert_same(run.snapshot.execution_tree, expected),
    "subflowResults": lambda run, expected, case: assert_same(run.snapshot.subflow_results, expected),
    "subflowResultKeys": lambda run, expected, case: assert_same(
        sorted(run.snapshot.subflow_results), sorted(expected)
    ),
}


@pytest.mark.parametrize("case", FLOW.cases("transaction_buffer"))
def test_buffer(case: Case) -> None:
    given = case.input
    if any(len(op) > 3 for op in given["ops"]):
        pytest.skip("redaction is not built")
    buffer = TransactionBuffer({key: freeze(value) for key, value in given["base"].items()})
    for number, op in enumerate(given["ops"]):
        read_keys = tuple(given["read_keys"][number]) if "read_keys" in given else None
        value = freeze(op[2]) if len(op) > 2 else ABSENT
        buffer.stage(Staged(op[0], tuple(op[1]), value, read_keys))

    ops = buffer.changes(given["mode"])

    bundle = bundle_of_ops(ops)
    wire = bundle.to_wire()
    payload = {key: wire[key] for key in ("overwrite", "updates", "trace", "redactedPaths")}
    payload["stateAfter"] = thaw(apply_smart_merge(buffer.base, bundle))
    absent = list(dict.fromkeys(op.path for op in ops if op.value is ABSENT))
    assert_same(payload | ({"absentKeys": absent} if absent else {}), case.expected)


@pytest.mark.parametrize("case", FLOW.cases("decide_rules"))
def test_rules(case: Case) -> None:
    rules = [Rule(when=rule["when"], then=rule["then"], label=rule.get("label")) for rule in case.input["rules"]]

    choice = decide(case.input["state"], rules, default=case.input["default"])
    selection = select(case.input["state"], rules)

    assert_same({"branch": choice.branch, "evidence": choice.evidence}, case.expected["decide"])
    assert_same({"branches": list(selection.branches), "evidence": selection.evidence}, case.expected["select"])
