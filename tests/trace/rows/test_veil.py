"""Tests of agentfootprint.trace.rows.veil."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.flow import RedactionPolicy
from agentfootprint.trace import ABSENT, Veil, freeze, thaw

POLICY = RedactionPolicy(keys=["ssn"], fields={"user": ["pin", "cards.number"]})


@pytest.mark.parametrize(
    ("path", "value", "shown_path", "shown", "hidden"),
    [
        (("ssn",), 1, ("ssn",), "-", ("ssn",)),
        (("ssn",), ABSENT, ("ssn",), ABSENT, ()),
        (("ssn", "a", "b"), 1, ("ssn",), "-", ("ssn",)),
        (("ssn", "a"), ABSENT, ("ssn",), "-", ("ssn",)),
        (("plain", "ssn"), 1, ("plain", "ssn"), 1, ()),
        (("user",), {"pin": 1, "n": 2}, ("user",), {"pin": "-", "n": 2}, ("user|pin",)),
        (("user", "pin"), 1, ("user", "pin"), "-", ("user|pin",)),
        (("user", "pin"), ABSENT, ("user", "pin"), ABSENT, ()),
        (("user", "pin", "x"), 1, ("user", "pin"), "-", ("user|pin",)),
        (("user", "cards"), [{"number": 1}], ("user", "cards"), [{"number": "-"}], ("user|cards",)),
        (("user", "cards", "0"), {"number": 1}, ("user", "cards", "0"), {"number": "-"}, ("user|cards|0|number",)),
        (("user", "name"), 1, ("user", "name"), 1, ()),
        (("runs", "b", "ssn"), 1, ("runs", "b", "ssn"), "-", ("runs|b|ssn",)),
        (("runs", "b", "ssn", "x"), 1, ("runs", "b", "ssn"), "-", ("runs|b|ssn",)),
        (("runs", "b"), {"ssn": 1, "x": 2}, ("runs", "b"), {"ssn": "-", "x": 2}, ("runs|b|ssn",)),
        (("runs",), {"b": {"user": {"pin": 1}}}, ("runs",), {"b": {"user": {"pin": "-"}}}, ("runs|b|user|pin",)),
        (("runs",), [1], ("runs",), [1], ()),
    ],
)
def test_a_write_is_shown_without_what_is_hidden(
    path: tuple[str, ...], value: Any, shown_path: tuple[str, ...], shown: Any, hidden: tuple[str, ...]
) -> None:
    covered = Veil(POLICY).covered(path, freeze(value) if value is not ABSENT else ABSENT, -1, "-")

    assert (covered.path, thaw(covered.value)) == (shown_path, shown)
    assert tuple(place.replace("\u001f", "|") for place in covered.hidden) == hidden


def test_a_write_hides_a_key_in_all_runtimes_and_a_delete_shows_it_in_one() -> None:
    veil = Veil(None)
    veil.hide("code", 3)

    veil.forget("code", 3)

    assert [veil.hides("code", mount) for mount in (-1, 3, 7)] == [True, False, True]
    assert veil.hides("code", 3, ever=True)
    veil.hide("code", 3)
    assert veil.hides("code", 3)


def test_a_mount_begins_with_what_its_parent_has_forgotten() -> None:
    veil = Veil(None)
    veil.hide("code")
    veil.forget("code")

    veil.enter(4, -1, None)

    assert not veil.hides("code", 4)


def test_names_in_force_are_those_not_forgotten_everywhere() -> None:
    veil = Veil(None)
    for key in ("a", "b", "c"):
        veil.hide(key)
    veil.forget("a")
    veil.enter(4, -1, None)
    veil.forget("b", 4)

    assert veil.in_force() == ("b", "c")


def test_what_is_handed_out_whole_hides_names_at_any_depth() -> None:
    value = freeze({"list": [{"ssn": 1, "user": {"pin": 2, "n": 3}}], "plain": {"x": [1]}})

    shown = Veil(POLICY).whole(value)

    hidden = {"ssn": "[REDACTED]", "user": {"pin": "[REDACTED]", "n": 3}}
    assert thaw(shown) == {"list": [hidden], "plain": {"x": [1]}}
    assert shown["plain"] is value["plain"]
    assert Veil(POLICY).whole(value["plain"]) is value["plain"]


def test_a_message_is_withheld_where_it_may_quote_a_secret() -> None:
    error, own = ValueError("bad 123"), AgentFootprintError("Stage 'a' did it.", fix="Don't.")
    events_only = RedactionPolicy(emit_patterns=["x"])

    assert Veil(POLICY).words(error, "bad 123") == "[REDACTED]"
    assert Veil(POLICY).words(own, "Stage 'a' did it.") == "Stage 'a' did it."
    assert Veil(events_only).words(error, "bad 123") == "bad 123"
    assert Veil(events_only, ["code"]).words(error, "bad 123") == "[REDACTED]"
