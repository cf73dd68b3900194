"""How is a rule around the loop written, and which places can it stand in?

A rule is a named object with one or two hooks. Where it is listed says where it is expected to speak; which hooks it
has says where it does (ACT-12). Everything that can be refused about a rule is refused where it is listed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from agentfootprint.agent.gating.outcomes import RuleOutcome, allow
from agentfootprint.agent.gating.views import MessageView, ToolCallView, ToolResultView
from agentfootprint.errors import ConfigError

__all__ = ["Act", "MessageRule", "ToolRule", "after_tool", "before_tool", "hook_of", "on_message"]

Answer: TypeAlias = "RuleOutcome | Awaitable[RuleOutcome]"


class ToolRule:
    """A rule about tool calls: subclass it, name it, and write one hook or both; sync or async."""

    name: str = ""
    """For the record, and for whoever reads a refusal."""

    def on_tool_call(self, call: ToolCallView) -> Answer:  # noqa: ARG002  for subclasses
        """Judge a call before it runs: `allow`, `allow` with other arguments, `deny`, or `ask` a person."""
        return allow()

    def on_tool_result(self, call: ToolResultView) -> Answer:  # noqa: ARG002  for subclasses
        """Judge a result before the model reads it: `allow`, `allow` with another one, or `deny`."""
        return allow()


class MessageRule:
    """A rule about what the user says and is answered: subclass it, name it, and write its hook; sync or async."""

    name: str = ""
    """For the record, and for whoever reads a refusal."""

    def on_message(self, message: MessageView) -> Answer:  # noqa: ARG002  for subclasses
        """Judge a message; `message.phase` says which: `allow`, `allow` with another text, or `deny`."""
        return allow()


class _BeforeTool(ToolRule):
    def __init__(self, name: str, judge: Callable[[ToolCallView], Answer]) -> None:
        self.name = name
        self._judge = judge

    def on_tool_call(self, call: ToolCallView) -> Answer:
        return self._judge(call)


class _AfterTool(ToolRule):
    def __init__(self, name: str, judge: Callable[[ToolResultView], Answer]) -> None:
        self.name = name
        self._judge = judge

    def on_tool_result(self, call: ToolResultView) -> Answer:
        return self._judge(call)


class _OnMessage(MessageRule):
    def __init__(self, name: str, judge: Callable[[MessageView], Answer]) -> None:
        self.name = name
        self._judge = judge

    def on_message(self, message: MessageView) -> Answer:
        return self._judge(message)


def before_tool(*, name: str) -> Callable[[Callable[[ToolCallView], Answer]], ToolRule]:
    """Make a function a rule that judges calls before they run.

    Args:
        name: The rule's name.

    Example:
        >>> from agentfootprint.agent.gating.outcomes import allow, deny
        >>> @before_tool(name="no-prod")
        ... def no_prod(call: ToolCallView) -> RuleOutcome:
        ...     return deny("writes to prod need a ticket") if call.args.get("env") == "prod" else allow()
        >>> no_prod.name
        'no-prod'
    """
    return lambda judge: _BeforeTool(name, judge)


def after_tool(*, name: str) -> Callable[[Callable[[ToolResultView], Answer]], ToolRule]:
    """Make a function a rule that judges results before the model reads them.

    Args:
        name: The rule's name.
    """
    return lambda judge: _AfterTool(name, judge)


def on_message(*, name: str) -> Callable[[Callable[[MessageView], Answer]], MessageRule]:
    """Make a function a rule that judges what the user says and is answered.

    Args:
        name: The rule's name.
    """
    return lambda judge: _OnMessage(name, judge)


_EMPTY_HOOKS: Final = (ToolRule.on_tool_call, ToolRule.on_tool_result, MessageRule.on_message)


def hook_of(rule: object, name: str) -> Callable[[Any], Answer] | None:
    """A hook that a rule really has; one that it only inherits from its base says nothing."""
    found: object = getattr(rule, name, None)
    if not callable(found) or getattr(found, "__func__", found) in _EMPTY_HOOKS:
        return None
    return cast("Callable[[Any], Answer]", found)


_HOOKS: Final = {
    "input": "on_message",
    "before_tool": "on_tool_call",
    "after_tool": "on_tool_result",
    "output": "on_message",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """The rules around the loop, by where they speak: `Gates(act=Act(before_tool=[...]))`.

    Rules before a tool speak in the order listed, each about what those before it left; rules after a tool in reverse
    order; message rules in the order listed, at both ends. The first that does not allow ends the walk (ACT-3).

    Args:
        input: Judge what the user says, before anything of the run sees it.
        before_tool: Judge a call before it runs.
        after_tool: Judge a result before the model reads it.
        output: Judge an answer before the caller gets it.

    Raises:
        ConfigError: An entry has no name, or not the hook of its place; the error names the right one.
    """

    input: Sequence[MessageRule] = ()
    before_tool: Sequence[ToolRule] = ()
    after_tool: Sequence[ToolRule] = ()
    output: Sequence[MessageRule] = ()

    def __post_init__(self) -> None:
        """Check every entry before any is used."""
        for bucket in _HOOKS:
            object.__setattr__(self, bucket, _checked(bucket, getattr(self, bucket)))

    @property
    def tool_rules(self) -> tuple[ToolRule, ...]:
        """The rules about tool calls, each once, in the order listed."""
        return _once((*self.before_tool, *self.after_tool))

    @property
    def message_rules(self) -> tuple[MessageRule, ...]:
        """The rules about messages, each once, in the order listed."""
        return _once((*self.input, *self.output))


def _once(rules: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple({id(rule): rule for rule in rules}.values())


def _checked(bucket: str, given: object) -> tuple[object, ...]:
    option = f"act.{bucket}"
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ConfigError(option, f"{option} is a {type(given).__name__}.", fix=f"Write {bucket}=[...].")
    rules = tuple(cast("Iterable[object]", given))
    for place, rule in enumerate(rules):
        name: object = getattr(rule, "name", None)
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(
                option,
                f"Entry {place} of {option}, a {type(rule).__name__}, has no name.",
                fix=f"Make it with @{_MAKERS[bucket]}(name=...), or give its class a name.",
            )
        if hook_of(rule, _HOOKS[bucket]) is None:
            right = sorted(other for other, hook in _HOOKS.items() if hook_of(rule, hook) is not None)
            raise ConfigError(
                option,
                f"The rule {name!r} in {option} has no {_HOOKS[bucket]}, so it would never be asked there.",
                fix=f"List it in act.{' or act.'.join(right)}." if right else f"Write its {_HOOKS[bucket]}.",
            )
    return rules


_MAKERS: Final = {
    "input": "on_message",
    "before_tool": "before_tool",
    "after_tool": "after_tool",
    "output": "on_message",
}
