"""What every test may rely on: a runtime folder, a browser or a clear skip, and repeatable property tests.

The browser is opened and closed within one module: while the synchronous Playwright is open, its event loop counts as
running, and tests that run a loop of their own would be refused.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IN_CI = bool(os.environ.get("CI"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_BROWSER = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("local", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if IN_CI else "local"))


def pytest_configure(config: pytest.Config) -> None:
    if "XDG_RUNTIME_DIR" not in os.environ:  # platformdirs warns without it, and warnings are errors
        folder = tempfile.TemporaryDirectory(prefix="agentfootprint-tests-")
        os.environ["XDG_RUNTIME_DIR"] = folder.name
        config.add_cleanup(folder.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for the browser is a browser test, so that `make test-fast` leaves it out."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


def _demand(path: str | None, name: str, fix: str) -> str:
    """A program that a person may lack and CI may not."""
    if path:
        return path
    if IN_CI:
        pytest.fail(f"CI must have {name}. {fix}", pytrace=False)
    pytest.skip(f"needs {name}: {fix}")


@pytest.fixture(scope="module")
def quick_collections() -> Iterator[None]:
    """Whoever collects garbage often looks at what the test made, and not at all that the test process has loaded."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a local Chromium; `$AGENTFOOTPRINT_CHROMIUM` names another one. Start it with `--no-sandbox` as root."""
    named = os.environ.get("AGENTFOOTPRINT_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None and Path(MAC_BROWSER).exists():
        found = MAC_BROWSER
    return _demand(found, "Chromium", "Install Debian's package `chromium`, or set AGENTFOOTPRINT_CHROMIUM.")


@pytest.fixture(scope="session")
def node() -> str:
    """Path of Node.js."""
    return _demand(shutil.which("node"), "Node.js", "Install Node.js 20 or newer.")


@pytest.fixture(scope="session")
def npm() -> str:
    """Path of npm."""
    return _demand(shutil.which("npm"), "npm", "Install it with Node.js 20 or newer (Debian's package `npm`).")


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
