"""How does a board document become one page? A pure function of the document and a theme.

The page is one file and makes no request: its policy allows exactly the style and the script that stand in it, by
their hashes, and nothing else. The document stands in it as JSON. Without the script the answer, the sources and
the custody are there to read; the script makes them one view that is chosen in.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
import re
from functools import cache
from typing import Final

from agentfootprint.errors import ConfigError
from agentfootprint.explain.board.answer import answer_panel
from agentfootprint.explain.board.changes import changes_panel
from agentfootprint.explain.board.check import validate_board
from agentfootprint.explain.board.custody import custody_panel
from agentfootprint.explain.board.facts import facts_panel, missing_panel, run_line
from agentfootprint.explain.board.markup import el, esc, join
from agentfootprint.explain.board.sources import sources_panel
from agentfootprint.explain.board.steps import timeline_panel
from agentfootprint.explain.board.view import View
from agentfootprint.trace import JsonObject

__all__ = ["render_board"]

_SCRIPT: Final = ("text.js", "request.js", "timeline.js", "board.js")
_ESCAPED: Final = re.compile("[<>&\u2028\u2029]")
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")


def render_board(board: JsonObject, *, theme: str = "auto") -> str:
    """Make the page of a board document.

    Args:
        board: A document as `shape.Board` describes it; it is not changed.
        theme: `auto` follows the reader's system, `light` and `dark` start there; the page has a switch.

    Returns:
        A whole HTML document: no request, no outside resource, the document embedded as JSON under the id `board`.
        Cost and size are linear in the document.

    Raises:
        BoardDocumentError: The document doesn't have the shape.
        ConfigError: The theme is not one of the three.
    """
    if theme not in {"auto", "light", "dark"}:
        raise ConfigError("theme", f"There is no theme {theme!r}.", fix="Use 'auto', 'light' or 'dark'.")
    document = validate_board(board)
    view = View(document)
    style, script = _lean("board.css"), "\n".join(_lean(name) for name in _SCRIPT)
    parts = {
        "theme": theme,
        "theme_word": {"auto": "system"}.get(theme, theme),
        "policy": _policy(style, script),
        "title": _title(view),
        "style": style,
        "run": run_line(view),
        "main": _main(view),
        "data": embedded_json(document),
        "script": script,
    }
    return _PLACE.sub(lambda place: parts[place.group(1)], _file("board.html"))


def embedded_json(value: object) -> str:
    """JSON that can stand inside a script element: nothing in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _title(view: View) -> str:
    answer = " ".join(view.board["answer"]["text"].split())
    short = answer if len(answer) <= 40 else answer[:40].rstrip() + "…"  # noqa: PLR2004  what a tab shows
    return esc(f"Why “{short}”? · {view.board['recording']['runId']} · agentfootprint")


def _main(view: View) -> str:
    return join(
        (
            answer_panel(view),
            el("div", sources_panel(view), custody_panel(view), class_="mid"),
            timeline_panel(view),
            el("div", changes_panel(view), missing_panel(view), facts_panel(view), class_="low"),
        )
    )


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded and nothing sent; the one style and the one script are named by their hashes."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _lean(name: str) -> str:
    """A style or script without its indentation and its comment lines; neither holds a text of several lines."""
    lines = (line.strip() for line in _file(name).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@cache
def _file(name: str) -> str:
    return importlib.resources.files("agentfootprint.explain.board").joinpath(name).read_text(encoding="utf-8")
