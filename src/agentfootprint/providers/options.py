"""How does an adapter reach its vendor?

Invariants: nothing here opens a socket or reads the environment; a key and a header never stand in a `repr`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from agentfootprint.errors import ConfigError

__all__ = ["ApiKey", "HttpOptions", "MalformedArgs", "checked_address"]

ApiKey: TypeAlias = "str | Callable[[], str | Awaitable[str]]"
"""A key, or what is asked for one before each request (ADP-4)."""

MalformedArgs: TypeAlias = Literal["report", "raise", "empty"]
"""What becomes of a call whose arguments can't be read (ADP-10, DEC-40): reported on the call, raised, or `{}`."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """The way to a vendor, for all adapters that speak HTTP (DEC-48).

    Args:
        api_key: The key, or a plain or async function that gives it, asked once before each request; left out, the
            vendor's environment variable holds it.
        base_url: Another address than the vendor's own.
        client: A client of the vendor's SDK to use instead of one of the adapter's; it is never closed here.
        timeout: Seconds of silence after which a call is given up, before the answer and between its pieces; left out,
            600 before it and 120 between them.
        headers: Further headers of every request.

    Raises:
        ConfigError: `timeout` is no positive number.
    """

    api_key: ApiKey | None = dataclasses.field(default=None, repr=False)
    base_url: str | None = None
    client: Any = dataclasses.field(default=None, repr=False)
    timeout: float | None = None
    headers: Mapping[str, str] | None = dataclasses.field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise ConfigError(
                "http.timeout",
                "The timeout of a provider is a positive number of seconds.",
                fix="Leave it out for 600.",
            )


def checked_address(address: str) -> str:
    """The address, if something can be called there.

    Raises:
        ConfigError: It is no HTTP address.
    """
    try:
        parts = urlsplit(address)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        is_good = False
    if not is_good:
        raise ConfigError(
            "http.base_url", "The base URL is no HTTP address.", fix='Write one such as "http://localhost:8000/v1".'
        )
    return address
