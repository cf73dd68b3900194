"""Which arguments may a store be asked with?"""

from __future__ import annotations

from agentfootprint.errors import ConfigError

__all__ = ["check_expected", "check_limit"]


def check_limit(limit: int) -> None:
    """Refuse a limit that is no whole number from 1.

    Raises:
        ConfigError: It is not.
    """
    if type(limit) is not int or limit < 1:
        raise ConfigError("limit", "The limit is not a whole number from 1.", fix="Give one, such as limit=50.")


def check_expected(expect: int | None) -> None:
    """Refuse an expected version that no store ever gave.

    Raises:
        ConfigError: It is no whole number from 0.
    """
    if expect is not None and (type(expect) is not int or expect < 0):
        raise ConfigError(
            "expect",
            "The expected version is not a whole number from 0.",
            fix="Give the `version` of the envelope that was hydrated, or 0 when nothing may be stored yet.",
        )
