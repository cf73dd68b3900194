"""What a caller may choose about an agent and about one run, in groups named by what they do (DEC-19).

Every group is frozen and checks itself where it is made; a refusal names `group.field`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Final, Generic, Literal, Self, TypeVar

from agentfootprint.errors import ConfigError

__all__ = [
    "Gates",
    "Limits",
    "ModelSettings",
    "Output",
    "RecordOptions",
    "RunOptions",
    "check_group",
    "check_id",
    "merged",
]

Out = TypeVar("Out")
G = TypeVar("G", bound="ModelSettings | Limits | Gates")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _flag(option: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(option, f"{option} is {value!r}.", fix="Use True or False.")


def _positive(option: str, value: float | None) -> None:
    if value is None:
        return
    if not _is_number(value) or value <= 0:
        raise ConfigError(option, f"{option} is {value!r}.", fix="Give a positive, finite number, or leave it out.")


def _whole(option: str, value: int, *, low: int, high: int | None = None) -> None:
    if type(value) is not int or value < low or (high is not None and value > high):
        span = f"from {low} to {high}" if high is not None else f"of at least {low}"
        raise ConfigError(option, f"{option} is {value!r}.", fix=f"Give a whole number {span}.")


class _Group:
    """Options that remember which of them were written, so that a run's group changes just those of its agent."""

    __slots__ = ("_written",)
    _written: frozenset[str]

    def __new__(cls, **options: object) -> Self:
        group = super().__new__(cls)
        object.__setattr__(group, "_written", frozenset(options))
        return group

    @property
    def written(self) -> frozenset[str]:
        """Names of the options that were given, whatever their value."""
        return self._written


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings(_Group):
    """How the model is asked; sent with every call, and only what is set (AGT-1).

    Args:
        temperature: As the vendor takes it.
        max_tokens: The most tokens a reply may have.
        thinking: The token budget for thinking before the reply.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    thinking: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that no vendor takes."""
        if self.max_tokens is not None:
            _whole("settings.max_tokens", self.max_tokens, low=1)
        if self.thinking is not None:
            _whole("settings.thinking", self.thinking, low=1)
        if self.temperature is not None and not _is_number(self.temperature):
            raise ConfigError(
                "settings.temperature",
                f"settings.temperature is {self.temperature!r}.",
                fix="Give a finite number, or leave it out.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(_Group):
    """What a run may spend.

    Args:
        iterations: The most model calls that may ask for tools; after them one wrap-up call answers.
        wrap_up: Whether a turn cut by `iterations` gets that wrap-up call.
        deadline: Seconds a run may take in all.
        invalid_args: How many calls in a row may have refused arguments before the run ends (DEC-30).
    """

    iterations: int = 10
    wrap_up: bool = True
    deadline: float | None = None
    invalid_args: int = 3

    def __post_init__(self) -> None:
        """Refuse limits that decide nothing."""
        _whole("limits.iterations", self.iterations, low=1)
        _flag("limits.wrap_up", self.wrap_up)
        _whole("limits.invalid_args", self.invalid_args, low=1)
        _positive("limits.deadline", self.deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates(_Group):
    """What a tool call must pass.

    Args:
        tool_args: What happens to arguments that do not fit the tool's schema: `"enforce"` answers the call with what
            was wrong, `"warn"` records it and runs the tool, `"off"` does not look.
        repeated_call_note: Whether the model is told when it repeats a call that gave the same result (AGT-70).
    """

    tool_args: Literal["enforce", "warn", "off"] = "enforce"
    repeated_call_note: bool = True

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        if self.tool_args not in ("enforce", "warn", "off"):
            raise ConfigError(
                "gates.tool_args",
                f"gates.tool_args is {self.tool_args!r}.",
                fix='Use "enforce", "warn" or "off".',
            )
        _flag("gates.repeated_call_note", self.repeated_call_note)


@dataclass(frozen=True, slots=True)
class Output(Generic[Out]):
    """The typed answer, and how often to ask again when it misses.

    Args:
        type: A pydantic model, dataclass, TypedDict or any type pydantic can validate.
        retries: How many further answers may be asked for, 0 to 10; each is an iteration of its own (AGT-125).
    """

    type: type[Out]
    _: KW_ONLY
    retries: int = 0

    def __post_init__(self) -> None:
        """Refuse a number of retries out of range (AGT-3)."""
        _whole("output.retries", self.retries, low=0, high=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """What the record keeps.

    Args:
        system_prompt: Whether `stream.llm_start` carries the whole system prompt. The commit log holds it in any case.
    """

    system_prompt: bool = False

    def __post_init__(self) -> None:
        """Refuse what is neither yes nor no."""
        _flag("record.system_prompt", self.system_prompt)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What belongs to one run; its ids are texts without control characters.

    Args:
        run_id: An id of the caller's; without one a fresh id is made.
        correlation_id: Carried in the `meta` of every event.
        trace_id: Carried in the `meta` of every event.
        record: Overrides the agent's `record`.
    """

    run_id: str | None = None
    correlation_id: str | None = None
    trace_id: str | None = None
    record: RecordOptions | bool | None = None

    def __post_init__(self) -> None:
        """Refuse an empty run id (AGT-15), and ids that are no text."""
        for name in ("run_id", "correlation_id", "trace_id"):
            check_id(f"options.{name}", getattr(self, name))
        if self.run_id is not None and not self.run_id.strip():
            raise ConfigError("options.run_id", "options.run_id is empty.", fix="Give a text, or leave it out.")


def check_id(option: str, given: object) -> None:
    """Refuse an id that would break a line of a log, or is no text; `None` is no id.

    Raises:
        ConfigError: Names the option.
    """
    if given is None:
        return
    if not isinstance(given, str):
        raise ConfigError(option, f"{option} is of the type {type(given).__name__}.", fix="Give a text.")
    if not given.isprintable() and any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in given):
        raise ConfigError(option, f"{option} holds a control character.", fix="Give a text of one line.")


_OPTION_OF: Final[Mapping[type, str]] = {ModelSettings: "settings", Limits: "limits", Gates: "gates"}


def check_group(option: str, given: object, kind: type) -> None:
    """Refuse something else where a group of options belongs.

    Raises:
        ConfigError: It is no `kind`; names the option and what was given.
    """
    if not isinstance(given, kind):
        raise ConfigError(
            option,
            f"{option} is of the type {type(given).__name__}.",
            fix=f"Give {kind.__name__}(...), or leave it out.",
        )


def merged(base: G, override: G | None) -> G:
    """The options that were written in `override`, over those of `base`.

    Raises:
        ConfigError: `override` is another kind of thing than `base`.
    """
    if override is None:
        return base
    check_group(_OPTION_OF[type(base)], override, type(base))
    return replace(base, **{name: getattr(override, name) for name in override.written})
