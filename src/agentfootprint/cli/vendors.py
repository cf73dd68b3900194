"""What does each vendor of models need, and is it here? Looks at the environment, and at one socket on demand.

Invariants: the value of a key is never kept or shown; an address is shown without a user and a password; no vendor is
called, Ollama's port is opened and closed at most.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

__all__ = ["OLLAMA", "VENDORS", "Address", "Vendor", "is_set", "ollama_address"]

_PORT: Final = 11434
_PORTS: Final = {"http": 80, "https": 443}
_PATIENCE: Final = 0.5
"""Seconds after which a port that does not answer counts as silent."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor of models, as a model string names it."""

    name: str
    extra: str
    """What installs its packages."""
    variables: tuple[str, ...] = ()
    """The environment variables without which it can't be asked."""


OLLAMA: Final = "ollama"
VENDORS: Final = (
    Vendor("anthropic", "anthropic", ("ANTHROPIC_API_KEY",)),
    Vendor("openai", "openai", ("OPENAI_API_KEY",)),
    Vendor("azure", "openai", ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT")),
    Vendor(OLLAMA, "ollama"),
)


def is_set(variable: str) -> bool:
    """Whether an environment variable holds something; a blank one is unset."""
    return bool(os.environ.get(variable, "").strip())


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is expected, without the user and the password that its variable may hold."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def listens(self, seconds: float = _PATIENCE) -> bool:
        """Whether somebody accepts a connection there; nothing is sent.

        Args:
            seconds: How long to wait, for the name to be found too.
        """
        answers: list[bool] = []

        def knock() -> None:
            try:
                with socket.create_connection((self.host, self.port), timeout=seconds):
                    answers.append(True)
            except OSError:
                return
            except UnicodeError:  # a name that can't be one
                return

        asking = threading.Thread(target=knock, daemon=True)  # looking up a name has no limit of its own
        asking.start()
        asking.join(seconds)
        return bool(answers)


def ollama_address() -> Address | None:
    """Where Ollama is expected: `OLLAMA_HOST`, or its own port here; `None` when the variable holds no address."""
    given = os.environ.get("OLLAMA_HOST", "").strip() or f"localhost:{_PORT}"
    try:
        parts = urlsplit(given if "://" in given else f"http://{given}")
        if parts.scheme not in _PORTS or not parts.hostname:
            return None
        return Address(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme])
    except ValueError:  # a port that is no number, a bracket that is not closed
        return None
