"""What of a run may be seen by nobody but its stages: the policy (chapter 10).

A policy says names; it changes what is recorded and told, never what a stage reads, what the caller gets back or what
a resume needs. The run's veil (`agentfootprint.trace.Veil`, at `journal.veil`) applies it while the run goes on, and
`redacted_journal(journal)` of `agentfootprint.trace` gives the rows as they may leave: whoever writes, prints or
explains a journal reads that one. Pattern objects are compiled once and keep no position, so one policy serves any
number of runs at once (FLOW-RED-9).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from agentfootprint.flow.dev import dev_warning
from agentfootprint.flow.errors import RedactionPolicyError
from agentfootprint.trace import PLACEHOLDER, FrozenDict, FrozenList, HiddenField, Record, Value, hide_at

if TYPE_CHECKING:
    from agentfootprint.trace import Veil

__all__ = ["RedactionPolicy", "report_of", "union_of", "veiled_evidence"]

_LONGEST_KEY: Final = 256
"""Longer keys are not searched for patterns (FLOW-RED-1): a bad pattern must not stall a run."""
_REMEMBERED: Final = 4096
"""How many keys' verdicts a policy keeps."""


@dataclass(frozen=True, kw_only=True)
class RedactionPolicy:
    """What a run hides, by name (FLOW-RED-1 to 4, BRG-7, BRG-8).

    Raises:
        RedactionPolicyError: It names nothing, a pattern can't be compiled, or a part is not made of texts.

    Example:
        >>> policy = RedactionPolicy(keys=["ssn"], patterns=["(?i)token$"], fields={"user": ["address.zip"]})
        >>> policy.hides("ssn"), policy.hides("apiToken"), policy.hides("user")
        (True, True, False)
    """

    keys: Sequence[str] = ()
    """State keys that are hidden whole, in the run and in all its mounts."""
    patterns: Sequence[str] = ()
    """Regular expressions; a key is hidden where one is found in it. Keys over 256 characters are not searched."""
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Places below a key: `{"user": ["pin", "address.zip"]}`. A key with the dots in it comes before the path; lists
    are looked through, and `*` stands for every key and every item."""
    emit_patterns: Sequence[str] = ()
    """Regular expressions over the names of events: the payload of a match is hidden whole."""
    event_fields: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Places in the payload of an event, by its name: `{"app.paid": ["card.number"]}`."""
    placeholder: str = PLACEHOLDER
    """What stands for a hidden value in events, trees and evidence. Commit logs and mirrors say `REDACTED`."""
    _key_patterns: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)
    _emit_patterns: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)
    _fields: Mapping[str, tuple[HiddenField, ...]] = field(init=False, repr=False, compare=False)
    _event_fields: Mapping[str, tuple[HiddenField, ...]] = field(init=False, repr=False, compare=False)
    _known: dict[str, bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("keys", "patterns", "emit_patterns"):
            put(self, name, _texts(name, getattr(self, name)))
        for name in ("fields", "event_fields"):
            put(self, name, _places(name, getattr(self, name)))
            put(
                self,
                f"_{name}",
                {key: tuple(map(HiddenField.of, places)) for key, places in getattr(self, name).items()},
            )
        if not (self.keys or self.patterns or self.fields or self.emit_patterns or self.event_fields):
            raise RedactionPolicyError(
                "The redaction policy names nothing.", fix="Give keys, patterns, fields, emit_patterns or event_fields."
            )
        if not isinstance(self.placeholder, str) or not self.placeholder:  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise RedactionPolicyError("The `placeholder` is no text.", fix="Give a text that is not empty.")
        put(self, "_key_patterns", _compiled("patterns", self.patterns))
        put(self, "_emit_patterns", _compiled("emit_patterns", self.emit_patterns))
        put(self, "_known", dict.fromkeys(self.keys, True))

    def __hash__(self) -> int:
        return hash((self.keys, self.patterns, self.emit_patterns, tuple(self.fields), tuple(self.event_fields)))

    def __reduce__(self) -> tuple[Any, ...]:
        given: dict[str, Any] = {
            name: getattr(self, name) for name in ("keys", "patterns", "emit_patterns", "placeholder")
        }
        return _policy, ({**given, "fields": dict(self.fields), "event_fields": dict(self.event_fields)},)

    @property
    def hides_values(self) -> bool:
        """Whether any value of the state is hidden, so that messages of foreign errors are withheld."""
        return bool(self.keys or self.patterns or self.fields)

    def hides(self, key: str) -> bool:
        """Whether a key is hidden whole: by name, or by a pattern found in it."""
        known = self._known.get(key)
        if known is not None:
            return known
        found = False
        if self._key_patterns and len(key) > _LONGEST_KEY:
            dev_warning(f"A key of {len(key)} characters was not searched for redaction patterns.")
        else:
            found = any(pattern.search(key) for pattern in self._key_patterns)
        if len(self._known) < _REMEMBERED:
            self._known[key] = found
        return found

    def fields_of(self, key: str) -> tuple[HiddenField, ...]:
        """The places below a key that are hidden."""
        return self._fields.get(key, ())

    def emitted(self, name: str, payload: Value) -> Value:
        """The payload of an event as it may be told: hidden whole by its name, or at places in it (BRG-5, BRG-8).

        Called once, before anybody is told; copies what it changes and nothing else. A place that is not there is
        passed over.

        Args:
            name: The event's name or type.
            payload: A frozen value, or plain JSON.
        """
        if any(pattern.search(name) for pattern in self._emit_patterns):
            return self.placeholder
        for place in self._event_fields.get(name, ()):
            payload, _ = hide_at(payload, place.segments, self.placeholder)
        return payload


def union_of(*policies: RedactionPolicy | None) -> RedactionPolicy | None:
    """One policy that hides whatever one of them does (NEW-104); the placeholder is the first's.

    Returns:
        The policy; `None` when there is none.
    """
    given = list(dict.fromkeys(policy for policy in policies if policy is not None))
    if len(given) < 2:  # noqa: PLR2004  there is nothing to join
        return given[0] if given else None
    return RedactionPolicy(
        keys=_joined(policy.keys for policy in given),
        patterns=_joined(policy.patterns for policy in given),
        fields=_merged([policy.fields for policy in given]),
        emit_patterns=_joined(policy.emit_patterns for policy in given),
        event_fields=_merged([policy.event_fields for policy in given]),
        placeholder=given[0].placeholder,
    )


def _joined(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for each in lists for item in each))


def _merged(places: Sequence[Mapping[str, Sequence[str]]]) -> dict[str, Sequence[str]]:
    keys = dict.fromkeys(key for each in places for key in each)
    return {key: _joined(each.get(key, ()) for each in places) for key in keys}


def _policy(given: dict[str, Any]) -> RedactionPolicy:
    return RedactionPolicy(**given)


def _texts(name: str, given: object) -> tuple[str, ...]:
    """Texts as a tuple; a lone text is refused, because it would be taken letter by letter."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise RedactionPolicyError(f"`{name}` is no list of texts.", fix=f"Write {name}=[...], also for one.")
    items = tuple(cast("Iterable[object]", given))
    if not all(isinstance(item, str) and item for item in items):
        raise RedactionPolicyError(
            f"`{name}` has an item that is no text or an empty one.",
            fix="Give texts; patterns too: they are compiled here.",
        )
    return cast("tuple[str, ...]", items)


def _places(name: str, given: object) -> Mapping[str, tuple[str, ...]]:
    if given is None:
        return MappingProxyType({})
    if not isinstance(given, Mapping):
        raise RedactionPolicyError(
            f"`{name}` is no mapping.", fix=f'Write {name}={{"key": ["field", "nested.field"]}}.'
        )
    places = {key: _texts(f"{name}[{key!r}]", fields) for key, fields in cast("Mapping[str, object]", given).items()}
    for key, fields in places.items():
        if not fields or any("" in text.split(".") for text in fields):
            raise RedactionPolicyError(
                f"`{name}[{key!r}]` names no field, or one with an empty part.",
                fix="Name at least one, as `field` or `nested.field`.",
            )
    return MappingProxyType(places)


def _compiled(name: str, patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    made: list[re.Pattern[str]] = []
    for pattern in patterns:
        try:
            made.append(re.compile(pattern))
        except re.error as error:
            raise RedactionPolicyError(
                f"`{name}` has {pattern!r}, which is no regular expression: {error}.", fix="Correct it."
            ) from error
    return tuple(made)


def report_of(policy: object, veil: Veil | None) -> dict[str, Any]:
    """What is redacted, by name and never by value (FLOW-RED-7); `policy` is None when only writes redact."""
    policy = policy if isinstance(policy, RedactionPolicy) else None
    keys = dict.fromkeys(() if policy is None else policy.keys)
    keys.update({} if veil is None else veil.seen)
    return {
        "redactedKeys": list(keys),
        "fieldRedactions": {} if policy is None else {key: list(places) for key, places in policy.fields.items()},
        "patterns": [] if policy is None else list(policy.patterns),
    }


def veiled_evidence(evidence: Value, veil: Veil, mount: int) -> Value:
    """Evidence of a choice without what the veil hides, for rules that were tried on something else than the state."""
    if not isinstance(evidence, FrozenDict) or not isinstance(evidence.get("rules"), FrozenList):
        return veil.whole(evidence, mount)
    rules = [_veiled_rule(rule, veil, mount) for rule in evidence["rules"]]
    return FrozenDict({**dict(evidence.items()), "rules": FrozenList(rules, len(rules))})


def _veiled_rule(rule: Value, veil: Veil, mount: int) -> Value:
    if not isinstance(rule, Record):
        return veil.whole(rule, mount)
    changes: dict[str, Any] = {}
    for name, summary in (("conditions", "actual_summary"), ("inputs", "value_summary")):
        looked_at: Any = getattr(rule, name, None)
        if looked_at is not None:
            shown = [_veiled_look(item, summary, veil, mount) for item in looked_at]
            changes[name] = FrozenList(shown, len(shown))
    told = getattr(rule, "match_error", None)
    if told is not None and veil.keeps_secrets:
        changes["match_error"] = told.partition(":")[0]
    return cast("Value", msgspec.structs.replace(rule, **changes))


def _veiled_look(item: Any, summary: str, veil: Veil, mount: int) -> Any:  # noqa: ANN401  a record of evidence
    if item.redacted or not veil.hides(item.key, mount, ever=True):
        return item
    changes: dict[str, Any] = {summary: veil.placeholder, "redacted": True}
    if hasattr(item, "threshold"):
        changes["threshold"] = veil.placeholder
    return msgspec.structs.replace(item, **changes)
