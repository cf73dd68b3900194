"""A headless Chromium for a module's tests, and pages that fail their test when the browser complains.

The browser is opened and closed within one module: while the synchronous Playwright is open, its event loop counts as
running, and tests that run a loop of their own would be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """The local Chromium, started once for a module; without one the tests skip, or fail where CI is set."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield started
        started.close()


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
