"""By which id does a client know a message, a call or a question?

Invariants: different (run, kind, ordinal, address) never give one id, whatever slashes and percent signs they hold
(AGU-1); a recording mapped twice gives the same ids, since no clock and no chance takes part (AGU-7); the provider's
own call id is never used, because it repeats (AGU-2).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from agentfootprint.agui.errors import AgUiIdError
from agentfootprint.identity import encode_identity_field

__all__ = ["AgUiIdKind", "AgUiIds", "MintedId", "agui_id"]

AgUiIdKind: TypeAlias = Literal[
    "message", "tool-call", "tool-result", "reasoning", "reasoning-message", "interrupt", "activity", "history"
]
"""What an id can name (AGU-4); `history` is what the thread held before and the client does not know."""


class MintedId(NamedTuple):
    """A new id and its ordinal, from 0 for each kind and address."""

    id: str
    n: int


def _check(kind: str, n: int, address: str) -> None:
    if not isinstance(kind, str) or "/" in kind:  # pyright: ignore[reportUnnecessaryIsInstance]  a slash would move the borders
        raise AgUiIdError("kind", "a text without a slash")
    if type(n) is not int or n < 0:
        raise AgUiIdError("n", "a whole number, at least 0")
    if not isinstance(address, str):  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from events
        raise AgUiIdError("address", "a text")


def agui_id(run_id: str, kind: str, n: int, address: str) -> str:
    """Spell one id: `run/kind/n/address`, the run encoded so that it holds no slash (AGU-1).

    Args:
        run_id: The AG-UI `runId` of the request, not the agent's own run id (AGU-2).
        kind: One of `AgUiIdKind`.
        n: Ordinal within the kind and address, from 0.
        address: `runtimeStageId` of the event that opened the entity; any text.

    Raises:
        AgUiIdError: The kind holds a slash, `n` is no ordinal, or the address is no text.
        IdentityError: The run id is no text.

    Example:
        >>> agui_id("a/b", "tool-call", 0, "step-p/x/tool-calls#97")
        'a%2Fb/tool-call/0/step-p/x/tool-calls#97'
    """
    _check(kind, n, address)
    return f"{encode_identity_field(run_id)}/{kind}/{n}/{address}"


class AgUiIds:
    """Mints the ids of one AG-UI run; parallel calls share an address and differ by their ordinal (AGU-3).

    Not for several threads at once: one mapping of one run owns it.

    Args:
        run_id: The AG-UI `runId` of the request.

    Raises:
        AgUiIdError: The run id is not text, or is empty.
    """

    def __init__(self, run_id: str) -> None:
        if not isinstance(run_id, str) or not run_id:  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from a client
            raise AgUiIdError("runId", "a text that is not empty")
        self._run = encode_identity_field(run_id)
        self._next: dict[tuple[str, str], int] = {}

    def next(self, kind: AgUiIdKind, address: str) -> MintedId:
        """Mint the next id of this kind at this address."""
        n = self._next.get((kind, address), 0)
        minted = MintedId(self.at(kind, n, address), n)
        self._next[kind, address] = n + 1
        return minted

    def at(self, kind: AgUiIdKind, n: int, address: str) -> str:
        """Spell an id without counting, as for the result of a call already minted (AGU-5)."""
        _check(kind, n, address)
        return f"{self._run}/{kind}/{n}/{address}"
