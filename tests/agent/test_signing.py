"""Tests of agentfootprint.agent.signing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Agent, Checkpoint, ConfigError, Mock, PauseCheckpoint
from agentfootprint.agent import CheckpointFormatError
from tests.agent.keeping.desk import batch, desk

KEY = "a secret of the host"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def kept() -> Checkpoint:
    return Agent(Mock("Booked.")).run_sync("A table for two — ä.").checkpoint


def test_a_signed_checkpoint_is_read_with_its_key_and_only_with_it() -> None:
    for key in (KEY, b"\x00\xff bytes"):
        text = kept().to_json(key=key)

        assert Checkpoint.from_json(text, key=key).history[-1].content == "Booked."
        for other in ("another", None):
            with pytest.raises(CheckpointFormatError) as refused:
                Checkpoint.from_json(text, key=other)
            assert refused.value.field == "signature"
            assert "Booked" not in str(refused.value)


def test_a_store_may_give_the_members_in_another_order() -> None:
    wire = json.loads(kept().to_json(key=KEY))

    again = json.dumps(dict(reversed(wire.items())), indent=2)

    assert Checkpoint.from_json(again, key=KEY) == Checkpoint.from_json(json.dumps(wire), key=KEY)


@given(st.data())
def test_no_member_can_be_edited_added_or_left_out(data: st.DataObject) -> None:
    wire: dict[str, Any] = json.loads(kept().to_json(key=KEY))
    member = data.draw(st.sampled_from(sorted(wire)) | TEXT)
    value = data.draw(st.just(...) | JSON_VALUE)
    edited = {key: item for key, item in wire.items() if key != member}
    if value is not ...:
        edited[member] = value
    same = json.dumps(edited, sort_keys=True) == json.dumps(wire, sort_keys=True)

    if same:
        Checkpoint.from_json(json.dumps(edited), key=KEY)
    else:
        with pytest.raises(CheckpointFormatError):
            Checkpoint.from_json(json.dumps(edited), key=KEY)


def test_what_is_not_signed_is_refused_where_a_key_is_given() -> None:
    with pytest.raises(CheckpointFormatError, match="is not signed") as refused:
        Checkpoint.from_json(kept().to_json(), key=KEY)

    assert refused.value.field == "signature"


def test_no_other_door_takes_a_signed_one_unchecked() -> None:
    agent = Agent(Mock(["a", "b"]))
    signed = json.loads(kept().to_json(key=KEY))

    for door in (
        lambda: agent.run_sync("hi", continue_from=signed),
        lambda: agent.resume_on_error_sync(signed),
        lambda: agent.conversation(signed),
    ):
        with pytest.raises(CheckpointFormatError, match="was not checked"):
            door()


def test_a_paused_run_is_signed_in_the_same_way_and_is_no_conversation() -> None:
    paused = desk(Mock([batch(("ask", {"question": "Vip?"}))])).run_sync("Refund?").paused
    assert paused is not None
    text = paused.checkpoint.to_json(key=KEY)
    edited = text.replace("Refund?", "Refund all?")

    assert PauseCheckpoint.from_json(text, key=KEY).run_id == paused.checkpoint.run_id
    for given_, key in ((edited, KEY), (text, "another"), (text, None), (paused.checkpoint.to_json(), KEY)):
        with pytest.raises(CheckpointFormatError) as refused:
            PauseCheckpoint.from_json(given_, key=key)
        assert refused.value.field == "signature"
    with pytest.raises(CheckpointFormatError):
        desk(Mock("x")).resume_sync(json.loads(text), "yes")
    with pytest.raises(CheckpointFormatError):
        Checkpoint.from_json(text, key=KEY)


@pytest.mark.parametrize("key", ["", b"", 7])
def test_a_key_that_signs_nothing_is_refused(key: Any) -> None:
    with pytest.raises(ConfigError, match="key"):
        kept().to_json(key=key)
