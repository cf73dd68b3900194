"""The vectors of the area `tools`: arguments, absences, coverage and repeats, as both implementations give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.tools import (
    Ground,
    RepeatedCalls,
    absent,
    coverage,
    is_counter_aggregation,
    read_coverage,
    repeated_call_key,
    semantic_faults,
    validate_args,
)
from agentfootprint.trace import freeze, thaw
from tests.vectors.harness import Case, assert_same, load

TOOLS = load("tools")
COVERED = (
    "absent",
    "args_validation",
    "counter_words",
    "coverage",
    "extract_sequence",  # in test_sequence.py
    "middleware_after_tool",  # in test_gates.py, like the next three
    "middleware_before_tool",
    "middleware_message",
    "permission_policy",
    "read_coverage",
    "read_semantics",
    "repeated_call_keys",
    "repeated_call_notes",
    "scenarios",  # in test_tool_scenarios.py
    "skill_target",  # in test_gates.py
    "tool_session_keys",  # in test_tool_sessions.py
)
KINDS: Mapping[str, type] = {"string": str, "number": float, "array": list}


def settled(actual: Any, expected: Any) -> Any:
    """The expected value, with every matcher that the actual one passes replaced by it."""
    if isinstance(expected, dict):
        wanted = cast("dict[str, Any]", expected)
        if "$any" in wanted:
            return actual if isinstance(actual, KINDS[wanted["$any"]]) else wanted
        if "$contains" in wanted:
            holds = isinstance(actual, str) and all(part in actual for part in wanted["$contains"])
            return cast("object", actual) if holds else wanted
        given = cast("dict[str, Any]", actual) if isinstance(actual, dict) else {}
        return {key: settled(given.get(key), value) for key, value in wanted.items()}
    if isinstance(expected, list):
        items = cast("list[Any]", expected)
        given_items = cast("list[Any]", actual) if isinstance(actual, list) else []
        return [settled(given_items[i] if i < len(given_items) else None, item) for i, item in enumerate(items)]
    return expected


@pytest.mark.parametrize("case", TOOLS.cases("args_validation"))
def test_args_validation(case: Case) -> None:
    issues = validate_args(freeze(case.input.get("args")), freeze(case.input["schema"]))

    told = [{key: value for key, value in thaw(issue).items() if key != "hint"} for issue in issues]
    actual = {"ok": not issues, "issues": told}
    assert_same(actual, settled(actual, case.expected))


def ground(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    place = cast("dict[str, Any]", item)
    return Ground(place["what"], why=place.get("why"))


def places(declaration: dict[str, Any]) -> dict[str, Any]:
    """The lists of a declaration under the names of the Python call."""
    names = {"checked": "checked", "notChecked": "not_checked", "cannotCover": "cannot_cover"}
    return {name: [ground(item) for item in declaration[key]] for key, name in names.items() if key in declaration}


@pytest.mark.parametrize("case", TOOLS.cases("absent"))
def test_absent(case: Case) -> None:
    declaration = case.input["declaration"]
    options: dict[str, Any] = {"checked": (), "try_instead": declaration.get("tryInstead"), **places(declaration)}

    if case.expected == {"error": True}:
        with pytest.raises(AgentFootprintError):
            absent(declaration["what"], **options)
        return
    value = absent(declaration["what"], **options)

    assert_same(value, settled(value, case.expected["value"]), ordered=True)


@pytest.mark.parametrize("case", TOOLS.cases("coverage"))
def test_coverage(case: Case) -> None:
    options = places(case.input.get("declaration", {}))

    if case.expected == {"error": True}:
        with pytest.raises(AgentFootprintError):
            coverage(case.input["content"], **options)
        return
    value = coverage(case.input["content"], **options)

    assert_same(value, settled(value, case.expected["value"]), ordered=True)


@pytest.mark.parametrize("case", TOOLS.cases("read_coverage"))
def test_read_coverage(case: Case) -> None:
    reading = read_coverage(freeze(case.input["value"]))

    assert_same(reading, case.expected)


@pytest.mark.parametrize("case", TOOLS.cases("read_semantics"))
def test_read_semantics(case: Case) -> None:
    faults = semantic_faults(freeze(case.input["value"]))

    actual = {"recognised": faults == (), "issues": [thaw(fault) for fault in faults] if faults else None}
    assert_same(actual, case.expected)


@pytest.mark.parametrize("case", TOOLS.cases("counter_words"))
def test_counter_words(case: Case) -> None:
    assert is_counter_aggregation(case.input["aggregation"]) is case.expected


@pytest.mark.parametrize("case", TOOLS.cases("repeated_call_keys"))
def test_repeated_call_keys(case: Case) -> None:
    given = case.input

    key = repeated_call_key(given["toolName"], given["args"], given["result"], given["mode"] or "result")

    assert_same(key, case.expected)


@pytest.mark.parametrize("case", TOOLS.cases("repeated_call_notes"))
def test_repeated_call_notes(case: Case) -> None:
    ledger, mode = RepeatedCalls(), case.input["mode"] or "result"

    counts = [ledger.landed(case.input["toolName"], freeze(args), text, mode) for args, text in case.input["landings"]]

    assert_same([{"occurrences": count, "note": count == 2} for count in counts], case.expected)


@pytest.mark.parametrize("file", TOOLS.not_built(*COVERED))
def test_the_topic_is_built(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")
