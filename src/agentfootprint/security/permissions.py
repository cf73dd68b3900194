"""What is a permission checker asked, and what may it answer?

A checker is the application's own, or a `PermissionPolicy`. It is asked about every tool call, and about what else a
tool declares that the checker says it governs (PRM-2). One that raises, or answers with something else than a decision,
has denied: who asks fails closed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Container, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Final, Literal, Protocol, TypeAlias, cast, get_args, runtime_checkable

from agentfootprint.errors import ConfigError
from agentfootprint.identity import Identity
from agentfootprint.llm import LLMMessage
from agentfootprint.security.sequence import ToolCallEntry
from agentfootprint.trace import JsonObject

__all__ = [
    "PermissionChecker",
    "PermissionDecision",
    "PermissionRequest",
    "Verdict",
    "checker_governs",
    "skill_id_of",
    "skill_target",
]

Verdict: TypeAlias = Literal["allow", "deny", "halt", "gate_open"]

_VERDICTS: Final = get_args(Verdict)
_SKILL: Final = "skill:"


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """What a checker is asked (PRM-1); everything in it is frozen.

    Args:
        capability: `tool_call`, `skill_read`, or a capability that the tool declares.
        target: The tool's name, or `skill:<id>`.
        context: The arguments of the call, as the model proposed them.
        sequence: The calls dispatched so far, without this one; only for `tool_call`, and worked out when it is read.
        history: The conversation, with the turn that proposes the call and the results its batch has so far.
        iteration: The iteration, from 1.
        identity: Whose run it is; `None` when nobody said.
    """

    actor: ClassVar[str] = "agent"
    """Who asks."""

    capability: str
    target: str
    context: JsonObject
    sequence: Sequence[ToolCallEntry] = ()
    history: Sequence[LLMMessage]
    iteration: int
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """What a checker answers.

    Args:
        result: `allow`; `deny`, which the model reads, and goes on; `halt`, which ends the run; `gate_open`, which
            passes because somebody approved it for a time.
        policy_rule_id: The rule that decided.
        rationale: Why, in words; of a denial the model reads it, unless `tell_llm` says something else.
        gate_id: The approval that a `gate_open` stands on.
        reason: A code for telemetry; the model never reads it.
        tell_llm: What the model reads of a denial or a halt, as it is. Without the prefix `[permission denied:` a
            later sequence takes the call for one that ran (AGT-65).

    Raises:
        ConfigError: The result is another word, or a text is none.
    """

    result: Verdict
    _: KW_ONLY
    policy_rule_id: str | None = None
    rationale: str | None = None
    gate_id: str | None = None
    reason: str | None = None
    tell_llm: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no decision."""
        if self.result not in _VERDICTS:
            raise ConfigError(
                "result", f"The result of a permission decision is {self.result!r}.", fix="Use one of: " + _words()
            )
        for name in ("policy_rule_id", "rationale", "gate_id", "reason", "tell_llm"):
            given: object = getattr(self, name)
            if given is not None and not isinstance(given, str):
                raise ConfigError(
                    name, f"The {name} of a permission decision is a {type(given).__name__}.", fix="Give a text."
                )

    @property
    def allows(self) -> bool:
        """Whether the call goes on."""
        return self.result in ("allow", "gate_open")


def _words() -> str:
    return ", ".join(_VERDICTS) + "."


@runtime_checkable
class PermissionChecker(Protocol):
    """Who says what an agent may do; sync or async.

    One that also has `governs`, a set of capabilities, is asked about those that a tool declares too.
    """

    @property
    def name(self) -> str:
        """For the record."""
        ...

    def check(self, request: PermissionRequest) -> PermissionDecision | Awaitable[PermissionDecision]:
        """Answer one question."""
        ...


def checker_governs(checker: PermissionChecker, capability: str) -> bool:
    """Whether a checker is asked about a capability at all; about calls of tools it always is (PRM-2)."""
    if capability == "tool_call":
        return True
    governs: object = getattr(checker, "governs", None)
    return governs is not None and capability in cast("Container[object]", governs)


def skill_target(skill_id: str) -> str:
    """How a skill is named to a checker (PRM-8)."""
    return _SKILL + skill_id


def skill_id_of(target: str) -> str:
    """The skill that a target names, with or without its prefix."""
    return target.removeprefix(_SKILL)
