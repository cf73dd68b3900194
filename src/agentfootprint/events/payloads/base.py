"""What every payload is: a frozen record of plain data that knows the type of its event.

Invariants: an attribute is the wire key in snake_case; a key that is absent is `None`, or `UNSET` where JSON null is a
value of its own (EVT-4); containers are tuples or frozen values, so a payload is shared and never copied (EVT-3).
Nothing here checks values: the library's own events are typed by the checker, files are read by `decode_event`, which
puts `UNSET` where an older or partial file lacks a key that a class requires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from agentfootprint.trace import Record

if TYPE_CHECKING:
    from agentfootprint.trace import FrozenDict, FrozenList, View

__all__ = ["Keyed", "Many", "Number", "Object", "Payload"]

T = TypeVar("T")

Number: TypeAlias = int | float
"""A duration, a score or a price; what came as a whole number stays one."""


# A frozen mapping or list is a `Mapping` or `Sequence` at run time only, and a decoder knows no union of the two.
if TYPE_CHECKING:
    Object: TypeAlias = Mapping[str, Any] | FrozenDict
    """A JSON object, frozen."""
    Keyed: TypeAlias = Mapping[str, T] | FrozenDict
    """A JSON object whose values are all of one type."""
    Many: TypeAlias = Sequence[T] | FrozenList | View
    """A tuple, or a list that is shared with the state."""
else:
    Object = Mapping[str, Any]
    Keyed = Mapping[str, T]
    Many = Sequence


class Payload(Record, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """What one event says; each subclass is one type of the vocabulary.

    A subclass says `frozen=True, kw_only=True, gc=False` again, sets `type`, and stands in `registry.PAYLOADS`.
    """

    type: ClassVar[str]
    """The full event type, `agentfootprint.<domain>.<action>`."""

    outside_stage: ClassVar[str | None] = None
    """The pseudo-stage address of an event that is dispatched outside any stage (EVT-9)."""
