"""What every test may rely on: a runtime folder, a browser or a clear skip, and repeatable property tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

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
