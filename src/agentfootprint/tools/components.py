"""Which screen component may a question nominate to be answered with?

A question that says it wrongly is refused where it is made: a consent gate must never quietly become a plainer one
(AGT-87). What a component is for is the application's own business; here is only its shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, cast

from agentfootprint.tools.errors import InvalidAskComponentError
from agentfootprint.trace import FrozenDict, JsonObject, ValueRefusedError, freeze

__all__ = ["AskComponent", "check_component", "read_component"]

_FIX = 'Nominate one as AskComponent("approve-panel", props={...}).'


@dataclass(frozen=True, slots=True)
class AskComponent:
    """A component of the application's own screen that a question is to be answered with.

    Args:
        component_id: Its name, as the application knows it.
        props: What it is shown with; a JSON object.
        props_ref: Where what it is shown with is stored, when it is too large for the question.

    Raises:
        InvalidAskComponentError: The id is blank, `props` is no JSON object, or `props_ref` is an empty text.
    """

    component_id: str
    _: KW_ONLY
    props: JsonObject | None = None
    props_ref: str | None = None

    def __post_init__(self) -> None:
        """Check the shape, and freeze what it is shown with."""
        if not (isinstance(self.component_id, str) and self.component_id.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise _misshapen("its componentId is no text, or blank")
        if self.props is not None:
            try:
                props = freeze(self.props)
            except ValueRefusedError as refused:
                raise _misshapen("its props can't be recorded") from refused
            if not isinstance(props, FrozenDict):
                raise _misshapen("its props are no object")
            object.__setattr__(self, "props", props)
        if self.props_ref is not None and not (isinstance(self.props_ref, str) and self.props_ref):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise _misshapen("its propsRef is no text, or empty")

    def to_wire(self) -> FrozenDict:
        """The component as a frozen JSON object, with the keys it has something for."""
        wire: dict[str, Any] = {"componentId": self.component_id}
        if self.props is not None:
            wire["props"] = self.props
        if self.props_ref is not None:
            wire["propsRef"] = self.props_ref
        return FrozenDict(wire)


def check_component(given: object, door: str) -> AskComponent:
    """A component that a question came with, in either form.

    Args:
        given: An `AskComponent`, or the object it is on the wire.
        door: What asks: `ask_human`, `check_in` or `ask`.

    Raises:
        InvalidAskComponentError: It has not the shape.
    """
    if isinstance(given, AskComponent):
        return given
    if not isinstance(given, Mapping):
        raise _misshapen(f"it is a {type(given).__name__}", door)
    found = cast("Mapping[str, Any]", given)
    try:
        return AskComponent(found.get("componentId", ""), props=found.get("props"), props_ref=found.get("propsRef"))
    except InvalidAskComponentError as refused:
        raise InvalidAskComponentError("shape", door, refused.problem, fix=_FIX) from refused


def read_component(pause_data: object) -> FrozenDict | None:
    """The component that a question nominates: its own, else its check-in's, else its rule's (02 s.13.4)."""
    if not isinstance(pause_data, Mapping):
        return None
    data = cast("Mapping[str, Any]", pause_data)
    found = data.get("component")
    for part in ("checkIn", "ask"):
        inner = data.get(part)
        if found is None and isinstance(inner, Mapping):
            found = cast("Mapping[str, Any]", inner).get("component")
    if not isinstance(found, Mapping):
        return None
    component = cast("Mapping[str, Any]", found)
    name = component.get("componentId")
    return freeze(component) if isinstance(name, str) and name else None


def _misshapen(why: str, door: str = "") -> InvalidAskComponentError:
    return InvalidAskComponentError("shape", door, f"The component of a question can't be used: {why}.", fix=_FIX)
