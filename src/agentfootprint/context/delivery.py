"""May a piece of context be said now, and was it said before?

A delivered message is appended to the window like any other, once a run; the marks it carries and the ledger in the
state agree, so a resumed run says nothing twice (04 s.5). What a pass costs depends on what the window gained since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from agentfootprint.context.errors import ContextDefinitionError, DeliveryRoleError
from agentfootprint.llm import InjectedBy, LLMMessage, PairingFold
from agentfootprint.trace import FrozenDict, FrozenList, fnv1a

if TYPE_CHECKING:
    from agentfootprint.context.injections import Injection

__all__ = [
    "DeferralReason",
    "Delivered",
    "Deliveries",
    "carried_roles",
    "check_keys",
    "check_roles",
    "delivery_key",
    "placement",
    "without_delivered",
]

DeferralReason: TypeAlias = Literal["unanswered-tool-call", "role-collision"]
"""Why a message can't be appended now; it is tried again before the next model call (MSG-2)."""

_NOTES: Final = {
    "unanswered-tool-call": "a tool call in the conversation has no result yet",
    "role-collision": "the conversation already ends on this role",
}
_UNDECLARED: Final = ("user", "assistant")
"""What a provider carries that does not say."""


def delivery_key(injection_id: str, role: str, content: str) -> str:
    """The ledger's name of a message: which piece, and which words by whom; not where (MSG-5).

    The hash holds no colon, so pieces never share a key; `check_keys` refuses two texts of one piece that would.
    """
    return f"{injection_id}:{fnv1a(f'{role}:{content}')}"


def placement(history: Sequence[LLMMessage], role: str) -> DeferralReason | None:
    """Why a message of this role can't be appended to a history now; `None` when it can (MSG-2). Linear."""
    window = _Window()
    for message in history:
        window.add(message)
    return window.refusal(role)


def carried_roles(provider: object) -> tuple[str, ...]:
    """The roles a provider carries inside its messages (MSG-1)."""
    return tuple(getattr(provider, "carries_in_messages", None) or _UNDECLARED)


def check_roles(pieces: Iterable[Injection], provider: object) -> None:
    """Refuse a run whose context has a message that its provider would have to drop or re-role (MSG-1, AGT-4).

    Raises:
        DeliveryRoleError: Names the piece, the role, the provider, and what that carries.
    """
    carried = carried_roles(provider)
    for piece in pieces:
        for message in piece.inject.messages:
            if message.role not in carried:
                raise DeliveryRoleError(piece.id, message.role, getattr(provider, "name", "provider"), carried)


def check_keys(piece: Injection) -> None:
    """Refuse two texts of a piece that the ledger could not tell apart.

    Raises:
        ContextDefinitionError: Their keys are equal and they are not; one of them would never be said.
    """
    said: dict[str, tuple[str, str]] = {}
    for message in piece.inject.messages:
        words = (message.role, message.content)
        if said.setdefault(delivery_key(piece.id, *words), words) != words:
            raise ContextDefinitionError(
                piece.id,
                "messages",
                f"Two messages of {piece.id!r} have one fingerprint, so only the first would be said.",
                fix="Change a word in one of them.",
            )


def without_delivered(history: FrozenList, removed: Iterable[str]) -> FrozenList:
    """A history without the messages that these pieces put there; the same object when there are none.

    For a conversation that goes on with an agent that has lost some of its context.
    """
    gone = frozenset(removed)
    kept = [each for each in history if each.injected_by is None or each.injected_by.injection_id not in gone]
    return history if len(kept) == len(history) else FrozenList(kept, len(kept))


class Delivered(NamedTuple):
    """What a pass came to."""

    window: FrozenList
    """The conversation with what was said now; the same object when nothing was."""
    ledger: FrozenList
    """The ledger with what was said now and what the window says was said before; the same object when it has all."""
    record: FrozenDict
    """The state's `messagesDelivery` (MSG-8)."""


class _Window:
    """What placement asks of a window, kept while it grows: open calls, and who spoke last."""

    __slots__ = ("_pairs", "length", "tail")

    def __init__(self) -> None:
        self._pairs = PairingFold()
        self.length = 0
        self.tail = ""

    def add(self, message: LLMMessage) -> None:
        self._pairs.broken(message)
        self.length += 1
        self.tail = _effective(message.role)

    def refusal(self, role: str) -> DeferralReason | None:
        if self._pairs.unanswered:
            return "unanswered-tool-call"
        return "role-collision" if self.tail == _effective(role) else None


def _effective(role: str) -> str:
    """Who a message speaks as on the strictest wire, which folds tool results into the user's turn."""
    return "user" if role == "tool" else role


class Deliveries:
    """The deliveries of one run; not for several runs at once.

    Args:
        carried: The roles that the run's provider carries.
        provider: Its name, for the refusal.
    """

    __slots__ = ("_carried", "_known", "_ledger", "_marked", "_provider", "_said", "_window")

    def __init__(self, carried: Sequence[str], provider: str) -> None:
        self._carried = carried
        self._provider = provider
        self._known = FrozenList([], 0)
        self._window = _Window()
        self._marked: dict[str, None] = {}
        self._ledger = FrozenList([], 0)
        self._said: set[str] = set()

    def deliver(self, pieces: Iterable[Injection], window: FrozenList, ledger: FrozenList, iteration: int) -> Delivered:
        """Say what is due and may be said now (MSG-2 to MSG-8).

        Args:
            pieces: The active pieces with messages, in declaration order.
            window: The conversation.
            ledger: The state's `deliveredMessageKeys`.
            iteration: The number of the next model call, from 1.

        Raises:
            DeliveryRoleError: The provider does not carry the role of a message that is due.
        """
        self._observe(window, ledger)
        keys = [key for key in self._marked if key not in self._said]
        self._said.update(keys)
        said: list[LLMMessage] = []
        delivered: list[FrozenDict] = []
        deferred: list[FrozenDict] = []
        for piece in pieces:
            for row, message in self._due(piece, iteration):
                if message is None:
                    deferred.append(row)
                    break  # order inside a declaration is meaning (MSG-4)
                said.append(message)
                delivered.append(row)
                keys.append(row["key"])
        self._known = window.extend(said) if said else window
        self._ledger = ledger.extend(keys) if keys else ledger
        record = {
            "iteration": iteration,
            "delivered": FrozenList(delivered, len(delivered)),
            "deferred": FrozenList(deferred, len(deferred)),
        }
        return Delivered(self._known, self._ledger, FrozenDict(record))

    def _observe(self, window: FrozenList, ledger: FrozenList) -> None:
        if ledger is not self._ledger:
            self._said = set(ledger)
        if not window.starts_with(self._known):
            self._known, self._window, self._marked = FrozenList([], 0), _Window(), {}
        for message in window.tail(len(self._known)):
            self._window.add(message)
            mark = message.injected_by
            if mark is not None:
                self._marked[delivery_key(mark.injection_id, message.role, message.content)] = None
        self._known = window

    def _due(self, piece: Injection, iteration: int) -> Iterator[tuple[FrozenDict, LLMMessage | None]]:
        """The messages of a piece that were not said before: each with its row, or the row of one that has to wait."""
        for message in piece.inject.messages:
            role, content = message.role, message.content
            key = delivery_key(piece.id, role, content)
            if key in self._said:
                continue
            if role not in self._carried:
                raise DeliveryRoleError(piece.id, role, self._provider, self._carried)
            about = {"injectionId": piece.id, "flavor": piece.flavor, "role": role}
            reason = self._window.refusal(role)
            if reason is not None:
                yield FrozenDict({**about, "reason": reason, "note": _NOTES[reason]}), None
                continue
            place = self._window.length
            mark = InjectedBy(piece.id, piece.flavor, iteration, piece.description)
            said = LLMMessage(role, content, injected_by=mark)
            self._window.add(said)
            self._said.add(key)
            name = fnv1a(f"{role}:{place}:{content}")
            yield FrozenDict({**about, "wireIndex": place, "contentHash": name, "key": key}), said
