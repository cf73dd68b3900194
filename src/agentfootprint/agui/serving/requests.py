"""What does a request ask for: a new message to be answered, with which facts beside it?

Invariants: of the client's messages only the last user message counts (AGU-61); nothing in a request says who sends it
(AGU-66); a refusal names fields and kinds, never what was sent.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.agui.ids import agui_id
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.context import Fact
from agentfootprint.identity import encode_identity_field

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["NewMessage", "check_ids", "facts_of", "message_of", "read_input"]

_LONGEST_ID: Final = 512
_UNPRINTED: Final = ("Cc", "Cs", "Zl", "Zp")
_MOST_FACTS: Final = 20
_MOST_FACT_CHARS: Final = 8_000
_SHOWN_FIELDS: Final = 20
_MOST_FAULTS: Final = 500
"""With more, none is named: telling each takes a kilobyte."""
_LISTS: Final = ("messages", "tools", "context", "resume")
_MOST_ELEMENTS: Final = 20_000
_FEW_BYTES: Final = 2 * _MOST_ELEMENTS
"""A body of fewer can't hold more elements than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """What the user says now."""

    id: str
    """Under which the client shows it."""
    text: str = field(repr=False)


def read_input(body: bytes | str) -> tuple[core.RunAgentInput | None, list[str]]:
    """Read a request's body.

    Args:
        body: JSON.

    Returns:
        The input and no paths, or nothing and the paths of the fields at fault (AGU-80).
    """
    from pydantic import ValidationError  # beside the protocol's models, which are made of it

    crowded = _crowded(body) if len(body) > _FEW_BYTES else []
    if crowded:
        return None, crowded
    try:
        return core.RunAgentInput.model_validate_json(body), []
    except ValidationError as misfit:
        if misfit.error_count() > _MOST_FAULTS:
            return None, ["(body)"]
        faults = misfit.errors(include_url=False, include_context=False, include_input=False)
        paths = dict.fromkeys(".".join(map(str, each["loc"])) or "(body)" for each in faults)
        return None, list(paths)[:_SHOWN_FIELDS]


def _crowded(body: bytes | str) -> list[str]:
    """The lists that hold more than any client means: each element that is none would be a fault to be told."""
    from pydantic_core import from_json

    try:
        found: Any = from_json(body)
    except ValueError:
        return []  # and is told as such
    if not isinstance(found, dict):
        return []
    wire: dict[str, Any] = found  # pyright: ignore[reportUnknownVariableType]  JSON
    return [name for name in _LISTS if _elements(wire.get(name)) > _MOST_ELEMENTS]


def _elements(found: Any) -> int:  # noqa: ANN401  JSON
    """How many elements a list has, with those of the lists that stand in its members."""
    if not isinstance(found, list):
        return 0
    rows = cast("list[Any]", found)
    members = (value for each in rows if isinstance(each, dict) for value in cast("dict[str, Any]", each).values())
    return len(rows) + sum(len(cast("list[Any]", each)) for each in members if isinstance(each, list))


def check_ids(given: core.RunAgentInput) -> None:
    """Refuse ids that nothing can be kept under (AGU-62).

    Raises:
        AgUiRefusedError: One is empty, too long, or not a text of one line.
    """
    for name, found in (("threadId", given.thread_id), ("runId", given.run_id)):
        problem = _id_problem(found)
        if problem is not None:
            raise invalid(f"The {name} {problem}.", fix="Give a text such as a UUID.")


def _id_problem(found: str) -> str | None:
    if not found.strip():
        return "is empty"
    if len(found) > _LONGEST_ID:
        return f"is longer than {_LONGEST_ID} characters"
    if any(unicodedata.category(each) in _UNPRINTED for each in found):
        return "holds a control character"
    return None


def invalid(problem: str, *, fix: str) -> AgUiRefusedError:
    """The refusal of a request that can't be meant."""
    return AgUiRefusedError("invalid_input", problem, fix=fix)


def message_of(given: core.RunAgentInput, known: Collection[str]) -> NewMessage:
    """What the user says in a request without `resume`.

    Args:
        given: The request.
        known: Ids of the messages that the thread has; a client that uses one again, or one that this run will make,
            gets another.

    Raises:
        AgUiRefusedError: The last message is not a user's, has no text, or has a part that is none.
    """
    last = given.messages[-1] if given.messages else None
    if not isinstance(last, core.UserMessage):
        raise invalid(
            "The last message is not one of the role user.", fix="Send what the user says as the last message."
        )
    text = last.content if isinstance(last.content, str) else _joined(last.content)
    known_as, own, n = last.id, f"{encode_identity_field(given.run_id)}/", 0
    if _id_problem(known_as) is not None or known_as in known or known_as.startswith(own):  # which this run will mint
        while (known_as := agui_id(given.run_id, "history", n, "user")) in known:
            n += 1
    return NewMessage(id=known_as, text=text)


def _joined(parts: Sequence[Any]) -> str:
    for part in parts:
        if not isinstance(part, core.TextPart):
            raise invalid(
                f"The message has a part of the type {part.type!r}, which the agent's model is not given.",
                fix="Send text.",
            )
    return "\n".join(part.text for part in parts)


def facts_of(given: core.RunAgentInput) -> list[Fact]:
    """The request's context as facts of this run: data, never instructions (AGU-53).

    Raises:
        AgUiRefusedError: There are more, or longer, than a run takes.
    """
    entries = given.context or []
    if len(entries) > _MOST_FACTS:
        raise invalid(f"The context has more than {_MOST_FACTS} entries.", fix="Send fewer.")
    if sum(len(each.description) + len(each.value) for each in entries) > _MOST_FACT_CHARS:
        raise invalid(f"The context has more than {_MOST_FACT_CHARS} characters.", fix="Send less.")
    return [
        Fact(
            f"agui-context-{place}",
            f"{each.description.strip()}: {each.value}" if each.description.strip() else each.value,
        )
        for place, each in enumerate(entries)
        if each.value.strip()
    ]
