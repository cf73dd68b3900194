"""What is one message of a conversation, and what hangs on it?

Invariants: everything here is frozen and holds frozen values only, so a message stands in state, log, request and
checkpoint by reference; on the wire it is an object with the keys of 02 s.7.1, where absent means default. Call ids
are the provider's and are not unique (AGT-58): nothing may be keyed by them alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from msgspec import UNSET
from msgspec.structs import force_setattr

from agentfootprint.llm.errors import InvalidMessageError
from agentfootprint.trace import FrozenDict, JsonObject, Record, ValueRefusedError, freeze

__all__ = [
    "ArgsError",
    "CallRef",
    "InjectedBy",
    "LLMMessage",
    "NotDispatched",
    "Role",
    "ThinkingBlock",
    "ToolCall",
    "ToolSchema",
    "whole_text",
]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

_ROLES: Final = frozenset(("system", "user", "assistant", "tool"))
_NO_ARGS: Final = FrozenDict({})


class CallRef(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One tool call, by the provider's id and the tool's name."""

    tool_call_id: str
    tool_name: str


class NotDispatched(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """The mark on a tool message whose call was never dispatched (AGT-90, AGT-99).

    Readers ask for its presence only.
    """

    paused_call: CallRef | None = None
    """The call of the same batch on which the run paused."""
    halted_call: CallRef | None = None
    """The call of the same batch at which a rule halted the run."""
    cause: str | None = None
    """`halt`, `abandoned`, `history`, `cut` or `stopped`; absent when the run paused."""


class InjectedBy(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Which piece of context put a message into the window; never sent to a model (PRT-9)."""

    injection_id: str
    flavor: str
    iteration: int
    reason: str | None = None


class ArgsError(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Why the arguments of a call could not be read (DEC-40); their text is kept nowhere."""

    problem: str
    """What was wrong, without the text."""
    raw_length: int
    """Characters that arrived; 0 where only what was parsed from them did."""
    block_index: int | None = None
    """The vendor's index of the block, if it has one."""


class _ToolCall(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    id: str
    name: str
    args: JsonObject


class ToolCall(_ToolCall, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A call that the model proposes.

    Arguments that are no object, or hold what JSON can't, are a fact about this call and no error (DEC-40): a model
    writes such things, and is told so.

    Args:
        id: The provider's id, kept verbatim but for half of a surrogate pair; it may repeat and may be empty.
        name: Name of the tool.
        args: The arguments; frozen here, a frozen mapping is shared. A blank text is `{}` (DEC-12).
        provider_meta: What the vendor wants back with the call, opaque (PRT-8).
        args_error: Set, here or by the caller, when the arguments could not be read; `args` is then `{}` and the call
            is never dispatched.

    Raises:
        InvalidMessageError: Id or name is no text.

    Example:
        >>> ToolCall("c1", "lookup", {"days": float("nan")}).args_error.problem
        'a number that is not finite, at days'
    """

    provider_meta: Any = UNSET
    args_error: ArgsError | None = None

    def __post_init__(self) -> None:
        if type(self.id) is not str or not self.id.isascii():
            force_setattr(self, "id", _read_text("toolCalls[].id", self.id))
        if type(self.name) is not str or not self.name.isascii():
            force_setattr(self, "name", _read_text("toolCalls[].name", self.name))
        if type(cast("object", self.args)) is not FrozenDict:
            args, error = _read_args(self.args)
            force_setattr(self, "args", args)
            if error is not None and self.args_error is None:
                force_setattr(self, "args_error", error)
        if self.provider_meta is not UNSET:
            force_setattr(self, "provider_meta", freeze(self.provider_meta))


class ThinkingBlock(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What a model thought before it answered, as the vendor wants it back (THK-1)."""

    type: Literal["thinking", "redacted_thinking"]
    content: str
    """The text; empty in a redacted block."""
    signature: str | None = None
    """The vendor's signature, byte for byte (ANT-2)."""
    summary: bool = False
    """Whether the text is the vendor's summary, not the thinking itself."""
    provider: str | None = None
    """Whose block it is: adapters send only their own back (RES-12)."""
    provider_meta: Any = UNSET
    """For the handler that made it; taken off before the block is recorded."""

    def __post_init__(self) -> None:
        if type(self.content) is not str or not self.content.isascii():
            force_setattr(self, "content", _read_text("thinkingBlocks[].content", self.content))
        if self.signature is not None:
            _check_text("thinkingBlocks[].signature", self.signature)
        if self.provider_meta is not UNSET:
            force_setattr(self, "provider_meta", freeze(self.provider_meta))


class ToolSchema(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """A tool as the model sees it.

    Args:
        name: Name of the tool.
        description: What it does and when to use it.
        input_schema: JSON Schema of its arguments; frozen here.
    """

    name: str
    description: str
    input_schema: JsonObject

    def __post_init__(self) -> None:
        schema = freeze(self.input_schema)
        if schema is not self.input_schema:
            force_setattr(self, "input_schema", schema)


class _Message(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    role: Role
    content: str


class LLMMessage(_Message, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """One message, as sent and recorded.

    Args:
        role: `system`, `user`, `assistant` or `tool`.
        content: The text; may be empty, is never `None`.
        tool_call_id: Which call a tool message answers.
        tool_name: Whose result a tool message is.
        tool_calls: The calls an assistant turn proposes, in order; kept as a tuple.
        thinking_blocks: The thinking of an assistant turn; kept as a tuple.
        ephemeral: Sent and observed, never kept in the history.
        injected_by: The piece of context that put it there; never sent.
        not_dispatched: The mark of a call that was never dispatched; never sent.

    Raises:
        InvalidMessageError: The role is unknown, a text is no text, or a list holds something else.
        ValueRefusedError: A text holds half of a surrogate pair.

    Example:
        >>> LLMMessage("tool", "shipped", tool_call_id="c1", tool_name="lookup").tool_name
        'lookup'
    """

    tool_call_id: str | None = None
    tool_name: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    thinking_blocks: Sequence[ThinkingBlock] = ()
    ephemeral: bool = False
    injected_by: InjectedBy | None = None
    not_dispatched: NotDispatched | None = None

    def __post_init__(self) -> None:
        if type(self.role) is not str or self.role not in _ROLES:
            raise InvalidMessageError("role", "system, user, assistant or tool")
        content, call, tool = self.content, self.tool_call_id, self.tool_name
        if type(content) is not str or not content.isascii():
            _check_text("content", content)
        if call is not None and (type(call) is not str or not call.isascii()):
            _check_text("toolCallId", call)
        if tool is not None and (type(tool) is not str or not tool.isascii()):
            _check_text("toolName", tool)
        if self.tool_calls != ():
            force_setattr(self, "tool_calls", _tuple_of(ToolCall, "toolCalls", self.tool_calls))
        if self.thinking_blocks != ():
            force_setattr(self, "thinking_blocks", _tuple_of(ThinkingBlock, "thinkingBlocks", self.thinking_blocks))


def whole_text(text: str) -> str:
    """The same text with U+FFFD for every half of a surrogate pair, which JSON brings and nothing can keep.

    Two halves that meet, as where a stream was put together, become the character they are.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _read_text(field: str, text: object) -> str:
    """A text that a model wrote."""
    if type(text) is not str:
        raise InvalidMessageError(field, "a text")
    return whole_text(text)


def _read_args(given: object) -> tuple[FrozenDict, ArgsError | None]:
    """The arguments of a call as they may be kept, and what was wrong with them; never their text."""
    if type(given) is dict or isinstance(given, Mapping):
        try:
            return freeze(cast("JsonObject", given)), None
        except ValueRefusedError as refused:
            return _NO_ARGS, ArgsError(_refusal(refused), 0)
    if isinstance(given, str):
        return _NO_ARGS, ArgsError("they are a text and no object", len(given)) if given.strip() else None
    return _NO_ARGS, ArgsError(f"they are {_KINDS.get(type(given), 'something else')} and no object", 0)


_KINDS: Final[Mapping[type, str]] = {
    list: "a list",
    tuple: "a list",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def _refusal(refused: ValueRefusedError) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in refused.path).lstrip(".")
    what = refused.found[:1].lower() + refused.found[1:]
    return whole_text(f"{what}, at {where}" if where else what)


def _check_text(field: str, text: object) -> None:
    if type(text) is not str:
        raise InvalidMessageError(field, "a text")
    if not text.isascii():
        freeze(text)  # refuses half of a surrogate pair


def _tuple_of(kind: type, field: str, items: Sequence[Any]) -> tuple[Any, ...]:
    found = cast("tuple[Any, ...]", items) if type(items) is tuple else tuple(items)
    for item in found:
        if type(item) is not kind:
            raise InvalidMessageError(f"{field}[]", f"a {kind.__name__}")
    return found
