"""Which pieces of context demonstrably reached a model call, and by which way.

Everything here is read off the record: what the prompt held, what the window held, which step wrote it. A piece that
has no landed-to-read edge is no suspect (06:CUS-2). Nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.explain.errors import NoTriggerError, UnknownStepError
from agentfootprint.explain.model import EdgeHop, HonestyFlag, SliceStats
from agentfootprint.explain.reading.ending import recorded_ending
from agentfootprint.recording import kept_out_words
from agentfootprint.trace import (
    CausalNode,
    JsonObject,
    array_provenance,
    as_list,
    as_object,
    causal_chain,
    compact_json,
    flatten_causal_chain,
)

if TYPE_CHECKING:
    from agentfootprint.explain.ablation import SuspectKind
    from agentfootprint.recording import Evaluation, ModelCall, Recording, ToolUse

__all__ = [
    "IMPORTED_TURN",
    "MAX_DEPTH",
    "MAX_NODES",
    "Evidence",
    "Source",
    "call_at",
    "evaluation_of",
    "find_evidence",
    "is_imported",
    "output_text",
    "placed_ids",
    "recorded_limits",
]

MAX_DEPTH: Final = 12
MAX_NODES: Final = 80
_MAX_TEXT: Final = 2000
_NOTES: Final = {
    "imported": "imported: reads are inferred from message text, not recorded",
    "resumed": "the run went on after a pause; what ran before it is on record in the recording of the paused run",
    "torn-last-line": "the end of the recording was cut off; what was cut is not known",
}
"""What the flags of a recording say in words."""
IMPORTED_TURN: Final = "turn"
"""Flavor of a message that an imported log holds; the step that holds it has the name of who said it."""
_ENGINEERED: Final = frozenset({"rag", "skill", "memory", "instructions", "steering", "fact", "custom"})
"""Sources of rows that somebody declared; base prompt, user, registry and the model's own turns are never suspects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One piece of context on its way to the answer."""

    kind: SuspectKind
    id: str
    """Context id or tool name."""
    flavor: str | None
    text: str | None
    landed: str
    """The step that wrote it into the state the call read."""
    call: ModelCall
    """The call that read it: the one in question, or an earlier one on its way."""
    path: tuple[EdgeHop, ...]
    """From the call in question back to `landed`."""
    ancestors: tuple[str, ...]
    """What the model said in between."""
    span: tuple[int, int] | None = None
    """Where it stands in the call's system prompt, `[start, end)` in characters."""
    message_index: int | None = None
    """Where it stands in the call's messages."""
    tool_call_id: str | None = None
    first_iteration: int = 1
    speaker: str | None = None
    """Who said it, when it is a message of an imported log."""

    @property
    def name(self) -> str:
        """What people read: its id, with who said it."""
        return f"{self.id} {self.speaker}" if self.speaker else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step on the way that is no piece of context."""

    step: str
    stage_name: str
    path: tuple[EdgeHop, ...]
    reads_input: bool
    """Whether it also consumed run input that no read records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the record says about one call: its sources, the other steps on the way, and the limits of that."""

    call: ModelCall
    answer: str
    sources: tuple[Source, ...]
    steps: tuple[Step, ...]
    stats: SliceStats
    flags: tuple[HonestyFlag, ...]
    kept_out: tuple[str, ...] = ()
    """Words that stand for texts which a policy kept out of the record: no values, and not known."""


def call_at(recording: Recording, at: str | None) -> ModelCall:
    """The model call that a question is about.

    Args:
        recording: The run.
        at: The call's step; the last call when not given.

    Raises:
        NoTriggerError: The run made no model call.
        UnknownStepError: `at` is no model call of it; names those that are.
    """
    calls = recording.calls
    if not calls:
        ending = recorded_ending(recording)
        raise NoTriggerError(None if ending is None else ending.note)
    if at is None:
        return calls[-1]
    for call in calls:
        if call.step == at:
            return call
    raise UnknownStepError(at, [call.step for call in calls])


def evaluation_of(recording: Recording, iteration: int) -> Evaluation | None:
    """The evaluation of the context for an iteration; the usual place is looked at first, so this is O(1) mostly."""
    passes = recording.evaluations
    if 0 < iteration <= len(passes) and passes[iteration - 1].iteration == iteration:
        return passes[iteration - 1]
    return next((each for each in passes if each.iteration == iteration), None)


def is_imported(recording: Recording) -> bool:
    """Whether another program's log was turned into the recording, so that its reads are inferred."""
    return recording.header.get("imported") is not None


def output_text(call: ModelCall) -> str:
    """What a call said: its text, and the calls it asked for, as one text to compare with."""
    said = [call.content] if call.content else []
    said += [f"{tool.name} {compact_json(tool.args)}" for tool in call.tool_calls]
    return "\n".join(said)[:_MAX_TEXT]


def find_evidence(recording: Recording, call: ModelCall) -> Evidence:
    """Collect what reached a call, directly or through earlier calls (06 s.2)."""
    root = causal_chain(recording.bundles, call.step, recording.reads_of, max_depth=MAX_DEPTH, max_nodes=MAX_NODES)
    nodes = flatten_causal_chain(root) if root is not None else []
    paths = _paths(root)
    by_step = {each.step: each for each in recording.calls}
    on_the_way = [call, *(by_step[n.runtime_stage_id] for n in nodes[1:] if n.runtime_stage_id in by_step)]
    said = {each.step: output_text(each) for each in on_the_way if each is not call}
    sources: dict[tuple[str, str, int | None], Source] = {}
    results = [use for use in recording.tool_uses if use.message_index is not None and use.dispatched]
    for reader in on_the_way:
        way = paths.get(reader.step, ())
        ancestors = tuple(said[hop.to_step] for hop in reversed(way) if hop.to_step in said)
        for source in _of_call(recording, reader, way, ancestors):
            sources.setdefault((source.kind, source.id, None if source.span else source.message_index), source)
        read = [use for use in results if _was_read(use, reader)]
        for use in read:
            source = _of_use(use, reader, way, ancestors)
            sources[source.kind, source.id, source.message_index] = source
        if read:  # what one call read, no earlier call needs to be asked about
            results = [use for use in results if not _was_read(use, reader)]
    taken = {source.landed for source in sources.values()} | {each.step for each in on_the_way}
    steps = tuple(
        Step(
            step=node.runtime_stage_id,
            stage_name=node.stage_name,
            path=paths.get(node.runtime_stage_id, ()),
            reads_input="args" in node.incomplete_sources,
        )
        for node in nodes[1:]
        if node.runtime_stage_id not in taken
    )
    return Evidence(
        call=call,
        answer=call.content,
        sources=tuple(sources.values()),
        steps=steps,
        stats=_stats(root, nodes),
        flags=(*_flags(recording, root, nodes), *_of_the_end(recording, call)),
        kept_out=kept_out_words(recording.redaction),
    )


def _of_call(
    recording: Recording, call: ModelCall, way: tuple[EdgeHop, ...], ancestors: tuple[str, ...]
) -> Iterator[Source]:
    for piece in call.pieces:
        if piece.id is None or piece.source not in _ENGINEERED or piece.landed_step is None:
            continue
        yield Source(
            kind="memory" if piece.source == "memory" else "injection",
            id=piece.id,
            flavor=piece.source,
            text=piece.text,
            landed=piece.landed_step,
            call=call,
            path=(*way, _hop(call.step, piece.landed_step, "systemPromptInjections")),
            ancestors=ancestors,
            span=None if piece.start is None or piece.end is None else (piece.start, piece.end),
            first_iteration=piece.first_iteration or 1,
        )
    yield from _of_messages(recording, call, way, ancestors)


def _was_read(use: ToolUse, call: ModelCall) -> bool:
    """Whether a tool's result stood in the window of a call."""
    index, iteration = use.message_index, use.iteration
    if index is None or iteration is None:
        return False
    return iteration < call.iteration and index < len(call.messages)


def _of_use(use: ToolUse, call: ModelCall, way: tuple[EdgeHop, ...], ancestors: tuple[str, ...]) -> Source:
    return Source(
        kind="tool",
        id=use.tool_name,
        flavor=None,
        text=use.result,
        landed=use.step,
        call=call,
        path=(*way, _hop(call.step, use.step, "history")),
        ancestors=ancestors,
        message_index=use.message_index,
        tool_call_id=use.tool_call_id,
        first_iteration=use.iteration or 1,
    )


def _of_messages(
    recording: Recording, call: ModelCall, way: tuple[EdgeHop, ...], ancestors: tuple[str, ...]
) -> Iterator[Source]:
    """The messages that a piece of context put into the window; in an imported log that is every message."""
    if way:
        return  # windows only grow: the call in question was given all that earlier ones were
    placed = list(_placed(as_list(recording.value_at("history", call.position)) or ()))
    if not placed:
        return
    births = array_provenance(recording.bundles, "history", at=call.position - 1).births or ()
    for index, text, injected in placed:
        if index >= len(births) or not text.strip():
            continue  # an empty message tells nobody anything
        landed = births[index]
        flavor = str(injected.get("flavor", ""))
        iteration = injected.get("iteration")
        yield Source(
            kind="memory" if flavor == "memory" else "injection",
            id=str(injected.get("injectionId", "")),
            flavor=flavor,
            text=text,
            landed=landed.runtime_stage_id,
            call=call,
            path=(*way, _hop(call.step, landed.runtime_stage_id, "history")),
            ancestors=ancestors,
            message_index=index,
            first_iteration=iteration if isinstance(iteration, int) else 1,
            speaker=landed.stage_name if flavor == IMPORTED_TURN else None,
        )


def placed_ids(recording: Recording, call: ModelCall) -> frozenset[str]:
    """The pieces of context that stood in the window of a call as messages."""
    history = as_list(recording.value_at("history", call.position)) or ()
    return frozenset(str(injected.get("injectionId", "")) for _, _, injected in _placed(history))


def _placed(history: Sequence[Any]) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """Place, text and mark of each message that is there by a piece of context; a request does not show the mark."""
    for index, message in enumerate(history):
        is_plain = isinstance(message, Mapping)
        mark = cast("JsonObject", message).get("injectedBy") if is_plain else getattr(message, "injected_by", None)
        injected = None if mark is None else as_object(mark)
        text = (as_object(message) or {}).get("content") if injected is not None else None
        if injected is not None and isinstance(text, str):
            yield index, text, injected


def _name(step: str) -> str:
    return step.rpartition("#")[0] or step


def _hop(child: str, parent: str, key: str) -> EdgeHop:
    return EdgeHop(from_step=child, from_name=_name(child), to_step=parent, to_name=_name(parent), kind="data", key=key)


def _paths(root: CausalNode | None) -> dict[str, tuple[EdgeHop, ...]]:
    """The first way found from the root to each step; breadth first, so a shortest one."""
    if root is None:
        return {}
    paths: dict[str, tuple[EdgeHop, ...]] = {root.runtime_stage_id: ()}
    queue = [root]
    for node in queue:
        for edge in node.parent_edges:
            parent = edge.parent
            if parent.runtime_stage_id in paths:
                continue
            hop = EdgeHop(
                from_step=node.runtime_stage_id,
                from_name=node.stage_name,
                to_step=parent.runtime_stage_id,
                to_name=parent.stage_name,
                kind="control" if edge.kind == "control" else "data",
                key=edge.key,
                weight=edge.weight,
            )
            paths[parent.runtime_stage_id] = (*paths[node.runtime_stage_id], hop)
            queue.append(parent)
    return paths


def _stats(root: CausalNode | None, nodes: Iterable[CausalNode]) -> SliceStats:
    found = list(nodes)
    edges = [edge for node in found for edge in node.parent_edges]
    cut = root.truncated if root is not None else None
    return SliceStats(
        nodes=len(found),
        data_edges=sum(edge.kind == "data" for edge in edges),
        control_edges=sum(edge.kind == "control" for edge in edges),
        weighted_edges=sum(edge.weight != 1 for edge in edges),
        incomplete_nodes=sum(bool(node.incomplete_sources) for node in found),
        max_depth=MAX_DEPTH,
        max_nodes=MAX_NODES,
        truncated_by_depth=cut is not None and cut.by_depth,
        truncated_by_nodes=cut is not None and cut.by_nodes,
    )


def _flags(recording: Recording, root: CausalNode | None, nodes: list[CausalNode]) -> Iterator[HonestyFlag]:
    cut = root.truncated if root is not None else None
    if cut is not None and not is_imported(recording):  # there the messages are the sources, not the steps on the way
        limits = [f"depth {MAX_DEPTH}"] * cut.by_depth + [f"{MAX_NODES} steps"] * cut.by_nodes
        yield HonestyFlag("slice-truncated", f"older steps exist beyond the limit of {' and '.join(limits)}")
    unread = sum(bool(node.incomplete_sources) for node in nodes)
    if unread:
        yield HonestyFlag("untracked-sources", f"{unread} step{'s' * (unread != 1)} also read untracked run input")
    yield HonestyFlag("no-control-deps", "no decision edges")
    if root is None or not recording.reads_of(root.runtime_stage_id):
        yield HonestyFlag("no-read-tracking", "reads of the answering step were not recorded")
    yield from recorded_limits(recording)


def _of_the_end(recording: Recording, call: ModelCall) -> Iterator[HonestyFlag]:
    """What kept a run from an answer of its own, for whoever asks about its last call."""
    ending = recorded_ending(recording) if recording.calls[-1].step == call.step else None
    if ending is not None:
        yield HonestyFlag(ending.flag, ending.note)


def recorded_limits(recording: Recording) -> Iterator[HonestyFlag]:
    """What a recording says about itself that limits every answer from it."""
    for flag in recording.flags:
        for note in _notes(recording, flag):
            yield HonestyFlag(flag, note)
    if recording.redaction is not None:
        yield HonestyFlag(
            "redacted",
            "a policy kept texts out of this record; what stands in their place is no text and scores nothing",
        )
    before = as_object(recording.header.get("continued"))
    if before is not None:
        where = f"the run {before['runId']}" if before.get("runId") else "an earlier run"
        yield HonestyFlag(
            "continued",
            f"the run went on with a conversation; where its first messages ({before.get('messages', '?')}) came from "
            f"is on record in the recording of {where}",
        )


def _notes(recording: Recording, flag: str) -> Sequence[str]:
    """What a flag says in words; of an imported log, what its importer found that it does not say."""
    found = as_object(recording.header.get("imported")) if flag == "imported" else None
    limits = as_list(found.get("limits")) if found is not None else None
    return [str(limit) for limit in limits] if limits else [_NOTES.get(flag, flag)]
