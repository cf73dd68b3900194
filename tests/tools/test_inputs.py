"""Tests of agentfootprint.tools.inputs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from agentfootprint import absent
from agentfootprint.agent import InputField, InputRequestError, request_input
from agentfootprint.tools import PersonAsked, read_reply
from agentfootprint.trace import FrozenDict, freeze

FIELDS = [InputField("timezone", enum=["UTC", "CET"]), InputField("year", float, required=False)]


def asked(**given: Any) -> FrozenDict:
    request: dict[str, Any] = {"id": "window", "question": "Which timezone?", "fields": FIELDS, **given}
    with pytest.raises(PersonAsked) as raised:
        request_input(**request)
    return raised.value.data["awaitingInput"]


def minted(**given: Any) -> FrozenDict:
    return freeze({**dict(asked(**given).items()), "requestId": "r-1", "origin": {"toolCallId": "c1"}})


def test_a_request_says_what_is_known_and_what_is_missing() -> None:
    request = asked(supplied={"year": 2026}, context={"operation": "query"}, refused={"reason": "no such zone"})

    assert request == {
        "status": "awaiting_input",
        "id": "window",
        "question": "Which timezone?",
        "fields": [
            {"id": "timezone", "type": "string", "required": True, "enum": ["UTC", "CET"]},
            {"id": "year", "type": "number", "required": False},
        ],
        "supplied": {"year": 2026},
        "origins": {"year": "declaration"},
        "missing": ["timezone"],
        "context": {"operation": "query"},
        "refused": {"reason": "no such zone"},
    }


@pytest.mark.parametrize(
    "given",
    [
        {"id": " "},
        {"question": ""},
        {"question": "x" * 4097},
        {"fields": []},
        {"fields": [InputField("a")] * 33},
        {"fields": [InputField("a"), InputField("a")]},
        {"supplied": {"timezone": "UTC"}},
        {"supplied": {"year": "2026"}},
        {"supplied": {"other": 1}},
        {"supplied": [1]},
        {"context": {"x": "y" * 17_000}},
        {"context": {"x": object()}},
        {"refused": {"answer": 1}},
        {"absence": {"found": 0}},
    ],
)
def test_a_request_at_fault_is_an_error_of_the_call(given: dict[str, Any]) -> None:
    request: dict[str, Any] = {"id": "window", "question": "Which timezone?", "fields": FIELDS, **given}

    with pytest.raises(InputRequestError) as refused:
        request_input(**request)

    assert refused.value.code == "ERR_INPUT_REQUEST_INVALID"


@pytest.mark.parametrize(
    "given",
    [
        {"id": ""},
        {"id": "a", "type": dict},
        {"id": "a", "description": ""},
        {"id": "a", "enum": []},
        {"id": "a", "enum": "abc"},
        {"id": "a", "enum": [1]},
        {"id": "a", "type": float, "enum": [math.inf]},
        {"id": "a", "enum": ["x"] * 101},
    ],
)
def test_a_field_that_no_reply_could_fit_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputRequestError):
        InputField(**given)


def test_a_reply_is_put_together_from_parts() -> None:
    fields = [InputField("a"), InputField("b", bool), InputField("c", float, required=False)]
    request = minted(fields=fields)

    first = read_reply(request, {"requestId": "r-1", "values": {"a": "x"}})
    second = read_reply(first.request, freeze({"requestId": "r-1", "values": {"b": False, "c": 1.5}}))

    assert (first.is_complete, first.request["missing"]) == (False, ["b"])
    assert second.is_complete
    assert second.result() == {
        "status": "input_received",
        "requestId": "r-1",
        "values": {"a": "x", "b": False, "c": 1.5},
        "origins": {"a": "response", "b": "response", "c": "response"},
        "origin": {"toolCallId": "c1"},
    }


@pytest.mark.parametrize(
    "reply",
    [
        "UTC",
        None,
        True,
        {"approved": True, "by": "x"},
        {"requestId": "r-2", "values": {"timezone": "UTC"}},
        {"requestId": "r-1"},
        {"requestId": "r-1", "values": {}},
        {"requestId": "r-1", "values": ["UTC"]},
        {"requestId": "r-1", "values": {"timezone": "UTC"}, "more": 1},
        {"requestId": "r-1", "values": {"zone": "UTC"}},
        {"requestId": "r-1", "values": {"timezone": "EST"}},
        {"requestId": "r-1", "values": {"timezone": 5}},
        {"requestId": "r-1", "values": {"year": True, "timezone": "UTC"}},
        {"requestId": "r-1", "values": {"timezone": object()}},
        {"requestId": "r-1", "cancel": "yes"},
        {"requestId": "r-1", "cancel": True, "values": {}},
    ],
)
def test_a_reply_that_does_not_fit_is_refused_and_never_converted(reply: Any) -> None:
    with pytest.raises(InputRequestError) as refused:
        read_reply(minted(), reply)

    assert "EST" not in refused.value.problem


def test_a_request_may_be_cancelled() -> None:
    reply = read_reply(minted(), {"requestId": "r-1", "cancel": True})

    assert (reply.is_cancelled, reply.result()) == (True, {"status": "input_cancelled", "requestId": "r-1"})


def test_an_absence_is_carried_beside_the_request() -> None:
    nothing = absent("a timezone", checked=["the profile"])

    with pytest.raises(PersonAsked) as raised:
        request_input(id="window", question="Which?", fields=FIELDS, absence=nothing)

    assert raised.value.coverage is not None
    assert "profile" not in str(raised.value.data)
