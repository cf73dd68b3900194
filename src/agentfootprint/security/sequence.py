"""Which tool calls were dispatched so far, in order?

Invariants: the sequence is a pure function of the history, so it survives resume, restore and continuation (SEQ-1);
`SequenceFold` gives the same answer at every prefix and pays only for what is new. In flight and denied are judged by
call id, settled by position (SEQ-3, SEQ-4); the known limits of judging by id are kept on purpose (SEQ-5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, overload

from msgspec.structs import force_setattr, replace

from agentfootprint.llm import CallPosition, LLMMessage, Pairing
from agentfootprint.trace import FrozenList, JsonObject, Record, deep_equal, freeze

__all__ = ["SYNTHETIC_DENY_PREFIX", "SequenceFold", "ToolCallEntry", "extract_sequence", "settled_proposals"]

SYNTHETIC_DENY_PREFIX: Final = "[permission denied:"
"""What a tool message begins with when its call was denied: a constant of the protocol (AGT-62)."""

_LOCAL: Final = "local"

ProviderResolver: TypeAlias = Callable[[str], str | None]


class _Entry(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    name: str
    args: JsonObject
    iteration: int


class ToolCallEntry(_Entry, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A call that was dispatched.

    Args:
        name: Name of the tool.
        args: Its arguments, as the model proposed them; frozen.
        iteration: Which of the turns with calls proposed it, from 1; for the last turn, the iteration asked about if
            that is larger (SEQ-6).
        provider_id: Whose tool it is; `local` when nobody knows. Only when it was asked for.
    """

    provider_id: str | None = None

    def __post_init__(self) -> None:
        args = freeze(self.args)
        if args is not self.args:
            force_setattr(self, "args", args)


def extract_sequence(
    history: Sequence[LLMMessage], iteration: int, *, resolve_provider_id: ProviderResolver | None = None
) -> list[ToolCallEntry]:
    """The calls of a history that were dispatched. Linear in its length (SEQ-10).

    Left out: calls without id, calls without a result, denied calls, calls settled without dispatch.

    Args:
        history: The messages, oldest first.
        iteration: The iteration that asks; entries of the last turn get it when it is larger than their own.
        resolve_provider_id: Names the provider of a tool; asked once for each tool.

    Example:
        >>> from agentfootprint.llm import LLMMessage, ToolCall
        >>> history = [
        ...     LLMMessage("assistant", "", tool_calls=[ToolCall("c1", "verify", {"order": "A-1"})]),
        ...     LLMMessage("tool", "ok", tool_call_id="c1"),
        ... ]
        >>> [(entry.name, entry.iteration) for entry in extract_sequence(history, 1)]
        [('verify', 1)]
    """
    fold = SequenceFold(resolve_provider_id=resolve_provider_id)
    fold.advance(history)
    return fold.entries(iteration)


def settled_proposals(history: Sequence[LLMMessage]) -> set[CallPosition]:
    """Where the proposals stand that were settled without dispatch: pairs of message and call index (AGT-96)."""
    pairing = Pairing()
    settled: set[CallPosition] = set()
    for index, message in enumerate(history):
        if message.role == "assistant" and message.tool_calls:
            pairing.propose(index, message.tool_calls)
        elif message.role == "tool" and message.tool_call_id:
            answered = pairing.answer(message.tool_call_id)
            if answered is not None and message.not_dispatched is not None:
                settled.add(answered)
    return settled


class SequenceFold:
    """The sequence of a run that goes on: takes in new messages, and equals `extract_sequence` at every prefix.

    `advance` costs what is new; a history that does not continue the one before (a window was cut, a checkpoint
    loaded) is taken in from its beginning. Not for several threads at once: one run owns it.

    Args:
        resolve_provider_id: Names the provider of a tool; asked once for each tool.
    """

    def __init__(self, *, resolve_provider_id: ProviderResolver | None = None) -> None:
        self._resolve = resolve_provider_id
        self._provider_ids: dict[str, str] = {}
        self._begin()

    def _begin(self) -> None:
        self._history: FrozenList | None = None
        self._length = 0
        self._turns = 0
        self._pairing = Pairing()
        self._proposed: list[ToolCallEntry] = []  # every proposal, in order
        self._ids: list[str] = []  # their call ids
        self._settled: set[int] = set()  # places of those that were settled
        self._turn_starts: dict[int, int] = {}  # message index: place of its first proposal
        self._first_place: dict[str, int] = {}  # call id: place of its first proposal
        self._ran: dict[str, bool] = {}  # call id: whether its latest result is no denial
        self._counted: list[ToolCallEntry] = []  # those dispatched, among the proposals that are judged
        self._counted_before: list[int] = []  # how many of them stand before each judged proposal

    @property
    def length(self) -> int:
        """How many messages were taken in."""
        return self._length

    def advance(self, history: Sequence[LLMMessage] | FrozenList) -> None:
        """Take in the messages of a history that are new."""
        previous = self._history
        if not (isinstance(history, FrozenList) and previous is not None and history.starts_with(previous)):
            self._begin()
        for index in range(self._length, len(history)):
            self._take(index, history[index])
        self._length = len(history)
        self._history = history if isinstance(history, FrozenList) else None

    def entries(self, iteration: int) -> list[ToolCallEntry]:
        """The calls dispatched so far, for the iteration that asks; a list of the caller's own."""
        for place in range(len(self._counted_before), len(self._proposed)):
            self._counted_before.append(len(self._counted))
            if place not in self._settled and self._ran.get(self._ids[place], False):
                self._counted.append(self._proposed[place])
        entries = self._counted.copy()
        if iteration > self._turns:
            at = len(entries) - 1
            while at >= 0 and entries[at].iteration == self._turns:
                entries[at] = replace(entries[at], iteration=iteration)
                at -= 1
        return entries

    def view(self, history: FrozenList, iteration: int) -> Sequence[ToolCallEntry]:
        """The sequence as of a history, worked out when it is first read, whatever the fold has taken in by then."""
        return _LazySequence(self, history, iteration, self._resolve)

    def _take(self, index: int, message: LLMMessage) -> None:
        if message.role == "assistant" and message.tool_calls:
            self._turns += 1
            self._pairing.propose(index, message.tool_calls)
            self._turn_starts[index] = len(self._proposed)
            for call in message.tool_calls:
                self._first_place.setdefault(call.id, len(self._proposed))
                self._ids.append(call.id)
                self._proposed.append(
                    ToolCallEntry(call.name, call.args, self._turns, provider_id=self._provider_id(call.name))
                )
        elif message.role == "tool" and message.tool_call_id:  # an empty id is never paired, and never ran
            self._answer(message, message.tool_call_id)

    def _answer(self, message: LLMMessage, call_id: str) -> None:
        answered = self._pairing.answer(call_id)
        if message.not_dispatched is None:
            ran = not message.content.startswith(SYNTHETIC_DENY_PREFIX)
            if ran != self._ran.get(call_id, False):
                self._judge_again_from(self._first_place.get(call_id))
            self._ran[call_id] = ran
        elif answered is not None:
            place = self._turn_starts[answered.message] + answered.call
            self._settled.add(place)
            self._judge_again_from(place)

    def _judge_again_from(self, place: int | None) -> None:
        if place is not None and place < len(self._counted_before):
            del self._counted[self._counted_before[place] :]
            del self._counted_before[place:]

    def _provider_id(self, tool: str) -> str | None:
        if self._resolve is None:
            return None
        if tool not in self._provider_ids:
            self._provider_ids[tool] = self._resolve(tool) or _LOCAL
        return self._provider_ids[tool]


class _LazySequence(Sequence[ToolCallEntry]):
    """What a rule is handed: reads like the list, and costs nothing unless it is read."""

    __slots__ = ("_entries", "_fold", "_history", "_iteration", "_resolve")

    def __init__(
        self, fold: SequenceFold, history: FrozenList, iteration: int, resolve: ProviderResolver | None
    ) -> None:
        self._fold = fold
        self._history = history
        self._iteration = iteration
        self._resolve = resolve
        self._entries: list[ToolCallEntry] | None = None

    def _read(self) -> list[ToolCallEntry]:
        if self._entries is None:
            fold = self._fold
            if fold.length > len(self._history):  # the run went on since: leave the fold where it is
                fold = SequenceFold(resolve_provider_id=self._resolve)
            fold.advance(self._history)
            self._entries = fold.entries(self._iteration)
        return self._entries

    def __len__(self) -> int:
        return len(self._read())

    @overload
    def __getitem__(self, index: int) -> ToolCallEntry: ...
    @overload
    def __getitem__(self, index: slice) -> list[ToolCallEntry]: ...
    def __getitem__(self, index: int | slice) -> ToolCallEntry | list[ToolCallEntry]:
        return self._read()[index]

    def __iter__(self) -> Iterator[ToolCallEntry]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        return deep_equal(self._read(), other)

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return repr(self._read())

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self._read().copy(),)
