"""Events to segments of AWS X-Ray: one trace a turn (chapter 6, "X-Ray").

Invariants: nothing leaves a turn before its root is closed; a segment ends not before it began, whatever the clock
does; a tool call is paired by its id and its place in the batch, a model call by its stage address. Open turns are
bounded; the oldest ends unfinished.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any, Final

from agentfootprint.events import Event, event_to_wire
from agentfootprint.observe.otel.reading import field, moment, number, text

__all__ = ["Segments"]

_OURS: Final = "agentfootprint."
_MOST_TURNS: Final = 1_024
_NS: Final = 1_000_000_000
_LONGEST_NAME: Final = 200
_NOT_IN_NAMES: Final = re.compile(r"[^\w\s.:/%&#=+\\\-@]")
_CALL_FACTS: Final = ("usage", "stopReason", "durationMs")
_OPENERS: Final = frozenset(
    _OURS + name
    for name in (
        "agent.run_configured",
        "agent.turn_start",
        "agent.iteration_start",
        "stream.llm_start",
        "composition.enter",
    )
)

Document = dict[str, Any]
Path = tuple[str, ...]


class _Segment:
    """A segment that is open."""

    def __init__(self, name: str, trace: str, parent: _Segment | None, at: int) -> None:
        self.id = secrets.token_hex(8)
        self._began = at
        self._document: Document = {"name": _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME], "id": self.id}
        self._document["trace_id"] = trace
        if parent is not None:
            self._document["parent_id"] = parent.id
        self._document["start_time"] = at / _NS

    def note(self, **annotations: Any) -> None:  # noqa: ANN401  texts, numbers and truths
        self._document.setdefault("annotations", {}).update(annotations)

    def put(self, **parts: Any) -> None:  # noqa: ANN401  any JSON
        self._document.update(parts)

    def end(self, at: int) -> Document:
        self._document["end_time"] = max(at, self._began) / _NS
        return self._document


class _Agent:
    """An agent, or what else has iterations and calls, inside a turn."""

    def __init__(self, segment: _Segment) -> None:
        self.segment = segment
        self.iteration: _Segment | None = None
        self.models: dict[str, _Segment] = {}
        self.tools: dict[tuple[str, str, int | None], _Segment] = {}

    @property
    def inner(self) -> _Segment:
        return self.iteration or self.segment


class _Turn:
    """A turn that is open, and the segments of it that have ended."""

    def __init__(self, name: str, at: int) -> None:
        self.trace = f"1-{at // _NS & 0xFFFFFFFF:08x}-{secrets.token_hex(12)}"
        self.root = _Segment(name, self.trace, None, at)
        self.agents: dict[Path, _Agent] = {(): _Agent(self.root)}
        self.begun = False
        self.composition: str | None = None
        self.ended: list[Document] = []

    def at(self, path: Path) -> tuple[Path, _Agent]:
        """The innermost agent round a mount."""
        for length in range(len(path), -1, -1):
            found = self.agents.get(path[:length])
            if found is not None:
                return path[:length], found
        return (), self.agents[()]

    def settle(self, agent: _Agent, at: int) -> None:
        """End what is open in an agent's iteration, and the iteration."""
        for segment in (*agent.tools.values(), *agent.models.values()):
            self.ended.append(segment.end(at))
        agent.tools.clear()
        agent.models.clear()
        if agent.iteration is not None:
            self.ended.append(agent.iteration.end(at))
            agent.iteration = None

    def close(self, path: Path, at: int) -> None:
        """End an agent with all that stands inside it."""
        inside = sorted((each for each in self.agents if each[: len(path)] == path), key=len, reverse=True)
        for each in inside:
            agent = self.agents.pop(each)
            self.settle(agent, at)
            self.ended.append(agent.segment.end(at))


class Segments:
    """Makes the segments of all turns that are under way.

    Args:
        service: The name of the root segment.
        include_content: Whether a model call's segment holds the reply.
    """

    def __init__(self, service: str, *, include_content: bool) -> None:
        self._service = service
        self._include_content = include_content
        self._turns: dict[str, _Turn] = {}
        steps: dict[str, Callable[[_Turn, Event[Any], int], bool]] = {
            "agent.turn_start": self._turn_start,
            "agent.turn_end": self._turn_end,
            "agent.iteration_start": self._iteration_start,
            "agent.iteration_end": self._iteration_end,
            "stream.llm_start": self._model_start,
            "stream.llm_end": self._model_end,
            "stream.tool_start": self._tool_start,
            "stream.tool_end": self._tool_end,
            "composition.enter": self._enter,
            "composition.exit": self._exit,
            "cost.tick": self._cost,
            "error.fatal": self._fatal,
            "pause.request": self._pause,
        }
        self._steps = {_OURS + name: step for name, step in steps.items()}

    def hear(self, event: Event[Any]) -> list[Document]:
        """Take an event of a run; the documents of a turn when it ends the turn."""
        run_id, at = event.meta.run_id, moment(event)
        turn = self._turns.get(run_id)
        out: list[Document] = []
        if turn is None:
            if event.type not in _OPENERS:
                return out
            if len(self._turns) >= _MOST_TURNS:
                out = self._abandon(next(iter(self._turns)))
            turn = self._turns[run_id] = _Turn(self._service, at)
        step = self._steps.get(event.type)
        if step is not None and step(turn, event, at):
            del self._turns[run_id]
            turn.close((), at)
            out += turn.ended
        return out

    def close_all(self) -> list[Document]:
        """End what is open, and say that it is unfinished."""
        return [document for run_id in tuple(self._turns) for document in self._abandon(run_id)]

    def _abandon(self, run_id: str) -> list[Document]:
        turn = self._turns.pop(run_id)
        turn.root.note(unfinished=True)
        turn.close((), 0)  # when its last part began, at the latest: nobody knows when it ended
        return turn.ended

    # -- steps; each says whether the turn ends

    @staticmethod
    def _turn_start(turn: _Turn, event: Event[Any], at: int) -> bool:
        path = event.meta.subflow_path
        if not path or (not turn.begun and turn.composition is None):
            turn.begun = True
            return False
        parent = turn.at(path)[1].inner
        turn.agents[path] = _Agent(_Segment(f"agent:{(path or ('agent',))[-1]}", turn.trace, parent, at))
        return False

    @staticmethod
    def _turn_end(turn: _Turn, event: Event[Any], at: int) -> bool:
        path, _ = turn.at(event.meta.subflow_path)
        if not path:
            return turn.composition is None
        turn.close(path, at)
        return False

    @staticmethod
    def _iteration_start(turn: _Turn, event: Event[Any], at: int) -> bool:
        agent = turn.at(event.meta.subflow_path)[1]
        turn.settle(agent, at)
        index = number(event.payload, "iter_index")
        name = f"iteration:{'?' if index is None else index}"
        agent.iteration = _Segment(name, turn.trace, agent.segment, at)
        return False

    @staticmethod
    def _iteration_end(turn: _Turn, event: Event[Any], at: int) -> bool:
        turn.settle(turn.at(event.meta.subflow_path)[1], at)
        return False

    @staticmethod
    def _model_start(turn: _Turn, event: Event[Any], at: int) -> bool:
        agent = turn.at(event.meta.subflow_path)[1]
        segment = agent.models[event.meta.runtime_stage_id] = _Segment("llm", turn.trace, agent.inner, at)
        model = text(event.payload, "model")
        if model is not None:
            segment.note(model=model)
        return False

    def _model_end(self, turn: _Turn, event: Event[Any], at: int) -> bool:
        segment = turn.at(event.meta.subflow_path)[1].models.pop(event.meta.runtime_stage_id, None)
        if segment is not None:
            payload: Any = event_to_wire(event)["payload"]
            if isinstance(payload, dict):
                told: Document = payload  # pyright: ignore[reportUnknownVariableType]  JSON
                if not self._include_content:
                    told = {key: told[key] for key in _CALL_FACTS if key in told}
                segment.put(metadata={"default": {"event": told}})
            turn.ended.append(segment.end(at))
        return event.meta.composition_path[-1:] != () and event.meta.composition_path[-1].startswith("LLMCall:")

    @staticmethod
    def _tool_start(turn: _Turn, event: Event[Any], at: int) -> bool:
        agent, key = turn.at(event.meta.subflow_path)[1], _call_of(event)
        name = text(event.payload, "tool_name") or "?"
        if field(event.payload, "not_dispatched") is None:
            segment = agent.tools[key] = _Segment(f"tool:{name}", turn.trace, agent.inner, at)
            segment.note(toolName=name)
        return False

    @staticmethod
    def _tool_end(turn: _Turn, event: Event[Any], at: int) -> bool:
        agent, key = turn.at(event.meta.subflow_path)[1], _call_of(event)
        segment = agent.tools.pop(key, None)
        if segment is not None:
            if field(event.payload, "error") is True:
                segment.put(error=True)
            turn.ended.append(segment.end(at))
        return False

    @staticmethod
    def _enter(turn: _Turn, event: Event[Any], at: int) -> bool:
        del at
        if turn.composition is None and not turn.begun:
            turn.composition = text(event.payload, "id") or ""
        return False

    @staticmethod
    def _exit(turn: _Turn, event: Event[Any], at: int) -> bool:
        del at
        is_root = turn.composition is not None and turn.composition == (text(event.payload, "id") or "")
        if is_root and text(event.payload, "status") == "err":
            turn.root.put(fault=True)
        return is_root

    @staticmethod
    def _cost(turn: _Turn, event: Event[Any], at: int) -> bool:
        del at
        cost = number(field(event.payload, "cumulative"), "estimated_usd")
        if cost is not None:
            turn.at(event.meta.subflow_path)[1].inner.note(cumulativeCostUsd=cost)
        return False

    @staticmethod
    def _fatal(turn: _Turn, event: Event[Any], at: int) -> bool:
        del at
        turn.root.put(fault=True)
        for name, key in (("errorStage", "stage"), ("errorScope", "scope")):
            found = text(event.payload, key)
            if found is not None:
                turn.root.note(**{name: found})
        return True

    @staticmethod
    def _pause(turn: _Turn, event: Event[Any], at: int) -> bool:
        del event, at
        turn.root.note(paused=True)
        return True


def _call_of(event: Event[Any]) -> tuple[str, str, int | None]:
    """What a tool call is known by; its own address too, because branches may use one id."""
    return event.meta.runtime_stage_id, str(field(event.payload, "tool_call_id")), event.meta.tool_ordinal
