"""Tests of agentfootprint.agent.redacting.checking."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import RecordOptions
from agentfootprint.agent import conversation_redaction
from agentfootprint.errors import ConfigError
from agentfootprint.flow import RedactionPolicy, RedactionPolicyError

START = "agentfootprint.stream.tool_start"


@pytest.mark.parametrize(
    ("event_fields", "words"),
    [
        ({"agentfootprint.stream.tool_strt": ["args"]}, r"There is no event type 'agentfootprint\.stream\.tool_strt'"),
        ({START: ["args.card", "toolCalId"]}, r"has no 'toolCalId'.*Did you mean 'toolCallId'\?"),
        ({START: ["tool_name"]}, r"has no 'tool_name'.*Did you mean 'toolName'\?"),
        ({START: ["x"]}, r"has no 'x'.*Use one of: args, "),
    ],
)
def test_a_place_that_no_event_has_is_refused_with_the_nearest(event_fields: Any, words: str) -> None:
    policy = RedactionPolicy(event_fields=event_fields)

    with pytest.raises(ConfigError, match=words):
        RecordOptions(redaction=policy)


def test_places_that_there_are_and_events_of_the_application_are_taken() -> None:
    policy = RedactionPolicy(event_fields={START: ["args.anything", "*", "toolCallId"], "shop.paid": ["whatever"]})

    assert RecordOptions(redaction=policy).redaction is policy
    assert RecordOptions(redaction=conversation_redaction()).redaction


def test_something_else_than_a_policy_is_refused() -> None:
    given: Any = ["card"]

    with pytest.raises(ConfigError, match=r"record.redaction is of the type list"):
        RecordOptions(redaction=given)


@pytest.mark.parametrize("names", [{}, {"keys": []}, {"keys": "card"}, {"patterns": ["("]}, {"fields": {"a": []}}])
def test_a_policy_that_names_nothing_or_can_t_be_read_is_refused(names: Any) -> None:
    with pytest.raises(RedactionPolicyError):
        RedactionPolicy(**names)
