"""What does an agent seem to be doing right now, in one line for a person who waits (05 s.9)?

Invariants: each event costs the same however long the run is; the line is read from what is open, never from the past.
What a tool reports reaches the line only as its `message`, cut and plain; a call that was never dispatched never shows
(AGT-90).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agentfootprint.events import (
    ErrorFatal,
    Event,
    LLMEnd,
    LLMStart,
    PauseRequest,
    PauseResume,
    Restarted,
    Token,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
)
from agentfootprint.observe.views.openings import OpenCalls, never_ran
from agentfootprint.observe.views.per_run import RUN_EDGES, PerRun
from agentfootprint.observe.views.reading import address_of, text_of, told
from agentfootprint.observe.wording.catalogues import status_messages
from agentfootprint.observe.wording.messages import Catalogue, compose_messages, fill, names_in
from agentfootprint.trace import Record, as_object, utf16_length

__all__ = ["StatusLine", "StatusState", "render_status", "select_status"]

_MOST: Final = 120
_ASKED: Final = "input required"


class StatusState(Record, frozen=True, kw_only=True, gc=False):
    """What is going on."""

    state: Literal["idle", "streaming", "tool", "paused"]
    tool_name: str | None = None
    vars: Mapping[str, str]
    """What the line's template may ask for."""


@dataclass(slots=True)
class _Call:
    """A tool call that is open."""

    name: str
    call_id: str
    reports: int = 0
    message: str | None = None


@dataclass(slots=True)
class _Doing:
    """What is open in one run."""

    tools: OpenCalls[_Call] = field(default_factory=OpenCalls[_Call])
    reporter: _Call | None = None
    """The open call that reported last."""
    models: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """What each model call in flight has said, by its address."""
    paused: dict[str, str] | None = None
    line: str | None = None

    def hear(self, event: Event[Any]) -> None:
        kind, payload = event.type, event.payload
        if kind == Token.type:
            said = self.models.get(address_of(event))
            if said is not None:
                said.append(text_of(payload, "content"))
        elif kind == LLMStart.type:
            self.models[address_of(event)] = []
        elif kind == LLMEnd.type:
            self.models.pop(address_of(event), None)
        elif kind == Restarted.type:
            self.models.get(address_of(event), []).clear()
        elif kind == PauseRequest.type:
            self.paused = _question(event)
            self.models.clear()
        elif kind == PauseResume.type:
            self.paused = None
        elif kind in (TurnEnd.type, ErrorFatal.type):
            self.tools.clear()
            self.models.clear()
            self.reporter = self.paused = None
        else:
            self._hear_of_a_tool(kind, event)

    def _hear_of_a_tool(self, kind: str, event: Event[Any]) -> None:
        payload = event.payload
        if never_ran(event):
            return
        if kind == ToolStart.type:
            self.tools.open(event, _Call(text_of(payload, "tool_name"), text_of(payload, "tool_call_id")))
        elif kind == ToolProgress.type:
            call = self.tools.find(event)
            if call is not None:
                call.reports += 1
                call.message = _message(told(payload, "payload"))
                self.reporter = call
        elif kind == ToolEnd.type:
            call = self.tools.close(event)
            if call is self.reporter:
                self.reporter = None

    def state(self, *, with_partial: bool = True) -> StatusState | None:
        if self.paused is not None:
            return StatusState(state="paused", vars=self.paused)
        call = self.reporter or self.tools.latest()
        if call is not None:
            said = {"toolName": call.name, "toolCallId": call.call_id}
            if call.reports:
                said["progressCount"] = str(call.reports)
            if call.message is not None:
                said["progressMessage"] = call.message
            return StatusState(state="tool", tool_name=call.name, vars=said)
        if not self.models:
            return None
        parts = next(reversed(self.models.values()))
        if not parts:
            return StatusState(state="idle", vars={})
        if with_partial and len(parts) > 1:
            parts[:] = ["".join(parts)]
        return StatusState(state="streaming", vars={"partial": parts[0]} if with_partial else {})


def select_status(events: Iterable[Event[Any]]) -> StatusState | None:
    """What is going on after some events of one run; `None` when nothing is.

    A pause comes before a tool, a tool before the model. Of tools side by side the one that reported last is shown,
    else the one that started last.
    """
    doing = _Doing()
    for event in events:
        doing.hear(event)
    return doing.state()


def render_status(state: StatusState | None, app_name: str, templates: Catalogue) -> str | None:
    """The line; `None` when there is nothing to show, or no text for it.

    Args:
        state: What is going on.
        app_name: What the application is called.
        templates: The catalogue; a text for one tool has its name in the key: `tool.<name>`.
    """
    if state is None:
        return None
    template = next((templates[key] for key in _ladder(state) if key in templates), None)
    return fill(template, {**state.vars, "appName": app_name}) or None if template else None


def _ladder(state: StatusState) -> tuple[str, ...]:
    if state.state != "tool":
        return (state.state,)
    own = f"tool.{state.tool_name}"
    if "progressMessage" in state.vars:
        return f"{own}.progress", "tool.progress", own, "tool"
    if "progressCount" in state.vars:
        return f"{own}.progress.generic", "tool.progress.generic", own, "tool"
    return own, "tool"


def _message(report: Any) -> str | None:  # noqa: ANN401  whatever a tool reports
    said = (as_object(report) or {}).get("message")
    text = said.strip() if isinstance(said, str) else ""
    if not text:
        return None
    more = utf16_length(text) - _MOST
    if more <= 0:
        return text
    kept = text.encode("utf-16-le", "surrogatepass")[: 2 * _MOST].decode("utf-16-le", "ignore")
    return f"{kept}… (+{more} more)"


def _question(event: Event[Any]) -> dict[str, str]:
    said = {"question": text_of(event.payload, "reason") or _ASKED}
    source = as_object((event.source or {}).get("payload")) or {}
    call_id = text_of(told(event.payload, "question_payload"), "tool_call_id") or source.get("toolCallId")
    return {**said, "toolCallId": call_id} if isinstance(call_id, str) else said


class StatusLine(PerRun[_Doing]):
    """Tells a person who waits what an agent is doing, whenever the line changes.

    Args:
        on_line: Called with each new line. A line that hides is not told; the same line is told again after it.
        templates: Texts that replace or add to those of the locale.
        app_name: What the application is called.
        locale: The language of the texts: `"en"` or `"fr"`.

    Raises:
        ConfigError: There is no such locale.

    Example:
        >>> lines: list[str] = []
        >>> status = StatusLine(lines.append, templates={"idle": "One moment"})
        >>> subscription = status.attach(agent)  # doctest: +SKIP
    """

    name = "status-line"
    relevant_types = (
        *RUN_EDGES,
        *(kind.type for kind in (LLMStart, Token, LLMEnd, ToolStart, ToolProgress, ToolEnd)),
        *(kind.type for kind in (Restarted, TurnEnd, ErrorFatal)),
    )

    def __init__(
        self,
        on_line: Callable[[str], object] | None = None,
        *,
        templates: Catalogue | None = None,
        app_name: str = "Agent",
        locale: str = "en",
    ) -> None:
        super().__init__()
        self.on_line = on_line
        self.app_name = app_name
        self.templates = compose_messages(status_messages(locale), templates)
        self._needs_partial = "partial" in names_in(self.templates.get("streaming", ""))

    def new_state(self) -> _Doing:
        """Nothing yet."""
        return _Doing()

    def hear(self, event: Event[Any]) -> None:
        """Take one event into account."""
        doing = self.state_of(event)
        doing.hear(event)
        state = doing.state(with_partial=self._needs_partial)
        line = render_status(state, self.app_name, self.templates)
        if line != doing.line:
            doing.line = line
            if line is not None and self.on_line is not None:
                self.on_line(line)

    def line(self, run_id: str | None = None) -> str | None:
        """The line as it is now; `None` when it is hidden.

        Args:
            run_id: The run; without it the one that began last.
        """
        return self.known_of(run_id).line

    def state(self, run_id: str | None = None) -> StatusState | None:
        """What is going on now."""
        return self.known_of(run_id).state()
