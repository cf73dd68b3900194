"""The vectors of the area `hosting` about compositions: which events a run sends, at which addresses, and its end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentfootprint import LLMCall, Mock
from agentfootprint.compose import (
    Branch,
    CompositionError,
    Conditional,
    Failed,
    Loop,
    LoopPass,
    Ok,
    Parallel,
    RunInput,
    Sequence,
    Step,
    runner,
)
from agentfootprint.compose import (
    Case as When,
)
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, event_to_wire
from tests.vectors.harness import Case, assert_same, load

HOSTING = load("hosting")
LATER = (
    *("workflow-objects", "workflow-bad-handoff"),
    *("graph-diamond", "graph-sequential-node-fails", "graph-concurrent-node-fails"),
)
ERROR_EXIT = ("sequence-failing-step",)
"""The reference leaves the bracket open (CMP-8)."""


@runner
async def up(message: str) -> str:
    return message.upper()


@runner
def ex(message: str) -> str:
    return message + "!"


@runner
async def boom(message: str) -> str:
    raise TypeError("kaput")


@runner
async def obj(message: str) -> dict[str, int]:
    return {"a": 1}


def joined(said: Mapping[str, str]) -> str:
    return "|".join(said.values())


def no_merge(said: Mapping[str, str]) -> str:
    raise ValueError("no merge")


def told(outcomes: Mapping[str, Ok | Failed]) -> str:
    wire = {
        key: {"ok": True, "value": each.value} if isinstance(each, Ok) else {"ok": False, "error": each.error}
        for key, each in outcomes.items()
    }
    return json.dumps(wire, separators=(",", ":"))


def is_urgent(given: RunInput) -> bool:
    return given.message.startswith("URG")


def is_long(given: RunInput) -> bool:
    return len(given.message) > 3


def has_three(done: LoopPass) -> bool:
    return len(done.latest_output) == 3


PROGRAMS: dict[str, Callable[[], Any]] = {
    "sequence": lambda: Sequence([Step("up", up), Step("ex", ex)], id="seq"),
    "sequence-pipe": lambda: Sequence([Step("up", up, pipe=lambda prev: f"<{prev}>"), Step("ex", ex)], id="seq"),
    "sequence-non-string-becomes-empty": lambda: Sequence([Step("obj", obj), Step("ex", ex)], id="seq"),
    "sequence-failing-step": lambda: Sequence([Step("up", up), Step("boom", boom)], id="seq"),
    "parallel-fn": lambda: Parallel({"a": up, "b": Branch(ex, name="Bee")}, merge=joined, id="par"),
    "parallel-strict-failure": lambda: Parallel({"a": up, "b": boom}, merge=joined, id="par"),
    "parallel-tolerant": lambda: Parallel({"a": up, "b": boom}, merge_outcomes=told, id="par"),
    "parallel-merge-raises": lambda: Parallel({"a": up, "b": ex}, merge=no_merge, id="par"),
    "parallel-long-summary": lambda: Parallel({"a": up, "b": ex}, merge=lambda _: "x" * 100, id="par"),
    "conditional-first-match": lambda: Conditional(
        [When("urgent", is_urgent, up), When("long", is_long, ex)], otherwise=("low", up), id="cond"
    ),
    "conditional-fallback": lambda: Conditional([When("urgent", is_urgent, up)], otherwise=("low", ex), id="cond"),
    "loop-times": lambda: Loop(ex, max_iterations=3),
    "loop-until": lambda: Loop(ex, until=has_three),
    "loop-clamped-zero": lambda: Loop(ex, max_iterations=0),
    "nested-parallel-in-sequence": lambda: Sequence(
        [
            Step("pre", up),
            Step("par", Parallel({"a": up, "b": ex}, merge=lambda said: "".join(said.values()), id="in")),
            Step("post", ex),
        ],
        id="out",
    ),
    "sequence-of-llm-calls": lambda: Sequence(
        [Step("a", LLMCall(Mock("one"), system="S")), Step("b", LLMCall(Mock("two"), system="S"))], id="seq"
    ),
}


def compared(event: dict[str, Any]) -> dict[str, Any]:
    """As the file writes an event: those of compositions in full, others by type and address."""
    meta = event["meta"]
    if not event["type"].startswith("agentfootprint.composition."):
        return {"type": event["type"], "runtimeStageId": meta["runtimeStageId"]}
    payload = {key: value for key, value in event["payload"].items() if key not in ("durationMs", "rationale")}
    where = {key: meta[key] for key in ("runtimeStageId", "subflowPath", "compositionPath")}
    return {"type": event["type"], "payload": payload, **where}


def wanted(event: dict[str, Any]) -> dict[str, Any]:
    if "payload" not in event:
        return event
    return {**event, "payload": {key: value for key, value in event["payload"].items() if key != "rationale"}}


@pytest.mark.parametrize("case", HOSTING.cases("composition-streams"))
async def test_composition_streams(case: Case) -> None:
    """CMP-2 to CMP-45."""
    if case.name in LATER:
        pytest.skip(f"{case.name}: needs Workflow and Graph")
    if case.name == "loop-clamped-zero":  # CMP-43
        with pytest.raises(ConfigError, match=r"max_iterations of the Loop is 0\."):
            PROGRAMS[case.name]()
        return
    composition, heard = PROGRAMS[case.name](), list[dict[str, Any]]()

    def hear(event: Event[Any]) -> None:
        if not event.type.endswith((".branch_complete", ".token", "error.fatal")):  # CMP-25; calls stream here
            heard.append(event_to_wire(event))

    composition.on("*", hear, form="wire")
    want, error = [wanted(event) for event in case.expected["events"]], case.expected.get("error")
    if case.name == "sequence-non-string-becomes-empty":  # CMP-13
        with pytest.raises(CompositionError, match=r"'obj' gave a dict"):
            await composition.run(case.input["input"])
        assert [event["type"].rpartition(".")[2] for event in heard] == ["enter", "exit"]
        return
    if error is None:
        assert_same((await composition.run(case.input["input"])).output, case.expected["result"])
    else:
        with pytest.raises(Exception) as caught:  # noqa: PT011  each case has another
            await composition.run(case.input["input"])
        assert error["name"] in (type(caught.value).__name__, "Error")
        words = str(caught.value.args[0])
        assert re.findall(r"'([^']*)'", words) == error["message_names"]
        assert all(held in words for held in error["message_holds"])
    if case.name in ERROR_EXIT:
        assert heard[-1]["payload"]["status"] == "err"
        del heard[-1]

    assert_same([compared(event) for event in heard], want)
    assert len({event["meta"]["runId"] for event in heard}) == case.expected["distinct_run_ids"]
