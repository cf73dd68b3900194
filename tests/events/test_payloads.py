"""Tests of agentfootprint.events.payloads."""

from __future__ import annotations

import ast
import copy
import gc
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given

import agentfootprint.events.payloads
from agentfootprint.events import PAYLOADS, OfferedTool, Payload, PermissionHalt, SkillEscalated, Token, ToolEnd
from agentfootprint.trace import Record, thaw
from tests.events.strategies import payloads

MODULES = [
    importlib.import_module(f"agentfootprint.events.payloads.{module.name}")
    for module in pkgutil.iter_modules(agentfootprint.events.payloads.__path__)
]
RECORDS: list[type[Record]] = [
    thing
    for module in MODULES
    for thing in vars(module).values()
    if inspect.isclass(thing) and issubclass(thing, Record) and thing.__module__ == module.__name__
]


def documented_fields(kind: type) -> Iterator[str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, below in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            yield ast.unparse(field.target)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_record_is_frozen_unseen_by_the_collector_and_says_what_each_key_means(kind: type[Record]) -> None:
    config = kind.__struct_config__

    assert (config.frozen, config.gc, config.omit_defaults) == (True, False, True)
    assert kind.__doc__
    assert set(documented_fields(kind)) >= set(kind.__struct_fields__)


@pytest.mark.parametrize("kind", PAYLOADS, ids=lambda kind: kind.__name__)
def test_a_class_is_named_after_its_event(kind: type[Payload]) -> None:
    prefix, domain, action = kind.type.split(".")
    words = "".join(word.capitalize() for word in ("" if domain in {"stream", "agent"} else domain, *action.split("_")))

    assert prefix == "agentfootprint"
    assert kind.__name__ == words.replace("Llm", "LLM").replace("Checkin", "CheckIn")


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_wire_key_is_the_attribute_in_camel_case(kind: type[Record]) -> None:
    exceptions = {"tell_llm": "tellLLM"}

    for name, key in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        words = name.removesuffix("_").split("_")

        assert key == exceptions.get(name, words[0] + "".join(word.capitalize() for word in words[1:]))


@pytest.mark.usefixtures("quick_collections")
@given(payloads)
def test_a_payload_and_all_it_holds_is_unseen_by_the_collector(payload: Payload) -> None:
    gc.collect()

    assert not gc.is_tracked(payload)
    assert copy.copy(payload) == payload


def test_an_absent_key_is_absent_and_a_null_value_is_null() -> None:
    """EVT-4, DEC-28."""
    without = ToolEnd(tool_call_id="c1", duration_ms=0)
    null = ToolEnd(tool_call_id="c1", result=None, duration_ms=0)

    assert thaw(without) == {"toolCallId": "c1", "durationMs": 0}
    assert thaw(null) == {"toolCallId": "c1", "result": None, "durationMs": 0}


def test_a_key_that_python_can_not_spell_has_its_wire_name() -> None:
    halt = PermissionHalt(target="t", reason="r", tell_llm="no", iteration=1, sequence_length=0)

    assert thaw(halt)["tellLLM"] == "no"
    assert "from" in SkillEscalated.__struct_encode_fields__


def test_a_payload_can_not_be_changed() -> None:
    token: Any = Token(iteration=1, token_index=0, content="Hi")

    with pytest.raises(AttributeError):
        token.content = "Ho"


def test_a_payload_matches_by_attribute() -> None:
    payload: Payload = ToolEnd(tool_call_id="c1", result="no", error=True, duration_ms=2)

    match payload:
        case ToolEnd(tool_call_id=found, error=True):
            assert found == "c1"
        case _:
            pytest.fail("not matched")


def test_a_record_inside_is_written_under_wire_keys() -> None:
    assert msgspec.json.encode(OfferedTool(name="weather")) == b'{"name":"weather"}'
    assert not [kind for kind in RECORDS if re.search(r"_\b", kind.__name__)]
