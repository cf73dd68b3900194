"""A value together with how far it is known: known, unknown, or not applicable.

Evidence or silence: an unknown value can't be read by accident, because reading it raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from agentfootprint.explain.errors import UnknownValueError

__all__ = ["Claim"]

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Generic[T]):
    """A value with its evidence, or the reason why there is none (06b s.19.4).

    Make one with `known`, `unknown` or `not_applicable`.

    Example:
        >>> str(Claim.known(11, "declared"))
        '11 (declared)'
        >>> Claim.unknown("no cache fields").value_or(0)
        0
    """

    kind: Literal["known", "unknown", "not-applicable"]
    evidence: str | None = None
    reason: str | None = None
    _value: T | None = None

    @classmethod
    def known(cls, value: S, evidence: str) -> Claim[S]:
        """A value and what shows it."""
        return Claim(kind="known", evidence=evidence, _value=value)

    @classmethod
    def unknown(cls, reason: str, evidence: str | None = None) -> Claim[T]:
        """No value, and why."""
        return cls(kind="unknown", reason=reason, evidence=evidence)

    @classmethod
    def not_applicable(cls, evidence: str) -> Claim[T]:
        """No value, because the question does not arise here."""
        return cls(kind="not-applicable", evidence=evidence)

    @property
    def is_known(self) -> bool:
        """Whether `value` may be read."""
        return self.kind == "known"

    @property
    def value(self) -> T:
        """The value.

        Raises:
            UnknownValueError: There is none.
        """
        if self.kind != "known":
            raise UnknownValueError(str(self))
        return self._value  # type: ignore[return-value]  known claims hold a T, which may itself be None

    def value_or(self, fallback: T) -> T:
        """The value, or `fallback` when there is none."""
        return self.value if self.is_known else fallback

    def __str__(self) -> str:
        if self.is_known:
            return f"{self._value} ({self.evidence})"
        return f"unknown — {self.reason}" if self.kind == "unknown" else f"not applicable — {self.evidence}"

    def to_wire(self) -> dict[str, Any]:
        """The claim under the keys of the wire."""
        wire: dict[str, Any] = {"kind": self.kind}
        if self.is_known:
            wire["value"] = self._value
        if self.reason is not None:
            wire["reason"] = self.reason
        if self.evidence is not None:
            wire["evidence"] = self.evidence
        return wire
