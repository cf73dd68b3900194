"""What can go wrong with a tool before, beside and after its own work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agentfootprint.errors import AgentFootprintError, ConfigError

__all__ = [
    "CoverageRefusedError",
    "InputRequestError",
    "InvalidAskComponentError",
    "TeardownScopeError",
    "ToolDefinitionError",
    "ToolTeardownTimeoutError",
    "ToolTimeoutError",
]


class ToolDefinitionError(ConfigError):
    """A tool can't be offered as it was declared (03 s.2); `tool` and, where one is at fault, `parameter` name it."""

    code = "ERR_TOOL_DEFINITION"

    def __init__(self, tool: str, problem: str, *, parameter: str | None = None, fix: str) -> None:
        super().__init__(f"tools.{tool}" if parameter is None else f"tools.{tool}.{parameter}", problem, fix=fix)
        self.tool = tool
        self.parameter = parameter


class InputRequestError(AgentFootprintError, ValueError):
    """A request for input, or a reply to one, can't be used (NEW-3, NEW-5); never names a value."""

    code = "ERR_INPUT_REQUEST_INVALID"


class InvalidAskComponentError(AgentFootprintError, ValueError):
    """A question nominates a component that can't be shown (AGT-87), and the run fails rather than ask less.

    `reason` is `shape`, `no-store` or `unresolved-ref`; `door` what asked; `ref` what could not be found.
    """

    code = "ERR_INVALID_ASK_COMPONENT"

    def __init__(
        self,
        reason: Literal["shape", "no-store", "unresolved-ref"],
        door: str,
        problem: str,
        *,
        fix: str,
        ref: str | None = None,
    ) -> None:
        super().__init__(problem, fix=fix)
        self.reason: Literal["shape", "no-store", "unresolved-ref"] = reason
        self.door = door
        self.ref = ref


class ToolTimeoutError(AgentFootprintError, TimeoutError):
    """A tool took longer than its `timeout=` (AGT-116): a result that the model reads, not a failed run."""

    code = "ERR_TOOL_TIMEOUT"

    def __init__(self, tool: str, timeout: float) -> None:
        super().__init__(
            f"The tool {tool!r} did not finish within {timeout:g} seconds.",
            fix="Make it do less in one call, or raise its timeout=.",
        )
        self.tool = tool
        self.timeout = timeout


class ToolTeardownTimeoutError(AgentFootprintError, TimeoutError):
    """A cleanup took longer than it may (CTX-4); reported, never raised into a run."""

    code = "ERR_TOOL_TEARDOWN_TIMEOUT"

    def __init__(self, tool: str, timeout: float) -> None:
        super().__init__(
            f"A cleanup of the tool {tool!r} did not finish within {timeout:g} seconds and was left behind.",
            fix="Make the cleanup shorter, or give it more time.",
        )
        self.tool = tool
        self.timeout = timeout


class TeardownScopeError(AgentFootprintError, ValueError):
    """A tool asked for a cleanup scope that does not exist where it runs (CTX-4)."""

    code = "ERR_TEARDOWN_SCOPE"

    def __init__(self, scope: str, scopes: Sequence[str]) -> None:
        known = ", ".join(repr(name) for name in scopes)
        super().__init__(
            f"There is no teardown scope {scope!r} where this tool runs.",
            fix=f"Use one of: {known}." if known else "Clean up before the tool returns.",
        )
        self.scope = scope
        self.scopes = tuple(scopes)


class CoverageRefusedError(AgentFootprintError, ValueError):
    """`absent` or `coverage` was asked to say nothing, or something without its reason (RES-13, RES-14)."""

    code = "ERR_COVERAGE_REFUSED"

    def __init__(self, field: str, problem: str, *, fix: str) -> None:
        super().__init__(problem, fix=fix)
        self.field = field
