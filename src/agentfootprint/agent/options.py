"""What a caller may choose about an agent and about one run, in groups named by what they do (DEC-19).

Every group is frozen and checks itself where it is made; a refusal names `group.field`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import fspath
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeAlias, TypeVar, cast

from msgspec import UNSET

from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from agentfootprint.agent.composing.budgets import ContextBudget
    from agentfootprint.agent.errors import OutputSchemaError
    from agentfootprint.agent.gating.rules import Act
    from agentfootprint.agent.pausing.evidence import CheckInOptions
    from agentfootprint.agent.shaping.schemas import Schema
    from agentfootprint.flow import ObserverQueue, RedactionPolicy
    from agentfootprint.resilience import CostBudget, PricingTable
    from agentfootprint.security import PermissionChecker

__all__ = [
    "Gates",
    "Limits",
    "Mode",
    "ModelSettings",
    "Output",
    "RecordOptions",
    "RunOptions",
    "check_group",
    "check_id",
    "in_memory",
    "merged",
]

Mode: TypeAlias = Literal["dynamic", "classic", "dynamic-grouped"]
"""How the context follows the loop: composed anew before every model call, or system prompt and tools once (AGT-36);
grouped, all that leads to a reply stands in one mount of the chart (AGT-37)."""

_TEARDOWN: Final = 5.0

_NOT_GIVEN: Any = UNSET
"""Where `None` is a value; of any type, so that no type is inferred from it."""

Out = TypeVar("Out")
G = TypeVar("G", bound="ModelSettings | Limits | Gates")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _flag(option: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(option, f"{option} is {value!r}.", fix="Use True or False.")


def _check_budget(given: object) -> None:
    from agentfootprint.agent.composing.budgets import ContextBudget  # only where one is given

    if not isinstance(given, ContextBudget):
        raise ConfigError(
            "limits.context_budget",
            f"limits.context_budget is of the type {type(given).__name__}.",
            fix="Give ContextBudget(system_prompt=..., messages=..., tools=...).",
        )


def _check_check_in(given: object) -> None:
    if not hasattr(given, "collect"):  # CheckInOptions, whose module stands above
        raise ConfigError(
            "gates.check_in",
            f"gates.check_in is of the type {type(given).__name__}.",
            fix="Give CheckInOptions(evidence=...), and declare check_in= on the tools that need an approval.",
        )


def _check_permission(given: object) -> None:
    name: object = getattr(given, "name", None)
    if not callable(getattr(given, "check", None)) or not isinstance(name, str) or not name.strip():
        raise ConfigError(
            "gates.permission",
            f"gates.permission, a {type(given).__name__}, has no method check, or no name.",
            fix="Give PermissionPolicy.from_roles(...), or an object with a name and a method check(request).",
        )


def _check_act(given: object) -> None:
    if not (hasattr(given, "tool_rules") and hasattr(given, "message_rules")):  # an Act, whose module stands above
        raise ConfigError(
            "gates.act",
            f"gates.act is of the type {type(given).__name__}.",
            fix="Give Act(before_tool=[...]), with input=, after_tool= or output= beside or instead of it.",
        )


def _check_delivery(delivery: object, queue: object) -> None:
    if delivery not in ("inline", "deferred"):
        raise ConfigError("record.delivery", f"record.delivery is {delivery!r}.", fix='Use "inline" or "deferred".')
    if queue is None:
        return
    from agentfootprint.flow import ObserverQueue  # only where one is given

    if not isinstance(queue, ObserverQueue):
        raise ConfigError(
            "record.queue",
            f"record.queue is of the type {type(queue).__name__}.",
            fix="Give ObserverQueue(max_queue=...), or leave it out.",
        )
    if delivery != "deferred":
        raise ConfigError(
            "record.queue",
            "record.queue is given, and nobody is told later.",
            fix='Set delivery="deferred" as well, or leave queue out.',
        )


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
        context_budget: How many characters each slot of a request should hold; more is reported, never cut (SLOT-8).
        cost: US dollars that a run may cost, by `pricing`. A bare number warns when the run has cost more;
            `CostBudget(usd, on_exceed="halt")` ends it at the next iteration boundary (AGT-139).
        parallel_tools: Whether the calls of one reply run side by side once all have passed their gates: `True`, or how
            many at most. Results land in call order either way (AGT-60).
        teardown: Seconds that each cleanup of a tool may take, and that a call may take to stop when the run is
            stopped; then it is left behind (AGT-114).
        pricing: What tokens cost; with it every model call says what it cost, and `result.cost_usd` what the run did.
    """

    iterations: int = 10
    wrap_up: bool = True
    deadline: float | None = None
    invalid_args: int = 3
    context_budget: ContextBudget | None = None
    cost: float | CostBudget | None = None
    pricing: PricingTable | None = None
    parallel_tools: bool | int = False
    teardown: float = _TEARDOWN

    def __post_init__(self) -> None:
        """Refuse limits that decide nothing."""
        if not isinstance(self.parallel_tools, bool):
            _whole("limits.parallel_tools", self.parallel_tools, low=1)
        if self.teardown is not _TEARDOWN:
            _positive("limits.teardown", math.nan if self.teardown is None else self.teardown)  # pyright: ignore[reportUnnecessaryComparison]  callers without a checker
        _whole("limits.iterations", self.iterations, low=1)
        _flag("limits.wrap_up", self.wrap_up)
        _whole("limits.invalid_args", self.invalid_args, low=1)
        _positive("limits.deadline", self.deadline)
        if self.context_budget is not None:
            _check_budget(self.context_budget)
        if self.cost is not None or self.pricing is not None:
            from agentfootprint.agent.spending.charging import check_money  # only where prices are given

            check_money(self.cost, self.pricing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates(_Group):
    """What a tool call must pass.

    Args:
        tool_args: What happens to arguments that do not fit the tool's schema: `"enforce"` answers the call with what
            was wrong, `"warn"` records it and runs the tool, `"off"` does not look.
        check_in: What a person is shown who must approve a call of a tool that declares `check_in`.
        repeated_call_note: Whether the model is told when it repeats a call that gave the same result (AGT-70).
        permission: Who is asked whether a call may be made, before anything else looks at it (AGT-62).
        act: Rules about calls, their results, and messages.
        ask_together: Whether a person is asked about all calls of a reply at once, where their approval is needed:
            `paused.questions` then holds each, to be decided on its own. Calls behind the first question that need
            none keep their turn, and run when the answers are there. Without it the first question stops the batch,
            and the model has to ask for the calls behind it again.
    """

    tool_args: Literal["enforce", "warn", "off"] = "enforce"
    repeated_call_note: bool = True
    check_in: CheckInOptions | None = None
    permission: PermissionChecker | None = None
    act: Act | None = None
    ask_together: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        if self.tool_args not in ("enforce", "warn", "off"):
            raise ConfigError(
                "gates.tool_args",
                f"gates.tool_args is {self.tool_args!r}.",
                fix='Use "enforce", "warn" or "off".',
            )
        _flag("gates.repeated_call_note", self.repeated_call_note)
        _flag("gates.ask_together", self.ask_together)
        if self.check_in is not None:
            _check_check_in(self.check_in)
        if self.permission is not None:
            _check_permission(self.permission)
        if self.act is not None:
            _check_act(self.act)


@dataclass(frozen=True, slots=True)
class Output(Generic[Out]):
    """The typed answer, and what to do when it misses.

    Args:
        type: A pydantic model, dataclass, TypedDict or any type pydantic can validate; or `Schema(parse)`.
        retries: How many further answers may be asked for, 0 to 10; each is an iteration of its own (AGT-125).
        strategy: How the model is asked: `"instruct"` says the shape in the system prompt, on any model;
            `"tool-forced"` makes it call one tool whose arguments are the answer, on an agent without other tools.
        fallback: Called with the error and the answer's text when the last answer misses; what it returns, or awaits
            to, is the output if it fits the type.
        canned: The output when an answer misses and no fallback gave one; it must fit the type.
        lenient: Whether one code fence around the JSON is taken off before it is read.
        strict: Whether the run raises `OutputSchemaError` when there is no output at its end; without it only reading
            `result.output` does.
    """

    type: type[Out] | Schema[Out]
    _: KW_ONLY
    retries: int = 0
    strategy: Literal["instruct", "tool-forced"] = "instruct"
    fallback: Callable[[OutputSchemaError, str], Out | Awaitable[Out]] | None = None
    canned: Out = _NOT_GIVEN
    lenient: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        """Refuse what can't decide anything (AGT-3)."""
        _whole("output.retries", self.retries, low=0, high=10)
        if self.strategy not in ("instruct", "tool-forced"):
            raise ConfigError(
                "output.strategy", f"output.strategy is {self.strategy!r}.", fix='Use "instruct" or "tool-forced".'
            )
        if self.fallback is not None and not callable(self.fallback):
            raise ConfigError(
                "output.fallback",
                f"output.fallback is of the type {type(self.fallback).__name__}.",
                fix="Give a function of the error and the answer's text, or leave it out.",
            )
        _flag("output.lenient", self.lenient)
        _flag("output.strict", self.strict)
        if self.type is str and self.written_beside_type:
            raise ConfigError(
                "output",
                f"The output is text, which every answer is, so {self.written_beside_type[0]} decides nothing.",
                fix="Leave output= out, or give the type that the answer must have.",
            )

    @property
    def written_beside_type(self) -> tuple[str, ...]:
        """Names of the options that differ from what they are when nobody writes them."""
        given = {
            "retries": self.retries != 0,
            "strategy": self.strategy != "instruct",
            "fallback": self.fallback is not None,
            "canned": self.canned is not UNSET,
            "lenient": self.lenient,
            "strict": self.strict,
        }
        return tuple(name for name, is_given in given.items() if is_given)


def _check_spill(spill: object) -> None:
    """Refuse what is no path."""
    try:
        path = cast("object", fspath(cast("str", spill)))
    except TypeError:
        path = None
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        raise ConfigError(
            "record.spill",
            "record.spill is not a path of a folder or file.",
            fix="Name a folder: record=RecordOptions(spill='runs').",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """What the record keeps.

    Args:
        system_prompt: Whether `stream.llm_start` carries the whole system prompt. The commit log holds it in any case.
        redaction: What is kept out of everything that is kept or served: recordings, events, streams, exporters. The
            loop, the answer, the conversation and checkpoints keep the real values (NEW-101). A run's policy adds to
            its agent's.
        delivery: When listeners, exporters and recorders are told: `"inline"` as it happens, `"deferred"` at the event
            loop's next turn, in the same order, and before the run returns, raises or pauses (BRG-20). A recorder with
            a `delivery` of its own keeps that.
        queue: The bounded queue of those who are told later; each loss is counted in `snapshot["observerStats"]`.
        spill: Where the record is written while it happens, so that a killed process leaves it behind and a long run
            keeps little of it in memory. A folder, made when it is not there: each run gets `<run id>.jsonl` in it. Or
            a file, which is what has a suffix and is no folder: for one run, as a file that is there is never written
            to. `Recording.load` opens it, and `result.recording` reads it when it is asked (LIN-9). Of several agents
            in a composition there is one record: its place is said by `RunOptions.record` of that run.
    """

    system_prompt: bool = False
    redaction: RedactionPolicy | None = None
    delivery: Literal["inline", "deferred"] = "inline"
    queue: ObserverQueue | None = None
    spill: Path | str | None = None

    def __post_init__(self) -> None:
        """Refuse what is neither yes nor no, what is no policy, and a queue that nobody waits in."""
        _flag("record.system_prompt", self.system_prompt)
        if self.delivery != "inline" or self.queue is not None:
            _check_delivery(self.delivery, self.queue)
        if self.spill is not None:
            _check_spill(self.spill)
        if self.redaction is not None:
            from agentfootprint.agent.redacting.checking import check_policy  # only where one is given

            check_policy(self.redaction)


def in_memory(record: RecordOptions | bool) -> RecordOptions | bool:
    """What the record of a copy keeps, which is run to find something out: the same, in no file."""
    return record if isinstance(record, bool) or record.spill is None else replace(record, spill=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What belongs to one run; its ids are texts without control characters.

    Args:
        run_id: An id of the caller's; without one a fresh id is made.
        correlation_id: Carried in the `meta` of every event.
        trace_id: Carried in the `meta` of every event.
        model: The model's id for this run, on the agent's provider; over what `configure` says.
        instructions: The base prompt for this run; over what `configure` says. An empty text empties it.
        record: Overrides the agent's `record`.
        recorders: Who is told what the engine does in this run, beside those attached to the agent; see `attach`.
    """

    run_id: str | None = None
    correlation_id: str | None = None
    trace_id: str | None = None
    model: str | None = None
    instructions: str | None = None
    record: RecordOptions | bool | None = None
    recorders: Sequence[object] = ()

    def __post_init__(self) -> None:
        """Refuse an empty run id (AGT-15), and ids that are no text."""
        for name in ("run_id", "correlation_id", "trace_id"):
            check_id(f"options.{name}", getattr(self, name))
        if self.run_id is not None and not self.run_id.strip():
            raise ConfigError("options.run_id", "options.run_id is empty.", fix="Give a text, or leave it out.")
        for recorder in self.recorders:
            from agentfootprint.agent.running.observing import check_recorder  # with the first one

            check_recorder("options.recorders", recorder)
        if self.model is not None or self.instructions is not None:
            from agentfootprint.agent.shaping.configuring import Configured  # checks both

            Configured(model=self.model, instructions=self.instructions)


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
