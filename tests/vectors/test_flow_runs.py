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
    Flow,
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
    redact_patch,
    slice_for_key,
    slice_to_json,
    thaw,
)
from tests.vectors.flow_charts import Error, Ran, built, ran
from tests.vectors.harness import Case, assert_same, load

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FLOW = load("flow")
RUN_FILES = ("run_linear", "run_branch", "run_loop", "run_subflow", "run_fork", "pause_resume", "build", "redaction")
ADDITIVE = ("schemaVersion", "chartFingerprint")
LIBRARY_ERRORS: list[tuple[str, type[Exception], tuple[str, ...]]] = [
    (r"Cannot write to readonly input key", ReadonlyInputError, ("'q'",)),
    (r"Maximum loop iterations \(3\) exceeded", FlowLimitError, ("(3)", "'work'")),
    (r"Maximum loop iterations \(1\) exceeded", FlowLimitError, ("(1)", "'j'")),
]
"""Errors of the reference whose words are its own: pattern, our class, what our message must name."""


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
    if leaf == "buildError":
        check_build_error(case)
        return
    if leaf in SAID_BY_CHARTS:
        assert_same(SAID_BY_CHARTS[leaf](built(case.input["chart"])), case.expected[leaf])
        return
    run = ran(case.input)
    expected: Any = case.expected
    if part.startswith("resumes."):
        number = int(part.split(".")[1])
        run, expected = run.resumes[number], expected["resumes"][number]
    if case.file == "redaction":
        hide_fields(expected)
    CHECKS[leaf](run, expected[leaf], case)


def hide_fields(expected: Any) -> None:
    """What the reference leaks in this file and we don't, at the places where the chart writes and reads `user`."""
    if not expected["redactionReport"]["fieldRedactions"]:
        return
    first, second = expected["commitLog"]
    hidden = {"name": "n", "addr": {"zip": "REDACTED"}, "pin": "REDACTED"}
    first["overwrite"]["user"] = expected["redactedState"]["user"] = hidden  # FLOW-RED-13
    first["redactedPaths"] = ["ssn", "user\u001fpin", "user\u001faddr\u001fzip", "apiToken"]
    second["updates"]["user"] = {"pin": "REDACTED"}  # FLOW-RED-12, 13
    second["redactedPaths"] = ["user\u001fpin"]
    told = {"name": "n", "addr": {"zip": "[REDACTED]"}, "pin": "[REDACTED]"}
    seed = expected["executionTree"]
    seed["stageWrites"]["user"] = told  # FLOW-RED-13
    seed["next"]["stageWrites"]["user"] = {"pin": "[REDACTED]"}
    seed["next"]["stageReads"] = {"ssn": "[REDACTED]", "user": told}  # FLOW-RED-14


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


def is_per_branch(case: Case) -> bool:
    """Whether the order between siblings is free; one case with a fork in it does not say so (FLOW-DIF-8)."""
    return case.input.get("order") == "per-branch" or "structure of everything" in case.id


def check_log(run: Ran, expected: Any, case: Case) -> None:
    log = [bundle.to_wire() for bundle in run.snapshot.commit_log]
    assert [bundle["idx"] for bundle in log] == list(range(len(log)))
    if is_per_branch(case):
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
    if is_per_branch(case):
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


def check_narrative(run: Ran, expected: Any, case: Case) -> None:
    told, wanted = own_lines(run.narrative), own_lines(expected)
    if is_per_branch(case):  # siblings may take turns as they like
        told, wanted = [sorted(lines, key=lambda line: line["text"]) for lines in (told, wanted)]
    assert_same(told, wanted)


def own_lines(lines: list[Any]) -> list[Any]:
    """Lines without the words of errors that are the library's own."""
    theirs = tuple(pattern for pattern, *_ in LIBRARY_ERRORS)
    ours = tuple(rf"\b{kind.__name__}\b" for _, kind, _ in LIBRARY_ERRORS)
    return [
        {**line, "text": "of the library"} if re.search("|".join((*theirs, *ours)), line["text"]) else line
        for line in lines
    ]


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
    # the keys of 24.3, which the reference does not write; what a resume does with them is tested in tests/flow
    wire = {key: value for key, value in wire.items() if key not in ADDITIVE or key in expected}
    assert_same(wire, expected)


def check_paused(run: Ran, expected: Any, case: Case) -> None:
    assert run.result is not None
    assert (run.result.status == "paused") is expected


def check_tree(run: Ran, expected: Any, case: Case) -> None:
    """The tree without what stands there beside the reference's members (24.1)."""
    assert_same(without(run.snapshot.execution_tree, "mapReads"), expected)


def without(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: without(item, key) for name, item in members.items() if name != key}
    return [without(item, key) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def check_state(run: Ran, expected: Any, case: Case) -> None:
    assert_same(run.snapshot.shared_state, expected)
    if run.result is not None:
        assert_same(run.result.state, expected)


def structure(flow: Flow) -> Any:
    """The structure without what a map declared as data adds to it (FLOW-PY-4)."""
    spec = flow.to_spec()
    waiting: list[Any] = [spec]
    while waiting:
        node = waiting.pop()
        node.pop("inputMap", None)
        node.pop("outputMap", None)
        waiting += [*node.get("children", ()), *(node[key] for key in ("next", "subflowStructure") if key in node)]
    return spec


SAID_BY_CHARTS: dict[str, Callable[[Flow], Any]] = {
    "structure": structure,
    "description": lambda flow: flow.description,
    "mermaid": lambda flow: flow.to_mermaid(),
    "openapi": lambda flow: flow.to_openapi(),
    "mcp": lambda flow: flow.to_mcp_tool(),
}
CHECKS: dict[str, Callable[[Ran, Any, Case], None]] = {
    "result": check_result,
    "error": check_error,
    "paused": check_paused,
    "checkpoint": check_checkpoint,
    "sharedState": check_state,
    "commitLog": check_log,
    "events": check_events,
    "narrative": check_narrative,
    "redactedState": lambda run, expected, case: assert_same(run.mirror, expected),
    "redactionReport": lambda run, expected, case: assert_same(run.report, expected),
    "slices": check_slices,
    "streams": lambda run, expected, case: assert_same(run.streams, expected),
    "executionTree": check_tree,
    "subflowResults": lambda run, expected, case: assert_same(run.snapshot.subflow_results, expected),
    "subflowResultKeys": lambda run, expected, case: assert_same(
        sorted(run.snapshot.subflow_results), sorted(expected)
    ),
}


@pytest.mark.parametrize("case", FLOW.cases("transaction_buffer"))
def test_buffer(case: Case) -> None:
    given = case.input
    buffer = TransactionBuffer({key: freeze(value) for key, value in given["base"].items()})
    for number, op in enumerate(given["ops"]):
        read_keys = tuple(given["read_keys"][number]) if "read_keys" in given else None
        value = freeze(op[2]) if len(op) > 2 else ABSENT
        buffer.stage(Staged(op[0], tuple(op[1]), value, read_keys, redact=len(op) > 3 and op[3]))

    ops = buffer.changes(given["mode"])

    bundle = bundle_of_ops(ops)
    wire = bundle.to_wire()
    payload = {key: wire[key] for key in ("overwrite", "updates", "trace", "redactedPaths")}
    payload["stateAfter"] = thaw(apply_smart_merge(buffer.base, bundle))
    absent = list(dict.fromkeys(op.path for op in ops if op.value is ABSENT))
    assert_same(payload | ({"absentKeys": absent} if absent else {}), case.expected)


@pytest.mark.parametrize("case", FLOW.cases("redact_patch"))
def test_a_patch_is_redacted(case: Case) -> None:
    patch = case.input["patch"]

    assert_same(redact_patch(patch, case.input["redacted"]), case.expected)
    assert patch == case.input["patch"]


@pytest.mark.parametrize("case", FLOW.cases("decide_rules"))
def test_rules(case: Case) -> None:
    rules = [Rule(when=rule["when"], then=rule["then"], label=rule.get("label")) for rule in case.input["rules"]]

    choice = decide(case.input["state"], rules, default=case.input["default"])
    selection = select(case.input["state"], rules)

    assert_same({"branch": choice.branch, "evidence": choice.evidence}, case.expected["decide"])
    assert_same({"branches": list(selection.branches), "evidence": selection.evidence}, case.expected["select"])
