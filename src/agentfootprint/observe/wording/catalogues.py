"""Which words does the library speak with, and in which languages?

English is whole; another language may leave texts out, which are then English.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from agentfootprint.errors import ConfigError
from agentfootprint.observe.wording.english import COMMENTARY_EN, STATUS_EN
from agentfootprint.observe.wording.french import COMMENTARY_FR, STATUS_FR
from agentfootprint.observe.wording.messages import Catalogue, compose_messages

__all__ = ["DEFAULT_COMMENTARY", "DEFAULT_STATUS", "LOCALES", "commentary_messages", "status_messages"]

DEFAULT_COMMENTARY: Final[Catalogue] = MappingProxyType(COMMENTARY_EN)
"""What is said of a run to somebody who looks on."""
DEFAULT_STATUS: Final[Catalogue] = MappingProxyType(STATUS_EN)
"""What is said to a person who waits."""
_STATUS: Final = MappingProxyType({"en": DEFAULT_STATUS, "fr": compose_messages(DEFAULT_STATUS, STATUS_FR)})
_COMMENTARY: Final = MappingProxyType(
    {"en": DEFAULT_COMMENTARY, "fr": compose_messages(DEFAULT_COMMENTARY, COMMENTARY_FR)}
)
LOCALES: Final = tuple(_STATUS)
"""The languages there are."""


def status_messages(locale: str = "en") -> Catalogue:
    """The texts of the status line.

    Raises:
        ConfigError: There is no such locale.
    """
    return _STATUS[_known(locale)]


def commentary_messages(locale: str = "en") -> Catalogue:
    """The texts of the commentary.

    Raises:
        ConfigError: There is no such locale.
    """
    return _COMMENTARY[_known(locale)]


def _known(locale: str) -> str:
    if locale not in _STATUS:
        raise ConfigError("locale", f"There are no texts in {locale!r}.", fix=f"Use one of: {', '.join(LOCALES)}.")
    return locale
