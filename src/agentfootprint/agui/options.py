"""What of a run does a client see, and how is it told?

Invariants: what could leak (reasoning, raw events, content-bearing types) is off until it is asked for; an option that
can't be meant is refused here, before any run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent import RunResult
    from agentfootprint.trace import Json

__all__ = ["CONTENT_BEARING", "DEFAULT_CUSTOM", "AgUiOptions", "ResultOption", "matches"]

ResultOption: TypeAlias = "Literal['text', 'none'] | Callable[[RunResult[Any]], Json]"

DEFAULT_CUSTOM: Final = (
    "agentfootprint.stream.tool_progress",
    "agentfootprint.agent.budget_exhausted",
    "agentfootprint.artifacts.presented",
)
"""Event types that are forwarded as CUSTOM unless told otherwise (AGU-54)."""
CONTENT_BEARING: Final = (
    "agentfootprint.context.injected",
    "agentfootprint.stream.llm_*",
    "agentfootprint.checkin.request",
)
"""Event types that hold prompts, replies or arguments; forwarded as CUSTOM only with `custom_unsafe` (AGU-54)."""

_THINKING: Final = "agentfootprint.stream.thinking_"
"""How the types begin that hold reasoning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgUiOptions:
    """How a run is shown to an AG-UI client.

    Args:
        reasoning: `full` sends the model's thinking as REASONING events; otherwise none leaves, in any event (AGU-51).
        encrypted_reasoning: With `full`: signatures of thinking blocks as REASONING_ENCRYPTED_VALUE.
        steps: STEP events for iterations and compositions.
        state: `live` keeps the object `agentfootprint` of the client's state up to date (AGU-52).
        messages_snapshot: `auto`: before an interrupt, and at the end when the streamed text is not what was
            committed; `always`; `never`: none at all, for tests and replays only.
        custom: Event types that are forwarded as CUSTOM: names, or `domain.*` and `*`. A wildcard leaves out what
            holds content; naming such a type needs `custom_unsafe`, and naming one of reasoning needs `reasoning`.
        custom_unsafe: Forward also `context.injected`, `stream.llm_*` and `checkin.request` as CUSTOM.
        raw: Attach the whole agentfootprint event to each AG-UI event as `rawEvent`.
        allow_raw: Allow `raw` also where everybody may connect and nothing is redacted.
        timestamps: `timestamp` of each event is when its agentfootprint event happened, epoch milliseconds.
        include_input: Echo the client's input in RUN_STARTED.
        result: What RUN_FINISHED carries: the answer's `text`, `none`, or what a function makes of the run's result.
        text: Under a redaction policy, what a live run streams as its answer's text: what is handed to the `caller`,
            or what is on `record`, with placeholders (AGU-44, NEW-101).
        on_disconnect: Whether a run whose client has gone is cancelled, or finishes unseen.
        max_lag: How many events a client may fall behind before it is disconnected.

    Raises:
        ConfigError: A value that is none of these, or a combination that can't be meant.
    """

    reasoning: Literal["off", "full"] = "off"
    encrypted_reasoning: bool = False
    steps: bool = True
    state: Literal["off", "live"] = "off"
    messages_snapshot: Literal["auto", "always", "never"] = "auto"
    custom: Sequence[str] | None = None
    custom_unsafe: bool = False
    raw: bool = False
    allow_raw: bool = False
    timestamps: bool = True
    include_input: bool = False
    result: ResultOption = "text"
    text: Literal["caller", "record"] = "caller"
    on_disconnect: Literal["cancel", "finish"] = "cancel"
    max_lag: int = 10_000

    def __post_init__(self) -> None:
        """Refuse what can't be meant."""
        _one_of("reasoning", self.reasoning, ("off", "full"))
        _one_of("state", self.state, ("off", "live"))
        _one_of("messages_snapshot", self.messages_snapshot, ("auto", "always", "never"))
        _one_of("text", self.text, ("caller", "record"))
        _one_of("on_disconnect", self.on_disconnect, ("cancel", "finish"))
        if not callable(self.result):
            _one_of("result", self.result, ("text", "none"))
        if self.encrypted_reasoning and self.reasoning != "full":
            raise _refused("encrypted_reasoning", "needs the reasoning that it belongs to", 'Set reasoning="full" too.')
        if type(self.max_lag) is not int or self.max_lag < 1:
            raise _refused("max_lag", "is no whole number from 1 on", "Give how many events, such as 10_000.")
        object.__setattr__(self, "custom", None if self.custom is None else _patterns(self.custom))
        for pattern in self.custom or ():
            if self.reasoning == "off" and pattern.startswith(_THINKING):
                raise _refused("custom", f"names {pattern!r}, which is reasoning", 'Set reasoning="full" too.')
            if not self.custom_unsafe and any(
                matches(held, pattern) or pattern.startswith(held.rstrip("*")) for held in CONTENT_BEARING
            ):
                raise _refused(
                    "custom", f"names {pattern!r}, which holds content", "Set custom_unsafe=True to send it."
                )

    def forwards(self, event_type: str) -> bool:
        """Whether events of a type are forwarded as CUSTOM (AGU-54)."""
        patterns = DEFAULT_CUSTOM if self.custom is None else self.custom
        if not any(matches(pattern, event_type) for pattern in patterns):
            return False
        if self.reasoning == "off" and event_type.startswith(_THINKING):
            return False
        return self.custom_unsafe or not any(matches(held, event_type) for held in CONTENT_BEARING)


def matches(pattern: str, event_type: str) -> bool:
    """Whether a type is the named one, or begins as the pattern does before its `*`."""
    return event_type.startswith(pattern[:-1]) if pattern.endswith("*") else event_type == pattern


def _patterns(given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise _refused("custom", "is no list of event types", 'Give a list, such as ["shop.*"].')
    for each in given:  # pyright: ignore[reportUnknownVariableType]  judged here
        if not isinstance(each, str) or not each or "*" in each[:-1]:
            raise _refused(
                "custom",
                "holds what is no event type",
                "Give names, a beginning with a star at its end, or a star alone.",
            )
    return tuple(given)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  texts, as seen above


def _one_of(option: str, given: object, known: tuple[str, ...]) -> None:
    if given not in known:
        raise _refused(option, "has a value that is not known", f"Use one of: {', '.join(known)}.")


def _refused(option: str, problem: str, fix: str) -> ConfigError:
    return ConfigError(f"AgUiOptions.{option}", f"AgUiOptions.{option} {problem}.", fix=fix)
