"""Does a policy name what there is (NEW-103)? A misspelt place would hide nothing, and nobody would notice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec

from agentfootprint.errors import ConfigError
from agentfootprint.events import EVENT_TYPES, PAYLOAD_BY_TYPE
from agentfootprint.flow import RedactionPolicy

__all__ = ["check_policy"]

_OWN = "agentfootprint."


def check_policy(given: object) -> None:
    """Refuse what is no policy, and one with a place in an event of the library that the event does not have.

    Raises:
        ConfigError: Names the event, or the place, and the nearest there is.
    """
    if not isinstance(given, RedactionPolicy):
        raise ConfigError(
            "record.redaction",
            f"record.redaction is of the type {type(given).__name__}.",
            fix="Give RedactionPolicy(keys=[...]), or conversation_redaction().",
        )
    for kind, places in given.event_fields.items():
        if not kind.startswith(_OWN):
            continue
        payload = PAYLOAD_BY_TYPE.get(kind)
        if payload is None:
            raise _unknown(f"There is no event type {kind!r}", kind, EVENT_TYPES)
        keys = {field.encode_name for field in msgspec.structs.fields(payload)}
        for place in places:
            key = place.partition(".")[0]
            if key != "*" and key not in keys:
                raise _unknown(f"An event {kind!r} has no {key!r}", key, keys)


def _unknown(problem: str, name: str, known: Iterable[str]) -> ConfigError:
    near = difflib.get_close_matches(name, list(known), n=1)
    return ConfigError(
        "record.redaction",
        f"{problem}, so `event_fields` would hide nothing there.",
        fix=f"Did you mean {near[0]!r}?" if near else f"Use one of: {', '.join(sorted(known))}.",
    )
