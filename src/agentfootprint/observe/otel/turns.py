"""Events to spans: one trace a turn, whatever runs beside it (chapter 6.1).

Invariants: a turn is known by its run id, a nested agent or workflow by the mount it stands in, a model call by its
stage address and a tool call by its id and its place in the batch; so nothing rests on the order in which things that
run side by side happen to end. Times are the events' own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, TypeAlias

from opentelemetry import context as contexts
from opentelemetry.trace import SpanContext, Tracer

from agentfootprint.events import Event
from agentfootprint.observe.otel import names, notes
from agentfootprint.observe.otel.calls import Calls
from agentfootprint.observe.otel.dials import Dials
from agentfootprint.observe.otel.reading import Attributes, field, moment, number, rows, text
from agentfootprint.observe.otel.spans import Kind, OpenSpan, Place

__all__ = ["Turns"]

_OURS: Final = "agentfootprint."
_MOST_TURNS: Final = 10_000
_MOST_PAUSED: Final = 1_024
_RESUME: Final = "agentfootprint.pause.resume"

Pending = tuple[tuple[str, ...], str | None, object]
"""What a paused turn is known by when events don't name the run that paused: runner, session, the call that waits."""


class Turn:
    """The open places of one run."""

    def __init__(self, root: Place) -> None:
        self.root = root
        self.places: dict[tuple[str, ...], Place] = {root.path: root}
        self.knows_paused = False
        """Whether it was told which run it goes on with."""

    def at(self, path: tuple[str, ...]) -> Place:
        """The innermost place round a mount."""
        for length in range(len(path), -1, -1):
            found = self.places.get(path[:length])
            if found is not None:
                return found
        return self.root

    def inside(self, place: Place) -> list[Place]:
        """A place and every place in it, the innermost first."""
        found: dict[int, tuple[int, Place]] = {}
        for each in (*self.places.values(), place):
            chain = [each]
            while chain[-1] is not place and chain[-1].outer is not None:
                chain.append(chain[-1].outer)
            if chain[-1] is place:
                found.update({id(one): (len(chain) - depth, one) for depth, one in enumerate(chain)})
        return [one for _, one in sorted(found.values(), key=lambda pair: -pair[0])]


Step: TypeAlias = Callable[[Turn, Event[Any], Place], None]
"""What is done with an event in its turn, at its place."""


class Turns:
    """Makes the spans of all turns that are under way.

    Args:
        tracer: Starts spans.
        dials: What the exporter was told.
    """

    def __init__(self, tracer: Tracer, dials: Dials) -> None:
        self._tracer = tracer
        self._dials = dials
        self._calls = calls = Calls(tracer, dials)
        self._turns: dict[str, Turn] = {}
        self._paused: dict[str, tuple[Pending | None, SpanContext]] = {}
        """By run: what it waits with, and its root."""
        self._resuming: dict[str, str] = {}
        """Runs that are about to begin, and the runs that they go on with."""
        steps: dict[str, Step] = {
            "agent.run_configured": self._configured,
            "agent.turn_start": self._turn_start,
            "agent.turn_end": self._turn_end,
            "agent.iteration_start": self._iteration_start,
            "agent.iteration_end": self._iteration_end,
            "stream.llm_start": lambda turn, event, place: calls.model_start(turn.root, event, place),
            "stream.llm_end": self._model_end,
            "stream.tool_start": lambda _, event, place: calls.tool_start(event, place),
            "stream.tool_end": self._tool_end,
            "composition.enter": self._workflow_start,
            "composition.exit": self._workflow_end,
            "cost.tick": self._cost,
            "error.fatal": self._fatal,
            "pause.request": self._pause,
            "embedding.generated": lambda _, event, place: calls.embedding(event, place),
            "memory.retrieved": lambda _, event, place: calls.retrieval(event, place),
        }
        self._steps = {_OURS + name: step for name, step in steps.items()}

    def hear(self, event: Event[Any]) -> None:
        """Turn one event of a run into spans."""
        kind = event.type
        step = self._steps.get(kind)
        turn = self._turns.get(event.meta.run_id)
        if turn is None:
            if kind not in _OPENERS:
                self._note_resuming(event)
                return
            turn = self._open(event)
        place = turn.at(event.meta.subflow_path)
        if step is not None:
            step(turn, event, place)
        if self._dials.explain and event.meta.run_id in self._turns:
            told = notes.notes_of(event)
            if told:
                span = self._current(place, event)
                for name, attributes in told:
                    span.tell(name, attributes, moment(event))

    def close_all(self) -> None:
        """End what is open, and say that it is unfinished."""
        for run_id in tuple(self._turns):
            self._abandon(run_id)

    # -- turns and places

    def _open(self, event: Event[Any]) -> Turn:
        while len(self._turns) >= _MOST_TURNS:
            self._abandon(next(iter(self._turns)))
        meta, service = event.meta, self._dials.service
        kind = _kind_of(meta.composition_path)
        operation = names.INVOKE_WORKFLOW if kind == "workflow" else names.INVOKE_AGENT
        attributes: Attributes = {names.SERVICE: service, names.OPERATION: operation, names.RUN_ID: meta.run_id}
        attributes[names.WORKFLOW_NAME if kind == "workflow" else names.AGENT_NAME] = service
        for key, value in ((names.PRINCIPAL, meta.principal), (names.TENANT, meta.tenant)):
            if value is not None:
                attributes[key] = value
        if meta.session_id:
            raw = self._dials.raw_conversation_id
            attributes[names.CONVERSATION_ID] = (
                meta.session_id if raw else sha256(meta.session_id.encode("utf-8", "surrogatepass")).hexdigest()
            )
        if kind == "agent" and meta.composition_path:
            attributes[names.AGENT_ID] = meta.composition_path[-1].partition(":")[2]
        name = f"{operation} {service}" if self._dials.gen_ai_names else service
        span = OpenSpan(self._tracer, name, under=contexts.get_current(), at=moment(event), attributes=attributes)
        turn = self._turns[meta.run_id] = Turn(Place(kind, (), span, None))
        resumed = self._resuming.pop(meta.run_id, None)
        if resumed is not None:
            turn.knows_paused = True
            span.put({names.RESUMED_RUN_ID: resumed})
            waited = self._paused.pop(resumed, None)
            if waited is not None:
                span.span.add_link(waited[1], {names.RUN_ID: resumed})
        return turn

    def _note_resuming(self, event: Event[Any]) -> None:
        resumed = event.meta.resumed_run_id
        if resumed is not None and event.type == _RESUME:
            while len(self._resuming) >= _MOST_PAUSED:
                del self._resuming[next(iter(self._resuming))]
            self._resuming[event.meta.run_id] = resumed

    def _enter(self, turn: Turn, event: Event[Any], kind: Kind, name: str, attributes: Attributes) -> Place:
        """A nested agent or workflow begins."""
        path = event.meta.subflow_path
        outer = turn.at(path)
        span = OpenSpan(self._tracer, name, under=outer.inner.under, at=moment(event), attributes=attributes)
        place = turn.places[path] = Place(kind, path, span, outer)
        return place

    def _leave(self, turn: Turn, place: Place, event: Event[Any]) -> None:
        """A place ends, with everything in it; the outermost one ends the turn."""
        self._close(turn, place, moment(event))
        if place is turn.root:
            self._turns.pop(event.meta.run_id, None)

    def _close(self, turn: Turn, place: Place, at: int) -> None:
        gen_ai = self._dials.root_usage == "gen_ai"
        for each in turn.inside(place):
            self._end_inside(each, at)
            each.span.put(each.spent.attributes(gen_ai=gen_ai and each is turn.root))
            each.span.end(at)
            if turn.places.get(each.path) is each:
                del turn.places[each.path]
        if place.outer is not None and place.outer.path == place.path:
            turn.places[place.path] = place.outer

    def _abandon(self, run_id: str) -> None:
        """A turn that nobody ends any more ends now, and says so."""
        turn = self._turns.pop(run_id)
        turn.root.span.put({names.UNFINISHED: True})
        self._close(turn, turn.root, time.time_ns())

    def _end_inside(self, place: Place, at: int) -> None:
        self._calls.settle(place, at)
        for span in place.spans_inside():
            span.end(at)
        place.models.clear()
        place.tools.clear()
        place.iteration = None

    @staticmethod
    def _current(place: Place, event: Event[Any]) -> OpenSpan:
        """The span that something is told of on: the call it names, the model call it happens in, or the iteration."""
        call_id, ordinal = field(event.payload, "tool_call_id"), event.meta.tool_ordinal
        tool = None if call_id is None else place.tool(call_id, ordinal)
        if tool is None and call_id is None and len(place.tools) == 1:
            tool = place.tools[0]
        if tool is not None:
            return tool.span
        model = place.model_at(event.meta.runtime_stage_id)
        return place.inner if model is None else model.span

    # -- the agent

    def _configured(self, turn: Turn, event: Event[Any], place: Place) -> None:
        agent_id = text(event.payload, "agent_id")
        if place is turn.root and agent_id is not None:
            place.span.put({names.AGENT_ID: agent_id})

    def _turn_start(self, turn: Turn, event: Event[Any], place: Place) -> None:
        if place is not turn.root or place.kind == "workflow":
            agent = (event.meta.subflow_path or ("agent",))[-1]
            name = f"{names.INVOKE_AGENT} {agent}" if self._dials.gen_ai_names else f"agent:{agent}"
            attributes: Attributes = {names.OPERATION: names.INVOKE_AGENT, names.AGENT_NAME: agent}
            place = self._enter(turn, event, "agent", name, attributes)
        index = number(event.payload, "turn_index")
        if index is not None:
            place.span.put({names.TURN_INDEX: index})
        prompt = field(event.payload, "user_prompt")
        place.prompt = prompt if isinstance(prompt, str) else None

    def _turn_end(self, turn: Turn, event: Event[Any], place: Place) -> None:
        agent: Place | None = place
        while agent is not None and agent.kind != "agent":
            agent = agent.outer
        if agent is None:
            return
        count = number(event.payload, "iteration_count")
        if count is not None:
            agent.span.put({names.ITERATIONS: count})
        self._leave(turn, agent, event)

    def _iteration_start(self, turn: Turn, event: Event[Any], place: Place) -> None:
        del turn
        at = moment(event)
        self._end_inside(place, at)
        attributes: Attributes = {}
        index = number(event.payload, "iter_index")
        if index is not None:
            attributes[names.ITERATION_NUMBER] = index
        name = f"iteration:{'?' if index is None else index}"
        place.iteration = OpenSpan(self._tracer, name, under=place.span.under, at=at, attributes=attributes)

    def _iteration_end(self, turn: Turn, event: Event[Any], place: Place) -> None:
        del turn
        history = rows(event.payload, "history")
        if history is not None:
            place.history = history
        count = number(event.payload, "tool_call_count")
        if place.iteration is not None and count is not None:
            place.iteration.put({names.TOOL_CALLS: count})
        self._end_inside(place, moment(event))

    def _cost(self, turn: Turn, event: Event[Any], place: Place) -> None:
        del turn
        cost = number(field(event.payload, "cumulative"), "estimated_usd")
        if cost is not None:
            self._current(place, event).put({names.COST: cost})

    def _fatal(self, turn: Turn, event: Event[Any], place: Place) -> None:
        root = turn.root
        told: Attributes = {}
        for key, name in (("agentfootprint.error.stage", "stage"), ("agentfootprint.error.scope", "scope")):
            found = text(event.payload, name)
            if found is not None:
                told[key] = found
        del place
        root.span.tell(event.type, told, moment(event))
        root.span.fail()
        self._leave(turn, root, event)

    def _pause(self, turn: Turn, event: Event[Any], place: Place) -> None:
        waiting: object = field(field(event.payload, "question_payload"), "toolCallId")
        if waiting is None and place.tools:
            waiting = place.tools[-1].call_id
        root = turn.root
        root.span.put({names.PAUSED: True})
        while len(self._paused) >= _MOST_PAUSED:
            del self._paused[next(iter(self._paused))]
        known = _pending(event, waiting) if isinstance(waiting, str) else None
        self._paused[event.meta.run_id] = known, root.span.span.get_span_context()
        self._leave(turn, root, event)

    def _model_end(self, turn: Turn, event: Event[Any], place: Place) -> None:
        self._calls.model_end(event, place)
        if turn.root.kind == "call":
            self._leave(turn, turn.root, event)

    def _tool_end(self, turn: Turn, event: Event[Any], place: Place) -> None:
        if not self._calls.tool_end(event, place):
            self._link(turn, event, field(event.payload, "tool_call_id"))

    def _link(self, turn: Turn, event: Event[Any], call_id: object) -> None:
        """A call ends that an earlier turn left open: link the two, if only one can be meant (SNK-25)."""
        if turn.knows_paused or not isinstance(call_id, str):
            return
        meant = _pending(event, call_id)
        candidates = [run_id for run_id, (known, _) in self._paused.items() if known == meant]
        waited = [self._paused.pop(run_id)[1] for run_id in candidates]
        if len(waited) == 1:
            turn.root.span.span.add_link(waited[0], {names.TOOL_CALL_ID: call_id})

    # -- workflows

    def _workflow_start(self, turn: Turn, event: Event[Any], place: Place) -> None:
        id_, name = text(event.payload, "id"), text(event.payload, "name") or text(event.payload, "id") or "workflow"
        if place is turn.root and place.kind == "workflow" and place.id is None:
            place.id = id_
            place.span.put({names.WORKFLOW_NAME: name})
            return
        title = f"{names.INVOKE_WORKFLOW} {name}" if self._dials.gen_ai_names else f"workflow:{name}"
        attributes: Attributes = {names.OPERATION: names.INVOKE_WORKFLOW, names.WORKFLOW_NAME: name}
        self._enter(turn, event, "workflow", title, attributes).id = id_

    def _workflow_end(self, turn: Turn, event: Event[Any], place: Place) -> None:
        id_ = text(event.payload, "id")
        found: Place | None = place
        while found is not None and (found.kind != "workflow" or found.id != id_):
            found = found.outer
        if found is None:
            return
        status = text(event.payload, "status")
        if status is not None:
            found.span.put({names.STATUS: status})
        if status == "err":
            found.span.fail()
        self._leave(turn, found, event)


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


def _kind_of(composition_path: tuple[str, ...]) -> Kind:
    runner = composition_path[-1].partition(":")[0] if composition_path else "Agent"
    return "agent" if runner == "Agent" else "call" if runner == "LLMCall" else "workflow"


def _pending(event: Event[Any], call_id: str) -> Pending:
    return event.meta.composition_path, event.meta.session_id, call_id
