"""What is a catalogue of messages, and how does a text with `{{names}}` become a line (05 s.9, STA-6)?

Invariants: a catalogue can't be changed. What a value holds is never looked at for names again, so no tool name and no
model's text can speak with the words of the catalogue. An unknown name says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from agentfootprint.errors import ConfigError

__all__ = ["Catalogue", "compose_messages", "fill", "names_in", "validate_messages"]

Catalogue: TypeAlias = Mapping[str, str]
"""Text by key; an empty text renders nothing."""

_NAME: Final = re.compile(r"\{\{(\w+)\}\}")


def compose_messages(defaults: Catalogue, overrides: Catalogue | None = None) -> Catalogue:
    """A catalogue with some texts replaced and others added; it can't be changed, and neither is touched.

    Example:
        >>> compose_messages({"idle": "Thinking", "tool": "Working"}, {"tool": "Busy"})["tool"]
        'Busy'
    """
    return MappingProxyType({**defaults, **(overrides or {})})


def validate_messages(
    catalogue: Catalogue, required: Iterable[str], *, label: str = "catalogue", forbid_empty: bool = False
) -> None:
    """Refuse a catalogue that lacks something, naming all of it at once.

    Args:
        catalogue: The texts.
        required: The keys it must have.
        label: What the error calls it.
        forbid_empty: Whether a required text must say something.

    Raises:
        ConfigError: Keys are missing, or empty.
    """
    keys = tuple(dict.fromkeys(required))
    missing = [key for key in keys if key not in catalogue]
    empty = [key for key in keys if forbid_empty and key in catalogue and not catalogue[key].strip()]
    said = [f"{word} {', '.join(found)}" for word, found in (("lacks", missing), ("has no text for", empty)) if found]
    if said:
        raise ConfigError(label, f"The {label} {' and '.join(said)}.", fix="Give each of them a text.")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text of a template; each value is put in once and not read again.

    Example:
        >>> fill("Asks {{tool}}{{more}}.", {"tool": "{{secret}}", "secret": "x"})
        'Asks {{secret}}.'
    """
    return _NAME.sub(lambda found: values.get(found[1], ""), template)


def names_in(template: str) -> frozenset[str]:
    """The names that a template asks for."""
    return frozenset(_NAME.findall(template))
