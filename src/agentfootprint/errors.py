"""The one base of every error the library raises, and the few errors that any room may raise.

Every error has a stable `code`, names the thing at fault, says how to mend it, and survives pickle.
Nothing here imports anything of the package (DEC-26).
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = ["AgentFootprintError", "BlockingCallError", "ConfigError", "MissingExtraError"]


def _revive(cls: type[AgentFootprintError], args: tuple[Any, ...], state: dict[str, Any]) -> AgentFootprintError:
    error = cls.__new__(cls, *args)
    error.args = args  # an `OSError` does not take them from `__new__`
    error.__dict__.update(state)
    return error


class AgentFootprintError(Exception):
    """Base of all errors of this library.

    Args:
        problem: One sentence that names the thing at fault, values in quotes. Never a secret, a tenant or a prompt.
        fix: One sentence with what to do about it, as something to paste where possible.
    """

    code: ClassVar[str] = "ERR_AGENTFOOTPRINT"
    """Stable over releases; the words are not."""

    fix: str

    def __init__(self, problem: str, *, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix

    @property
    def problem(self) -> str:
        """What was wrong, without the fix."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return f"{self.problem} {self.fix} [{self.code}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.args, self.__dict__)

    def to_wire(self) -> dict[str, Any]:
        """The error as every `--json` output prints it: `{"error": {code, problem, fix}}`."""
        return {"error": {"code": self.code, "problem": self.problem, "fix": self.fix}}


class ConfigError(AgentFootprintError, ValueError):
    """An option has a value that can't work; `option` names it as `group.field`."""

    code = "ERR_CONFIG"

    def __init__(self, option: str, problem: str, *, fix: str) -> None:
        super().__init__(problem, fix=fix)
        self.option = option


class MissingExtraError(AgentFootprintError, ImportError):
    """A package of an optional extra is not installed; the fix names the extra."""

    code = "ERR_MISSING_EXTRA"


class BlockingCallError(AgentFootprintError, RuntimeError):
    """A blocking twin (`run_sync`) was called inside a running event loop (DEC-25)."""

    code = "ERR_BLOCKING_CALL"
