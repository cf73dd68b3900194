"""Pages that fail their test when the browser complains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a page's markup from a file; at the end, fail on any console message, error or request to elsewhere."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def open_markup(markup: str, *, fragment: str = "", width: int = 1440, height: int = 900, **options: Any) -> Page:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(markup, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: None if request.url.startswith("file:") else complaints.append(f"request: {request.url}"),
        )
        page.goto(file.as_uri() + fragment)
        return page

    yield open_markup
    for context in contexts:
        context.close()
    assert complaints == []
