"""Who spoke to whom in a run, drawn as nodes and edges (REC-25)?

Derived from the boundaries and never stored. What is waited for (pieces, slots, results) belongs to the loop it
happened in, so agents side by side don't take each other's. A tool call that was settled and never dispatched is no
step, and the next step shows the last real result (AGT-90).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from agentfootprint.observe.boundaries.counting import tokens_of
from agentfootprint.observe.boundaries.happenings import (
    ROOT,
    ContextEntered,
    DecisionTaken,
    DomainEvent,
    ForkOpened,
    LLMEnded,
    LLMStarted,
    LoopTurned,
    RunEntered,
    RunLeft,
    SubflowEntry,
    SubflowExit,
    ToolEnded,
    ToolStarted,
    domain_event,
)
from agentfootprint.observe.boundaries.log import BoundaryLog
from agentfootprint.recording import Recording
from agentfootprint.trace import FrozenDict, JsonObject, freeze, thaw

__all__ = ["StepGraph", "StepGraphBuilder", "build_step_graph"]

Path = tuple[str, ...]
Scoping = Literal["loop", "arrival"]

_SLOT_KEYS: Final = {"system-prompt": "systemPrompt", "messages": "messages", "tools": "tools"}
_ALL: Final[Path] = ()
_KEPT: Final = (
    *("slot", "source", "sourceId", "asRole", "contentSummary", "reason", "sectionTag", "upstreamRef"),
    *("retrievalScore", "rankPosition", "budgetTokens", "budgetFraction"),
)


@dataclass(frozen=True, slots=True)
class StepGraph:
    """Nodes and edges, each a JSON object under the keys of the wire, in the order of their happening."""

    nodes: tuple[JsonObject, ...]
    edges: tuple[JsonObject, ...]

    def to_wire(self) -> dict[str, Any]:
        """The graph as plain JSON that the caller owns."""
        return {"nodes": thaw(self.nodes), "edges": thaw(self.edges)}


@dataclass(slots=True)
class _Loop:
    """What one loop is in the middle of."""

    injections: list[Any] = field(default_factory=list[Any])
    slots: dict[str, Any] = field(default_factory=dict[str, Any])
    number: int = 0
    """Of its latest model call, counted over the run."""
    call: dict[str, Any] | None = None
    text: str = ""
    result: Any = None
    has_result: bool = False
    tools: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    """Open tool steps by the call's id."""


class StepGraphBuilder:
    """Builds a step graph as a run goes on; each event costs its depth.

    Args:
        scope: What belongs together: `"loop"`, what happens in one loop; `"arrival"`, what comes one after the other,
            as the reference has it.
    """

    def __init__(self, *, scope: Scoping = "loop") -> None:
        self._by_loop = scope == "loop"
        self._nodes: list[dict[str, Any]] = []
        self._edges: list[dict[str, Any]] = []
        self._loops: dict[Path, _Loop] = {}
        self._open: dict[Path, dict[str, Any]] = {}
        """The latest node of each boundary path."""
        self._inner: dict[Path, dict[str, Any]] = {}
        """The boundary entered last, by the path it was entered from."""
        self._boundary: dict[str, Any] | None = None
        self._last: dict[Path, str] = {}
        """The latest step, by the path that the next one may follow on from."""
        self._calls = 0
        self._ids: dict[str, int] = {}
        self._start: int | None = None

    def add(self, event: DomainEvent) -> None:
        """Take an event into account."""
        if self._start is None:
            self._start = event.ts
        if isinstance(event, (RunEntered, SubflowEntry)):
            self._entered(event)
        elif isinstance(event, (RunLeft, SubflowExit)):
            self._left(event)
        elif isinstance(event, LLMStarted):
            self._asked(event)
        elif isinstance(event, LLMEnded):
            self._answered(event)
        elif isinstance(event, ToolStarted):
            self._called(event)
        elif isinstance(event, ToolEnded):
            self._returned(event)
        elif isinstance(event, ContextEntered):
            wire = event.to_wire()
            self._loop(
                event.subflow_path[:-1] if len(event.subflow_path) > 1 else event.subflow_path
            ).injections.append({key: wire[key] for key in _KEPT if key in wire})
        else:
            self._turned(event)

    def graph(self) -> StepGraph:
        """The graph of what was taken into account."""
        return StepGraph(
            tuple(cast("JsonObject", freeze(node)) for node in self._nodes),
            tuple(cast("JsonObject", freeze(edge)) for edge in self._edges),
        )

    def _loop(self, path: Path) -> _Loop:
        return self._loops.setdefault(path if self._by_loop else _ALL, _Loop())

    def _offset(self, event: DomainEvent) -> int:
        return event.ts - (self._start or 0)

    def _node(self, node_id: str, kind: str, label: str, event: DomainEvent, **more: object) -> dict[str, Any]:
        node: dict[str, Any] = {
            "id": node_id,
            "kind": kind,
            "label": label,
            "startOffsetMs": self._offset(event),
            "subflowPath": list(event.subflow_path),
            **more,
        }
        self._nodes.append(node)
        return node

    def _entered(self, event: RunEntered | SubflowEntry) -> None:
        path, address = event.subflow_path, event.runtime_stage_id
        if isinstance(event, RunEntered):
            more: dict[str, Any] = {"primitiveKind": "Run", "isPrimitiveBoundary": False}
            self._boundary = self._node(address, "subflow", "Run", event, **more, runtimeStageId=address)
        elif event.slot_kind is not None:
            self._loop(path[:-1]).slots[_SLOT_KEYS.get(event.slot_kind, event.slot_kind)] = {"runtimeStageId": address}
            return
        elif event.is_agent_internal:
            return
        else:
            kind = event.primitive_kind
            more = {"isAgentBoundary": kind == "Agent", "isPrimitiveBoundary": kind is not None}
            if kind is not None:
                more["primitiveKind"] = kind
            node = self._node(address, "subflow", event.subflow_name, event, **more, runtimeStageId=address)
            self._boundary = self._inner[path[:-1]] = node
        self._open[path] = self._boundary

    def _left(self, event: RunLeft | SubflowExit) -> None:
        path = event.subflow_path
        node = self._open.get(path)
        if node is not None and node["id"] == event.runtime_stage_id:
            node["endOffsetMs"] = self._offset(event)
            if len(path) > 1:
                del self._open[path]
        if self._by_loop and len(path) > 1:
            self._loops.pop(path, None)
            last = self._last.pop(path, None)
            if last is not None:
                self._last[path[:-1]] = last

    def _asked(self, event: LLMStarted) -> None:
        loop = self._loop(event.subflow_path)
        self._calls += 1
        loop.number = self._calls
        arrow = "user → llm" if event.actor_arrow == "user→llm" else "tool → llm"
        more: dict[str, Any] = {
            "llmModel": event.model,
            "injections": loop.injections,
            "iterationIndex": loop.number,
            "slotUpdated": "messages",
            "runtimeStageId": event.runtime_stage_id,
        }
        if loop.slots:
            more["slotBoundaries"] = loop.slots
        if arrow == "tool → llm" and loop.has_result:
            more["toolResult"] = loop.result
        loop.injections, loop.slots = [], {}
        node_id = f"step-llm-start-{event.runtime_stage_id}-{loop.number}"
        loop.call = self._node(node_id, arrow.replace(" → ", "->"), arrow, event, **more)
        self._follow(event.subflow_path, node_id)

    def _answered(self, event: LLMEnded) -> None:
        loop = self._loop(event.subflow_path)
        loop.text = event.content
        if loop.call is not None:
            tokens_in, tokens_out = tokens_of(event.usage)
            loop.call["tokens"] = {"in": tokens_in, "out": tokens_out}
            loop.call["endOffsetMs"] = self._offset(event)
        if event.tool_call_count > 0:
            return
        node_id = f"step-llm-end-{event.runtime_stage_id}-{loop.number}"
        self._node(
            node_id,
            "llm->user",
            "llm → user",
            event,
            endOffsetMs=self._offset(event),
            iterationIndex=loop.number,
            runtimeStageId=event.runtime_stage_id,
            assistantText=event.content,
        )
        self._follow(event.subflow_path, node_id)

    def _called(self, event: ToolStarted) -> None:
        if event.not_dispatched is not None:
            return
        loop = self._loop(event.subflow_path)
        node_id = self._unique(f"step-tool-start-{event.runtime_stage_id}-{event.tool_call_id}")
        wire = event.to_wire()
        node = self._node(
            node_id,
            "llm->tool",
            f"llm → tool ({event.tool_name})",
            event,
            toolName=event.tool_name,
            iterationIndex=loop.number,
            slotUpdated="tools",
            runtimeStageId=event.runtime_stage_id,
            assistantText=loop.text,
            **({"toolArgs": wire["args"]} if "args" in wire else {}),
        )
        loop.tools.setdefault(event.tool_call_id, []).append(node)
        self._follow(event.subflow_path, node_id)

    def _returned(self, event: ToolEnded) -> None:
        if event.not_dispatched is not None:
            return
        loop = self._loop(event.subflow_path)
        loop.result, loop.has_result = event.to_wire().get("result"), True
        same = loop.tools.get(event.tool_call_id, [])
        node = next((each for each in same if each["runtimeStageId"] == event.runtime_stage_id), None) or next(
            iter(same), None
        )
        if node is not None:
            node["endOffsetMs"] = self._offset(event)
            same.remove(node)

    def _turned(self, event: DomainEvent) -> None:
        address = event.runtime_stage_id
        if isinstance(event, ForkOpened):
            self._node(self._unique(f"fork-{address}-{event.child_name}"), "fork-branch", event.child_name, event)
        elif isinstance(event, DecisionTaken):
            if not event.is_agent_internal:
                node_id = self._unique(f"decision-{address}-{event.chosen}")
                self._node(node_id, "decision-branch", event.chosen, event)
        elif isinstance(event, LoopTurned):
            turned = self._turning(address)
            if turned is not None:
                here = turned["id"]
                self._edges.append(
                    {
                        "id": f"loop-{here}-{event.iteration}",
                        "from": here,
                        "to": here,
                        "kind": "loop-iteration",
                        "iteration": event.iteration,
                    }
                )

    def _turning(self, address: str) -> dict[str, Any] | None:
        """The boundary that a loop edge goes round: the one entered last from where the loop stands, or that place."""
        if not self._by_loop:
            return self._boundary
        path = (ROOT, *address.split("/")[:-1])
        return self._inner.get(path) or self._open.get(path) or self._boundary

    def _follow(self, path: Path, node_id: str) -> None:
        places = [path[:depth] for depth in range(len(path), 0, -1)] if self._by_loop else [_ALL]
        last = next((self._last[place] for place in places if place in self._last), None)
        if last is not None:
            self._edges.append({"id": f"{last}->{node_id}", "from": last, "to": node_id, "kind": "next"})
        self._last[places[0]] = node_id

    def _unique(self, node_id: str) -> str:
        """Ids of calls repeat; those of nodes don't."""
        times = self._ids[node_id] = self._ids.get(node_id, 0) + 1
        return node_id if times == 1 else f"{node_id}-{times}"


def build_step_graph(
    source: Recording | Iterable[DomainEvent | Mapping[str, Any] | FrozenDict],
    *,
    form: Literal["native", "wire"] = "native",
    scope: Scoping = "loop",
) -> StepGraph:
    """Draw a run as a graph of steps.

    Args:
        source: A recording; or its boundaries, as records or as the wire has them.
        form: Of a recording, which pieces stand at a model call: those that were new, or all that it was sent.
        scope: What belongs together: `"loop"`, what happens in one loop; `"arrival"`, what comes one after the other,
            as the reference has it, which mixes up agents that run side by side.
    """
    builder = StepGraphBuilder(scope=scope)
    for event in boundary_events(source, form):
        builder.add(event)
    return builder.graph()


def boundary_events(
    source: Recording | Iterable[DomainEvent | Mapping[str, Any] | FrozenDict], form: Literal["native", "wire"]
) -> Iterable[DomainEvent]:
    """The boundaries of whatever is given; what is none is left out."""
    if isinstance(source, Recording):
        return BoundaryLog(source, form=form).events()
    read = (each if isinstance(each, DomainEvent) else domain_event(cast("Any", each)) for each in source)
    return [event for event in read if event is not None]
