"""Events in a terminal or a log, one line each."""

from __future__ import annotations

import logging
import sys
import unicodedata
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

from agentfootprint.events import Event, event_to_wire
from agentfootprint.trace import compact_json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["ConsoleExporter", "event_line"]

_UNSERIALIZABLE: Final = "[unserializable]"
_PREFIX: Final = "agentfootprint."
_STEERING: Final = frozenset(("Cc", "Cf", "Zl", "Zp", "Cs"))
"""Categories of characters that a terminal may act on, or can't write."""
_BASIC: Final = 0xFFFF


def event_line(event: Event[Any]) -> str:
    """An event as one line of JSON: its type, then its payload's keys, which win over `type`; a scalar as `value`."""
    try:
        payload: object = event_to_wire(event)["payload"]
        told = cast("Mapping[str, Any]", payload) if isinstance(payload, Mapping) else {"value": payload}
        return compact_json({"type": event.type, **told})
    except Exception:  # noqa: BLE001  whatever an application's event holds
        return _UNSERIALIZABLE


class ConsoleExporter:
    """Writes each event as a line of JSON; in a terminal in colour, with the milliseconds since the run began.

    Nothing in a line can steer a terminal: control characters are written as their codes.

    Args:
        format: Makes the line of an event, instead of JSON.
        logger: Gets the lines at INFO, instead of the standard output.
    """

    def __init__(
        self, *, format: Callable[[Event[Any]], str] | None = None, logger: logging.Logger | None = None
    ) -> None:
        self.name = "console"
        self._format = event_line if format is None else format
        self._plain = format is not None
        self._logger = logger
        self._console: tuple[TextIO, Console] | None = None

    def export(self, event: Event[Any]) -> None:
        """Write one event."""
        line = _harmless(self._format(event))
        if self._logger is not None:
            self._logger.info("%s", line, extra={"event": event})
            return
        out = sys.stdout
        if not self._plain and out.isatty():
            self._show(out, event, line)
        else:
            out.write(f"{line}\n")

    async def flush(self) -> None:
        """Let what was written appear."""
        if self._logger is None:
            sys.stdout.flush()

    def _show(self, out: TextIO, event: Event[Any], line: str) -> None:
        from rich.console import Console
        from rich.text import Text

        if self._console is None or self._console[0] is not out:
            self._console = out, Console(file=out, highlight=False)
        kind = event.type.removeprefix(_PREFIX)
        failed = kind.startswith("error.") or getattr(event.payload, "error", None) is True
        text = Text.assemble(
            (f"{event.meta.run_offset_ms:>7} ms ", "dim"),
            (_harmless(kind), "bold red" if failed else "bold cyan"),
            " ",
            (line.removeprefix(f'{{"type":"{event.type}"').removeprefix(",").removesuffix("}"), "default"),
        )
        self._console[1].print(text, no_wrap=True, overflow="ellipsis", crop=True, soft_wrap=False)


def _harmless(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(each if unicodedata.category(each) not in _STEERING else _escape(each) for each in line)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= _BASIC else f"\\U{code:08x}"
