"""What may a role do: which tools it may call, which capabilities they may have, which skills it may read?

A policy is an immutable description and answers from its own lists alone; it never sees what a call is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from agentfootprint.errors import ConfigError
from agentfootprint.security.permissions import PermissionDecision, PermissionRequest, skill_id_of

__all__ = ["PermissionPolicy", "PermissionRules"]

_CAPABILITIES: Final = ("memory_read", "memory_write", "external_net", "user_data")
_LISTS_FIX: Final = 'Give a mapping of role to names: {"clerk": ["lookup_order"]}.'


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRules:
    """What roles may do beside calling tools.

    Args:
        capabilities: The capabilities that a role's tools may have. A role that is not listed may use all of them, in
            the tools it may call; a capability that is listed does not make a tool callable.
        skills: The skills that a role may read. A role that is not listed may read every skill.

    Raises:
        ConfigError: It is no mapping of role to names, or a capability is unknown.
    """

    capabilities: Mapping[str, Sequence[str]] | None = None
    skills: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        """Copy what was given."""
        for name in ("capabilities", "skills"):
            given: object = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _lists(f"rules.{name}", given))
        for listed in (self.capabilities or {}).values():
            for capability in listed:
                if capability not in _CAPABILITIES:
                    raise ConfigError(
                        "rules.capabilities",
                        f"There is no capability {capability!r}.",
                        fix=f"Use one of: {', '.join(_CAPABILITIES)}.",
                    )


class PermissionPolicy:
    """A permission checker that goes by roles: `Gates(permission=PermissionPolicy.from_roles(...))`.

    Example:
        >>> policy = PermissionPolicy.from_roles({"clerk": ["lookup"], "lead": ["lookup", "refund"]}, "clerk")
        >>> policy.is_allowed("refund"), policy.with_active_role("lead").is_allowed("refund")
        (False, True)
    """

    name: str = "permission-policy"
    """For the record."""

    def __init__(self, roles: Mapping[str, Sequence[str]], active_role: str, rules: PermissionRules | None) -> None:
        self._roles = {role: tuple(tools) for role, tools in _lists("roles", roles).items()}
        if active_role not in self._roles:
            known = ", ".join(map(repr, self._roles))
            raise ConfigError(
                "active_role",
                f"There is no role {active_role!r}.",
                fix=f"Use one of: {known}." if known else "List it in roles=.",
            )
        if rules is not None and not isinstance(rules, PermissionRules):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("rules", f"rules is a {type(rules).__name__}.", fix="Give PermissionRules(...).")
        self._active = active_role
        self._rules = rules
        self._capabilities = (None if rules is None else rules.capabilities) or {}
        self._skills = (None if rules is None else rules.skills) or {}

    @classmethod
    def from_roles(
        cls, roles: Mapping[str, Sequence[str]], active_role: str, *, rules: PermissionRules | None = None
    ) -> PermissionPolicy:
        """A policy for one role among several.

        Args:
            roles: The tools that each role may call.
            active_role: The role that applies.
            rules: What roles may do beside that.

        Raises:
            ConfigError: There is no such role; the error lists those there are.
        """
        return cls(roles, active_role, rules)

    @property
    def active_role(self) -> str:
        """The role that applies."""
        return self._active

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles, in the order they were given."""
        return tuple(self._roles)

    @property
    def governs(self) -> frozenset[str]:
        """Which capabilities the policy has rules about; it is asked about no others (PRM-7)."""
        governed = _CAPABILITIES if self._capabilities else ()
        return frozenset((*governed, "skill_read") if self._skills else governed)

    def is_allowed(self, tool: str) -> bool:
        """Whether the active role may call a tool."""
        return tool in self._roles[self._active]

    def with_active_role(self, role: str) -> PermissionPolicy:
        """The same policy for another of its roles.

        Raises:
            ConfigError: There is no such role.
        """
        return PermissionPolicy(self._roles, role, self._rules)

    def allowed_tool_ids(self) -> tuple[str, ...]:
        """The tools that the active role may call, as listed."""
        return self._roles[self._active]

    def check(self, request: PermissionRequest) -> PermissionDecision:
        """Answer a question (PRM-7)."""
        role = self._active
        if request.capability == "skill_read":
            return self._check_skill(role, skill_id_of(request.target))
        listed = self._capabilities.get(role)
        if listed is not None and request.capability in _CAPABILITIES and request.capability not in listed:
            return PermissionDecision(
                "deny",
                policy_rule_id=f"{role}.capabilities.miss",
                rationale=f"Capability '{request.capability}' is not granted to the '{role}' role.",
            )
        target = request.target or request.capability
        if target in self._roles[role]:
            return PermissionDecision("allow", policy_rule_id=f"{role}.allowlist")
        return PermissionDecision(
            "deny",
            policy_rule_id=f"{role}.allowlist.miss",
            rationale=f"Tool '{target}' is not in the '{role}' role allowlist.",
        )

    def _check_skill(self, role: str, skill: str) -> PermissionDecision:
        listed = self._skills.get(role)
        if listed is None:
            return PermissionDecision("allow", policy_rule_id=f"{role}.skills.unruled")
        if skill in listed:
            return PermissionDecision("allow", policy_rule_id=f"{role}.skills")
        return PermissionDecision(
            "deny",
            policy_rule_id=f"{role}.skills.miss",
            rationale=f"Skill '{skill}' is not readable by the '{role}' role.",
        )

    def __repr__(self) -> str:
        return f"PermissionPolicy(active_role={self._active!r}, roles={list(self._roles)!r})"


def _lists(option: str, given: object) -> dict[str, tuple[str, ...]]:
    """A mapping of role to names, copied; a text in place of a list would be read letter by letter."""
    if not isinstance(given, Mapping):
        raise ConfigError(option, f"{option} is a {type(given).__name__}.", fix=_LISTS_FIX)
    copied: dict[str, tuple[str, ...]] = {}
    for role, names in cast("Mapping[object, object]", given).items():
        if not isinstance(role, str) or isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
            raise ConfigError(option, f"{option} lists no names for {role!r}.", fix=_LISTS_FIX)
        found = cast("Sequence[object]", names)
        if not all(isinstance(name, str) for name in found):
            raise ConfigError(option, f"{option} lists something else than names for {role!r}.", fix=_LISTS_FIX)
        copied[role] = tuple(cast("Sequence[str]", found))
    return copied
