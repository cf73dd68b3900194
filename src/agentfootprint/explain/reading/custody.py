"""The five links between one source and the answer: answer, read, landed, allowed, born (06 s.1.1).

A link that was not recorded is there and says why it is not known (06:CUS-3); a highlight is an exact part of the text
it stands in, or there is none (06:CUS-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agentfootprint.events import CheckInDecision, PermissionCheck
from agentfootprint.explain.model import CustodyHop
from agentfootprint.explain.reading.evidence import evaluation_of, is_imported
from agentfootprint.trace import compact_json

if TYPE_CHECKING:
    from agentfootprint.explain.reading.evidence import Source
    from agentfootprint.recording import Evaluation, Gate, ModelCall, Recording, ToolUse

__all__ = ["custody_of"]

_CONSTRUCTORS = {
    "fact": "Fact",
    "steering": "Steering",
    "instructions": "Instruction",
    "skill": "Skill",
    "memory": "Memory",
    "rag": "RAG",
}


def custody_of(recording: Recording, call: ModelCall, source: Source) -> tuple[CustodyHop, ...]:
    """The chain of custody of one source, newest link first.

    Args:
        recording: The run.
        call: The call whose answer is under question.
        source: A source that reached it.
    """
    hops = [_answer(call)]
    home = recording.around(source.call.step)
    if home is not recording.around(call.step):
        hops.append(_handed_on(source.call))
    elif source.call is not call:
        hops.append(_through(source.call))
    recording = home
    hops.append(_read(recording, source))
    if source.kind == "tool":
        use = _use_of(recording, source)
        return (*hops, _landed_result(source), _allowed_result(recording, use), _born_result(source, use))
    if source.message_index is None:
        return (*hops, _landed_piece(source), _allowed_piece(recording, source), _born_piece(source))
    if not is_imported(recording):
        return (*hops, _landed_message(source), _allowed_piece(recording, source), _born_piece(source))
    return (*hops, _landed_message(source), _allowed_unknown(), _born_message(source))


def _answer(call: ModelCall) -> CustodyHop:
    if call.content:
        return CustodyHop(
            step="answer", at=call.step, variable="llmLatestContent", detail="llmLatestContent", content=call.content
        )
    if not call.finished:
        why = "the model did not answer this call"
        return CustodyHop(step="answer", at=call.step, detail=f"unknown: {why}", unknown=why)
    if not call.tool_calls:
        return CustodyHop(step="answer", at=call.step, variable="llmLatestContent", detail="an empty text", content="")
    asked = ", ".join(f"{tool.name}({compact_json(tool.args)})" for tool in call.tool_calls)
    return CustodyHop(
        step="answer", at=call.step, variable="llmLatestToolCalls", detail="llmLatestToolCalls", content=asked
    )


def _handed_on(call: ModelCall) -> CustodyHop:
    return CustodyHop(
        step="through",
        at=call.step,
        detail="what another agent answered; it was handed on, and the answer was made from it",
        content=call.content or None,
    )


def _through(call: ModelCall) -> CustodyHop:
    return CustodyHop(
        step="through",
        at=call.step,
        detail=f"iteration {call.iteration}: what it said is in the history that the answer read",
        content=call.content or None,
    )


def _read(recording: Recording, source: Source) -> CustodyHop:
    call = source.call
    if source.message_index is None:
        prompt = call.system_text or ""
        start, end = source.span or (0, 0)
        found = source.span is not None and source.text is not None and prompt[start:end] == source.text
        where = f"systemPromptInjections, characters {start}-{end - 1} of {len(prompt)}"
        return CustodyHop(
            step="read",
            at=call.step,
            variable="systemPromptInjections",
            detail=where if found else "systemPromptInjections; its text is not in the prompt as recorded",
            content=prompt,
            highlight=source.text if found else None,
        )
    position = f"message {source.message_index + 1} of {len(call.messages)}"
    detail = f"{position}, a tool result" if source.kind == "tool" else f"{position} in the history"
    return CustodyHop(
        step="read",
        at=call.step,
        variable="history",
        detail=f"inferred: {detail}" if is_imported(recording) else detail,
        content=source.text,
        highlight=source.text,
    )


def _landed_piece(source: Source) -> CustodyHop:
    beside = sum(piece.landed_step == source.landed for piece in source.call.pieces)
    records = "1 record" if beside == 1 else f"{beside} records"
    since = "; unchanged since" if source.call.iteration > source.first_iteration else ""
    return CustodyHop(
        step="landed",
        at=source.landed,
        variable="systemPromptInjections",
        detail=f"appended {records} in iteration {source.first_iteration}{since}",
    )


def _allowed_piece(recording: Recording, source: Source) -> CustodyHop:
    evaluation = _evaluation_of(recording, source)
    if evaluation is None:
        why = "no evaluation was recorded"
        return CustodyHop(step="allowed", detail=f"unknown: {why}", unknown=why)
    trigger = _trigger_of(recording, evaluation, source)
    word = source.flavor or source.kind
    if trigger is None:
        why = "which trigger let it in was not recorded"
        return CustodyHop(step="allowed", at=evaluation.step, detail=f"{word}; {why}", unknown=why)
    said = {
        "always": "trigger always: no rule decided",
        "rule": f"its rule held in iteration {evaluation.iteration}",
        "on-tool-return": f"its tool had returned before iteration {evaluation.iteration}",
        "llm-activated": "the model asked for it",
    }.get(trigger, f"trigger {trigger}")
    if trigger == "rule":  # a rule is a function: the record has its outcome only
        why = "what it read: not recorded"
        return CustodyHop(step="allowed", at=evaluation.step, detail=f"{word}, {said}; {why}", unknown=why)
    return CustodyHop(step="allowed", at=evaluation.step, detail=f"{word}, {said}")


def _evaluation_of(recording: Recording, source: Source) -> Evaluation | None:
    """The pass in which it was let in: that of the iteration in which it landed."""
    found = evaluation_of(recording, source.first_iteration)
    return found if found is not None and any(piece.id == source.id for piece in found.active) else None


def _trigger_of(recording: Recording, evaluation: Evaluation, source: Source) -> str | None:
    agent = recording.header.get("agent")
    declared = agent.get("context", ()) if agent else ()
    for piece in declared:
        if piece.get("id") == source.id:
            return piece.get("trigger")
    return next((piece.trigger for piece in evaluation.active if piece.id == source.id), None)


def _born_piece(source: Source) -> CustodyHop:
    maker = _CONSTRUCTORS.get(source.flavor or "", "Injection")
    unknown = "file and line: not recorded"
    return CustodyHop(step="born", detail=f'context=[{maker}("{source.id}")]; {unknown}', unknown=unknown)


def _landed_message(source: Source) -> CustodyHop:
    return CustodyHop(step="landed", at=source.landed, variable="history", detail="appended to the history")


def _allowed_unknown() -> CustodyHop:
    """Why a message of an imported log was shown to the agent: the log has no word about it (06:CUS-3)."""
    why = "not recorded; every agent is taken to have been given the whole conversation"
    return CustodyHop(step="allowed", detail=f"unknown: {why}", unknown=why)


def _born_message(source: Source) -> CustodyHop:
    said = f"said by {source.speaker} at {source.landed}" if source.speaker else "the task that the log begins with"
    return CustodyHop(step="born", at=source.landed, detail=said)


def _use_of(recording: Recording, source: Source) -> ToolUse | None:
    for use in recording.tool_uses:
        if use.message_index == source.message_index and use.step == source.landed:
            return use
    return None


def _landed_result(source: Source) -> CustodyHop:
    later = "; carried over since" if source.call.iteration > source.first_iteration + 1 else ""
    return CustodyHop(
        step="landed",
        at=source.landed,
        variable="history",
        detail=f"appended to the history in iteration {source.first_iteration}{later}",
    )


def _allowed_result(recording: Recording, use: ToolUse | None) -> CustodyHop:
    asking = [] if use is None else [call for call in recording.calls if call.iteration == use.iteration]
    said = "no gate decided" if use is None or not use.gates else ", ".join(map(_said, use.gates))
    if not asking:
        why = "which model call asked for it was not recorded"
        decided = f"; {said}" if use is not None and use.gates else ""
        return CustodyHop(step="allowed", detail=f"unknown: {why}{decided}", unknown=why)
    return CustodyHop(step="allowed", at=asking[-1].step, detail=f"the model asked for the call; {said}")


def _said(gate: Gate) -> str:
    """What a gate did to a call, in a few words."""
    if isinstance(gate, CheckInDecision):
        by = f" ({gate.by})" if gate.by else ""
        before = " before, for the whole run" if gate.remembered else ""
        return f"a person{by} {'approved' if gate.approved else 'declined'} it{before}"
    if isinstance(gate, PermissionCheck):
        asked = "" if gate.capability == "tool_call" else f" of {gate.capability}"
        by = "" if gate.policy_rule_id is None else f" by {gate.policy_rule_id}"
        return f"the permission check{asked} {_RESULTS.get(gate.result, gate.result)} it{by}"
    what = "its result" if gate.moment == "after-tool" else "it"
    if gate.outcome == "allow" and gate.changed:
        return f"the rule {gate.middleware!r} changed {what if gate.moment == 'after-tool' else 'its arguments'}"
    return f"the rule {gate.middleware!r} {_OUTCOMES.get(gate.outcome, gate.outcome)} {what}"


_RESULTS: Final[Mapping[str, str]] = {"allow": "allowed", "gate_open": "allowed", "deny": "denied", "halt": "halted on"}
_OUTCOMES: Final[Mapping[str, str]] = {"allow": "passed", "deny": "denied", "ask": "asked a person about"}


def _born_result(source: Source, use: ToolUse | None) -> CustodyHop:
    if use is None:
        return CustodyHop(step="born", detail=f"tool {source.id}", unknown="its call was not recorded")
    return CustodyHop(step="born", at=use.step, detail=f"tool {source.id}({compact_json(use.args)})")
