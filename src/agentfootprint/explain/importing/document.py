"""How a foreign conversation is written down as a recording in the wire form: one step a message.

The log is made up from the messages and says so: every agent is taken to have read what stood in the conversation
before its own message, which a log of messages suggests and does not record. What was not recorded (times, tokens,
tool calls) has no key, or says that it was not reported. Equal conversations give equal documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentfootprint.explain.importing.conversation import FINAL_ANSWER, QUESTION, Conversation, Turn, stage_ids
from agentfootprint.explain.reading.evidence import IMPORTED_TURN
from agentfootprint.trace import build_runtime_stage_id, read_marker, thaw, utf16_length

__all__ = ["IMPORTED", "limits_of", "step_of_answer", "wire_document"]

IMPORTED: Final = "imported"
"""The flag of a recording that another program's log was turned into."""
_HISTORY: Final = "history"
_NOT_KNOWN: Final = "unknown"
_ROLES: Final[Mapping[str, str]] = {"agent": "assistant", "person": "user", "program": "user"}


def wire_document(
    conversation: Conversation, *, run_id: str, source: Mapping[str, Any], limits: Sequence[str]
) -> dict[str, Any]:
    """A conversation as the document that `Recording.from_wire` reads.

    Args:
        conversation: What the log says.
        run_id: The id of the run.
        source: What the header says about where the log came from.
        limits: What the log does not say, one sentence each.

    Returns:
        `{snapshot, events, header}`, plain JSON. Step 0 holds the task, step n message n; an answer that
        stands apart is the last step. The header names no agent, so that nobody re-runs it.
    """
    log = _Log(run_id, conversation.system_prompts)
    log.ask(conversation)
    steps = stage_ids(turn.agent for turn in conversation.turns)
    for position, turn in enumerate(conversation.turns):
        answers = position == conversation.answered_by
        later = conversation.answered_by is not None and position > conversation.answered_by
        called = answers or (turn.speaker == "agent" and not later)
        said = conversation.answer if answers else turn.text
        log.say(steps[turn.agent], turn, reply=said if called else None)
    if conversation.answered_by is None:
        apart = Turn("final answer", conversation.signed_off)
        log.say(FINAL_ANSWER, apart, reply=conversation.answer)
    return {
        "snapshot": log.snapshot(),
        "events": log.events,
        "header": {IMPORTED: {**source, "limits": list(limits)}, "flags": [IMPORTED]},
    }


def step_of_answer(conversation: Conversation) -> str:
    """The step whose text is under question."""
    position = conversation.answered_by
    if position is None:
        return build_runtime_stage_id(FINAL_ANSWER, len(conversation.turns) + 1)
    steps = stage_ids(turn.agent for turn in conversation.turns)
    return build_runtime_stage_id(steps[conversation.turns[position].agent], position + 1)


def limits_of(conversation: Conversation, name: str) -> tuple[str, ...]:
    """What a log of messages can't say, and what was taken for granted instead; one sentence each."""
    limits = [
        f"imported from a {name}: reads are inferred from message text, not recorded",
        "every agent is taken to have been given the whole conversation before its message",
        "tool calls, token counts and times are not recorded",
    ]
    silent = [agent for agent in conversation.agents if agent not in conversation.system_prompts]
    if not conversation.system_prompts:
        limits.append("system prompts are not recorded")
    elif silent:
        limits.append(f"system prompts are not recorded for {_count(len(silent), 'agent')}")
    if conversation.question is None:
        limits.append("the task is not in the log")
    limits += conversation.notes
    answered_by = conversation.answered_by
    after = 0 if answered_by is None else len(conversation.turns) - 1 - answered_by
    if after:
        limits.append(f"{_count(after, 'message')} after the answer can't have reached it: left out of the ranking")
    return tuple(limits)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


class _Log:
    """The commit log, the tree and the events while they are written, with the state that results."""

    def __init__(self, run_id: str, system_prompts: Mapping[str, str]) -> None:
        self._run_id = run_id
        self._prompts = system_prompts
        self._bundles: list[dict[str, Any]] = []
        self._nodes: list[dict[str, Any]] = []
        self._state: dict[str, Any] = {_HISTORY: []}
        self._calls = 0
        self.events: list[dict[str, Any]] = []

    def ask(self, conversation: Conversation) -> None:
        """Write the task: step 0, as the first stage of every run."""
        question = conversation.question or ""
        written: dict[str, Any] = {"userMessage": question, "iteration": 0}
        if question and not conversation.asked_by_turn:
            written[_HISTORY] = [_message("user", question, QUESTION, QUESTION, 0, "the task of the log")]
        self._commit(QUESTION, "Question", written, reads=())

    def say(self, stage_id: str, turn: Turn, *, reply: str | None) -> None:
        """Write one message, and the model call behind it where one is taken to have been made."""
        number = len(self._bundles)
        step = build_runtime_stage_id(stage_id, number)
        written: dict[str, Any] = {}
        if reply is not None:
            self._calls += 1
            self._call(step, turn, reply)
            written |= {"iteration": self._calls, "llmLatestContent": reply, "llmLatestToolCalls": []}
        reason = f"message {number} of the log, by {turn.agent}"
        role, name = _ROLES[turn.speaker], f"turn-{number}"
        written[_HISTORY] = [_message(role, turn.text, name, IMPORTED_TURN, self._calls, reason)]
        self._commit(stage_id, turn.agent, written, reads=(_HISTORY,) if reply is not None else ())

    def snapshot(self) -> dict[str, Any]:
        """The run as the wire has it. The nodes hang below the first, flat, so that a long log is no deep tree."""
        root, *others = self._nodes
        return {
            "runId": self._run_id,
            "sharedState": self._state,
            "executionTree": {**root, "children": others},
            "commitLog": self._bundles,
            "commitValues": "delta",
            "writeProvenance": "off",
        }

    def _call(self, step: str, turn: Turn, reply: str) -> None:
        prompt = self._prompts.get(turn.agent)
        start: dict[str, Any] = {
            "iteration": self._calls,
            "provider": "",
            "model": "",
            "systemPromptChars": utf16_length(prompt or ""),
            "messagesCount": len(self._state[_HISTORY]),
            "toolsCount": 0,
        }
        if prompt is not None:
            start["systemPromptText"] = prompt
        end: dict[str, Any] = {
            "iteration": self._calls,
            "content": reply,
            "toolCallCount": 0,
            "usage": {"input": 0, "output": 0, "usageReported": False},
            "stopReason": _NOT_KNOWN,
        }
        meta: dict[str, Any] = {"runtimeStageId": step, "subflowPath": [], "compositionPath": [], "runId": self._run_id}
        self.events.append({"type": "agentfootprint.stream.llm_start", "payload": start, "meta": meta})
        self.events.append({"type": "agentfootprint.stream.llm_end", "payload": end, "meta": dict(meta)})

    def _commit(self, stage_id: str, name: str, written: dict[str, Any], *, reads: Sequence[str]) -> None:
        step = build_runtime_stage_id(stage_id, len(self._bundles))
        trace = [{"path": key, "verb": "append" if key == _HISTORY else "set"} for key in written]
        self._bundles.append(
            {
                "idx": len(self._bundles),
                "stage": name,
                "stageId": stage_id,
                "runtimeStageId": step,
                "trace": trace,
                "overwrite": written,
                "updates": {},
                "redactedPaths": [],
            }
        )
        self._nodes.append(
            {
                "id": stage_id,
                "runtimeStageId": step,
                "name": name,
                "isDecider": False,
                "isFork": False,
                "logs": {},
                "errors": {},
                "metrics": {},
                "evals": {},
                "stageReads": {key: thaw(read_marker(self._state[key])) for key in reads},
            }
        )
        for key, value in written.items():
            if key == _HISTORY:
                self._state[key].extend(value)
            else:
                self._state[key] = value


def _message(role: str, text: str, id: str, flavor: str, iteration: int, reason: str) -> dict[str, Any]:
    injected = {"injectionId": id, "flavor": flavor, "iteration": iteration, "reason": reason}
    return {"role": role, "content": text, "injectedBy": injected}
