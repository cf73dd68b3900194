"""What do the rules of one place say together, asked one after the other?

Every rule that is asked files one row, passing through included (ACT-9). A rule that raises, or answers with something
that is no outcome or has no meaning where it stands, has denied: nothing passes because a rule is broken (ACT-4).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from msgspec import UNSET

from agentfootprint.agent.gating.outcomes import RuleOutcome, deny
from agentfootprint.agent.gating.rules import Act, hook_of
from agentfootprint.agent.gating.views import MessageView, ToolCallView, ToolResultView
from agentfootprint.llm import whole_text
from agentfootprint.tools import PersonAsked
from agentfootprint.trace import FrozenDict, Value

__all__ = [
    "CallVerdict",
    "File",
    "MessageLink",
    "MessageVerdict",
    "ResultVerdict",
    "ToolLink",
    "failure_text",
    "judge_call",
    "judge_message",
    "judge_result",
    "message_links",
    "tool_links",
]

File: TypeAlias = Callable[[FrozenDict], object]
"""Takes the row of one decision, in the ledger's wire form."""

Hook: TypeAlias = Callable[[Any], Any]


class ToolLink(NamedTuple):
    """A rule about tool calls, with the hooks it has."""

    name: str
    on_call: Hook | None
    on_result: Hook | None


class MessageLink(NamedTuple):
    """A rule about messages, with the ends it is listed at; at the other it passes."""

    name: str
    on_message: Hook
    phases: frozenset[str]


def tool_links(act: Act) -> tuple[ToolLink, ...]:
    """The rules about tool calls, in order; hooks decide where each speaks (ACT-12)."""
    return tuple(
        ToolLink(rule.name, hook_of(rule, "on_tool_call"), hook_of(rule, "on_tool_result")) for rule in act.tool_rules
    )


def message_links(act: Act) -> tuple[MessageLink, ...]:
    """The rules about messages, in order."""
    links: list[MessageLink] = []
    for rule in act.message_rules:
        hook = hook_of(rule, "on_message")
        listed = {"input": act.input, "output": act.output}
        phases = frozenset(phase for phase, rules in listed.items() if any(each is rule for each in rules))
        if hook is not None:
            links.append(MessageLink(rule.name, hook, phases))
    return tuple(links)


class CallVerdict(NamedTuple):
    """What the rules said about a call."""

    kind: Literal["allow", "deny", "ask"]
    args: FrozenDict
    """The arguments as the rules left them."""
    middleware: str = ""
    """Who denied or asked."""
    reason: str = ""
    """Why; of an `ask` the question."""
    place: int = 0
    """Of an `ask`, which of the rules asked."""
    asked: RuleOutcome | None = None


class ResultVerdict(NamedTuple):
    """What the rules said about a result."""

    kind: Literal["allow", "deny"]
    result: Value
    """What the model is given; of a denial the tool's own result, which the record keeps."""
    changed: bool = False
    middleware: str = ""
    reason: str = ""
    """What the model reads of a denial."""


class MessageVerdict(NamedTuple):
    """What the rules said about a message."""

    kind: Literal["allow", "deny"]
    content: str
    """The text as the rules left it."""
    changed_by: str | None = None
    """The last rule that changed it."""
    middleware: str = ""
    reason: str = ""


async def judge_call(
    links: Sequence[ToolLink], view: ToolCallView, file: File, *, start: int = 0, may_ask: bool = True
) -> CallVerdict:
    """Ask the rules about a call, from one of them on.

    Args:
        links: All rules about tool calls.
        view: The call; each rule sees what those before it left.
        file: Takes the rows.
        start: The place of the first to be asked.
        may_ask: Whether a person can be asked here; else a question is a denial (ACT-2).
    """
    args = cast("FrozenDict", view.args)
    for index in range(start, len(links)):
        name, hook, _ = links[index]
        if hook is None:
            continue
        outcome = await _answer(name, hook, replace(view, args=args))
        if outcome.kind == "ask" and not may_ask:
            outcome = _unasked(name, outcome)
        if outcome.value is not UNSET and not isinstance(outcome.value, FrozenDict):
            outcome = _misfit(name, "arguments that are no object", outcome.value)
        changed = outcome.value is not UNSET
        after: FrozenDict = cast("FrozenDict", outcome.value) if changed else args
        values = (args, after) if changed else None
        file(_call_row(name, "before-tool", view, outcome, changed=changed, values=values))
        args = after
        if outcome.kind != "allow":
            asked = outcome if outcome.kind == "ask" else None
            return CallVerdict(outcome.kind, args, name, outcome.why or "", index, asked)
    return CallVerdict("allow", args)


async def judge_result(links: Sequence[ToolLink], view: ToolResultView, file: File) -> ResultVerdict:
    """Ask the rules about a result, the last one first, so that a rule listed first speaks last (ACT-3)."""
    result, changed_at_all = view.result, False
    for name, _, hook in reversed(links):
        if hook is None:
            continue
        outcome = await _answer(name, hook, replace(view, result=result))
        if outcome.kind == "ask":
            outcome = _unasked(name, outcome)
        if outcome.kind == "deny":
            row = _call_row(name, "after-tool", view, outcome, changed=True, values=(result, outcome.why))
            file(row)
            return ResultVerdict("deny", view.result, changed_at_all, name, outcome.why or "")
        changed = outcome.value is not UNSET
        after = outcome.value if changed else result
        values = (result, after) if changed else None
        file(_call_row(name, "after-tool", view, outcome, changed=changed, values=values))
        result, changed_at_all = after, changed_at_all or changed
    return ResultVerdict("allow", result, changed_at_all)


async def judge_message(
    links: Sequence[MessageLink], view: MessageView, file: File, *, iteration: int
) -> MessageVerdict:
    """Ask the rules about a message, in order, at either end.

    Args:
        links: All rules about messages.
        view: The message.
        file: Takes the rows.
        iteration: The iteration; 0 at input.
    """
    content, changed_by = view.content, None
    for name, hook, phases in links:
        outcome = _PASSED
        if view.phase in phases:
            outcome = await _answer(name, hook, replace(view, content=content))
        if outcome.kind == "ask":
            outcome = _unasked(name, outcome)
        if outcome.value is not UNSET and not isinstance(outcome.value, str):
            outcome = _misfit(name, "a message that is no text", outcome.value)
        changed = outcome.value is not UNSET
        after: str = cast("str", outcome.value) if changed else content
        row = {"middleware": name, "moment": view.phase, "at": "message", "phase": view.phase}
        file(_row(row, iteration, outcome, changed=changed, values=(content, after) if changed else None))
        if outcome.kind == "deny":
            return MessageVerdict("deny", content, changed_by, name, outcome.why or "")
        content, changed_by = after, name if changed else changed_by
    return MessageVerdict("allow", content, changed_by)


_PASSED = RuleOutcome("allow")


async def _answer(name: str, hook: Hook, view: object) -> RuleOutcome:
    try:
        answer: object = hook(view)
        if inspect.isawaitable(answer):
            answer = cast("object", await answer)
    except (Exception, PersonAsked) as error:  # noqa: BLE001  the application's rule, which may raise anything
        return deny(f"middleware '{name}' threw: {failure_text(error)}")
    if isinstance(answer, RuleOutcome):
        return answer
    kind = "nothing" if answer is None else f"a {type(answer).__name__}"
    return deny(f"middleware '{name}' threw: it answered with {kind} instead of allow(), deny() or ask()")


def failure_text(error: BaseException) -> str:
    """What an exception of the application's says, as a text that can be kept."""
    if isinstance(error, PersonAsked):
        return "it called ask_human, which is for tools; return ask(...) from a rule before a tool"
    try:
        text = whole_text(str(error))
    except Exception:  # noqa: BLE001  a __str__ of the user's
        text = ""
    return text if text.strip() else type(error).__name__


def _unasked(name: str, outcome: RuleOutcome) -> RuleOutcome:
    """A question where nobody can be asked is a denial that quotes it (ACT-2)."""
    return deny(
        f"middleware '{name}' asked a person to decide, and there is no pause here to carry that ask: {outcome.why}"
    )


def _misfit(name: str, what: str, value: object) -> RuleOutcome:
    """A replacement that can't stand there is a denial that names its shape, never itself."""
    kind = "an object" if isinstance(value, Mapping) else f"a {_KINDS.get(type(value), 'value')}"
    return deny(f"middleware '{name}' answered with {what}: {kind}")


_KINDS: Mapping[type, str] = {str: "text", bool: "boolean", int: "number", float: "number"}


def _call_row(
    name: str,
    moment: str,
    view: ToolCallView,
    outcome: RuleOutcome,
    *,
    changed: bool,
    values: tuple[Value, Value] | None,
) -> FrozenDict:
    row: dict[str, Any] = {
        "middleware": name,
        "moment": moment,
        "at": "tool",
        "toolName": view.tool_name,
        "toolCallId": view.tool_call_id,
    }
    return _row(row, view.iteration, outcome, changed=changed, values=values)


def _row(
    row: dict[str, Any], iteration: int, outcome: RuleOutcome, *, changed: bool, values: tuple[Value, Value] | None
) -> FrozenDict:
    """The row of a decision; values stand in it only where one was replaced."""
    row |= {"iteration": iteration, "outcome": outcome.kind, "changed": changed}
    if outcome.why is not None:
        row["why"] = outcome.why
    if values is not None:
        row["before"], row["after"] = values
    return FrozenDict(row)
