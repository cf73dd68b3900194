"""What a composition is made of: its children, what it hands them, and what may stand for one that failed."""

from __future__ import annotations

from collections import abc
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from agentfootprint.errors import ConfigError
from agentfootprint.trace import BRANCH_SEGMENT_MARKER

if TYPE_CHECKING:
    from agentfootprint.agent import Agent, LLMCall
    from agentfootprint.compose.composed import Composed

__all__ = [
    "AnyRunner",
    "Branch",
    "Case",
    "Failed",
    "Filter",
    "LoopPass",
    "Ok",
    "RunInput",
    "Step",
    "check_child_id",
    "check_listed",
    "check_runner",
    "refuse_repeated",
]

AnyRunner: TypeAlias = "Agent[Any, Any] | LLMCall[Any] | Composed[Any]"
"""An agent, a model call, a composition, or a `@runner` function."""
Filter: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""`{"message": {op: threshold}}`, in the words of the engine's decisions."""


@dataclass(frozen=True, slots=True)
class RunInput:
    """What a composition was asked, as a case sees it."""

    message: str


@dataclass(frozen=True, slots=True)
class LoopPass:
    """A pass of a loop that has ended, as `until` sees it (CMP-41)."""

    iteration: int
    """Its number, from 1."""
    latest_output: str
    """What it said."""
    started_at: int
    """When the loop began, in ms since 1970."""
    outputs: tuple[str, ...]
    """What each pass said, this one last."""


@dataclass(frozen=True, slots=True)
class Ok:
    """What a branch said."""

    value: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a branch has no answer: the bare message of its error (CMP-20)."""

    error: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a `Sequence`.

    Args:
        id: Names it in addresses (`step-<id>`) and in errors.
        runner: Who does it.
        pipe: Makes its message from what the step before said; for the first step, from the run's message.
    """

    id: str
    runner: AnyRunner
    pipe: Callable[[str], Any] | None = None

    def __init__(
        self, id: str, runner: AnyRunner, *, pipe: Callable[[str], str | Mapping[str, Any]] | None = None
    ) -> None:
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "runner", runner)
        object.__setattr__(self, "pipe", pipe)


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a `Parallel`.

    Args:
        runner: Who does it.
        name: For people; without one its id.
        required: Whether its failure fails the run under a tolerant merge too. Where every branch is required, the
            first failure stops the others (CMP-21).
    """

    runner: AnyRunner
    name: str | None = None
    required: bool = False

    def __init__(self, runner: AnyRunner, *, name: str | None = None, required: bool = False) -> None:
        object.__setattr__(self, "runner", runner)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "required", required)


@dataclass(frozen=True, slots=True)
class Case:
    """One way of a `Conditional`.

    Args:
        id: Names it in addresses, events and errors.
        when: Whether the message goes this way: a function, plain or async, or a filter such as
            `{"message": {"eq": "help"}}`, which puts on record what it compared.
        runner: Who then does it.
    """

    id: str
    when: Callable[[RunInput], bool | Awaitable[bool]] | Filter
    runner: AnyRunner


def check_child_id(door: str, noun: str, id: object, *, may_be_reserved: bool = False) -> str:
    """Refuse an id that can't be a segment of an address (CMP-5).

    Args:
        door: The composition.
        noun: What the id is of.
        id: The id.
        may_be_reserved: Whether it may begin with `sf-`, as it stands behind a prefix.

    Raises:
        ConfigError: Names the door, the noun and the id.
    """
    if not isinstance(id, str) or not id.strip():
        raise ConfigError(door, f"{door} has a {noun} with the id {id!r}.", fix="Give a short text.")
    if "/" in id or "\x1f" in id or "#" in id or BRANCH_SEGMENT_MARKER in id:
        raise ConfigError(
            door,
            f"The id {id!r} of a {noun} of {door} holds a character that separates the parts of an address.",
            fix="Use letters, digits and dashes.",
        )
    if id.startswith("sf-") and not may_be_reserved:
        raise ConfigError(
            door,
            f"The id {id!r} of a {noun} of {door} begins with 'sf-', which marks the library's own steps.",
            fix="Use another word in front.",
        )
    return id


def check_listed(door: str, option: str, given: object) -> tuple[object, ...]:
    """Refuse what is no list of children.

    Raises:
        ConfigError: Names the option.
    """
    if isinstance(given, abc.Sequence) and not isinstance(given, (str, bytes)):
        return tuple(cast("abc.Sequence[object]", given))
    raise ConfigError(option, f"{option} of {door} is a {type(given).__name__}.", fix=f"Give a list: {option}=[...].")


def refuse_repeated(door: str, noun: str, ids: Iterable[str]) -> None:
    """Refuse two children with one id.

    Raises:
        ConfigError: Names the door, the noun and the id.
    """
    several = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise ConfigError(
                door, f"{door} has two {several} with the id {each!r}.", fix="Give each an id of its own."
            )
        seen.add(each)


def check_runner(door: str, noun: str, id: str, given: object) -> AnyRunner:
    """Refuse what can't run as a part of something else.

    Raises:
        ConfigError: Names the door and the child.
    """
    from agentfootprint.agent import Agent, LLMCall
    from agentfootprint.compose.composed import Composed

    if isinstance(given, (Agent, LLMCall, Composed)):
        return cast("AnyRunner", given)
    shown = f" {id!r}" if id else ""
    function = callable(given) and not isinstance(given, type)
    raise ConfigError(
        door,
        f"The {noun}{shown} of {door} is a {type(given).__name__}, which is no runner.",
        fix="Decorate the function with @runner."
        if function
        else "Give an agent, a composition or a @runner function.",
    )
