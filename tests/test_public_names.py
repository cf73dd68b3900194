"""Tests of the public names: what landed stands on the agreed page, with its parameters; what didn't is listed."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.landed import PAGE, offered, promised

Kinds = dict[str, str]
POSITIONAL = {"POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD"}
TOP = "agentfootprint"
EVENTS = "agentfootprint.events"
BEYOND = {
    *(("prove", "deps"), ("prove_sync", "deps")),  # an agent with deps needs them from a file too
    *(("approve", "args"), ("Decision", "args")),  # 02 s.27.9: a person corrects the arguments
    ("Decision", "remember"),  # where `approve(remember=)` says it
    ("Gates", "ask_together"),  # 02 s.27.10: the calls of one reply are asked about in one pause
    ("ToolRules", "sequential"),  # AGT-60: the page has no place for "runs alone"
    *(("Checkpoint.to_json", "key"), ("Checkpoint.from_json", "key")),  # a stored text that nobody can edit unseen
    *(("PauseCheckpoint.to_json", "key"), ("PauseCheckpoint.from_json", "key")),
    ("Checkpoint.from_json", "repair"),  # DEC-10: an imported history may have results without a call
    ("Agent.conversation", "queue"),  # AGT-23: turns may wait for each other
    ("Conversation.resume", "options"),  # as its `run`: the ids of a run are the caller's to say
    *(("AuditExporter", "agent"), ("AuditExporter", "versions")),  # AUD-2: what the genesis record says
    *(("AuditExporter", "signing_key"), ("verify_audit", "key")),  # AUD-10: who wrote it
    *(("OtelExporter", "explain"), ("OtelExporter", "raw_conversation_id")),  # SNK-23, NEW-96
    *(("OtelExporter", "capture_content"), ("OtelExporter", "capture_tool_content")),  # NEW-96, LIN-23
    *(("SqliteSessions", "busy_timeout"), ("Jwks", "options")),  # SES-12, IDV-6: as given
    *(("AgUi", "on_input"), ("agui_app", "on_input")),  # AGU-65: who reads what a client forwards
    *(("agui_app", "max_body_bytes"), ("agui_app", "cors_origins")),  # AGU-81, as `HostLimits` and `server.app` say it
    ("RetryPolicy", "retry_on"),  # 5.8: which errors may pass is the caller's to say
    *(("AgUiOptions", "custom_unsafe"), ("AgUiOptions", "text")),  # AGU-54, AGU-44: the page has no place for either
}


def agreed(parameters: str) -> Kinds:
    """A parameter list of the page, as name to kind."""
    function = ast.parse(f"def f({parameters}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    args = function.args
    return {
        **{arg.arg: "POSITIONAL_ONLY" for arg in args.posonlyargs},
        **{arg.arg: "POSITIONAL_OR_KEYWORD" for arg in args.args},
        **({args.vararg.arg: "VAR_POSITIONAL"} if args.vararg else {}),
        **{arg.arg: "KEYWORD_ONLY" for arg in args.kwonlyargs},
        **({args.kwarg.arg: "VAR_KEYWORD"} if args.kwarg else {}),
    }


def taken(thing: Callable[..., Any]) -> Kinds | None:
    """The parameters of what landed, or None where Python can't tell."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    parameters = signature.parameters.values()
    return {p.name: p.kind.name for p in parameters if not p.name.startswith("_") and p.name != "self"}


def differences(page: Kinds, code: Kinds) -> Iterator[str]:
    """What a caller who reads the page would trip over. A parameter that has not landed is no difference."""
    for name, kind in code.items():
        if name not in page:
            yield f"{name} is not on the page"
        elif (kind in POSITIONAL) != (page[name] in POSITIONAL) or kind.startswith("VAR") != page[name].startswith(
            "VAR"
        ):
            yield f"{name} is {kind}, on the page {page[name]}"
    order = [name for name in page if name in code and page[name] in POSITIONAL]
    if order != [name for name, kind in code.items() if name in page and kind in POSITIONAL]:
        yield f"positional order on the page: {', '.join(order)}"


def callables(room: str) -> Iterator[tuple[str, Kinds, Kinds]]:
    """What landed in a room and can be called: name, parameters on the page, parameters in the code."""
    for name, parameters in PAGE[room]["names"].items():
        owner, _, member = name.partition(".")
        if parameters is None or owner not in offered(room):
            continue
        thing: Any = getattr(importlib.import_module(room), owner)
        if member:  # as written in the class: a bound method would hide a first parameter
            thing = inspect.getattr_static(thing, member, None)
            thing = getattr(thing, "__func__", thing)
        code = None if thing is None else taken(thing)
        if code is not None:
            code.pop("cls", None)
            yield name, agreed(parameters), {key: kind for key, kind in code.items() if (name, key) not in BEYOND}


def event_name(type_: str) -> str:
    """The payload class of an event type, lower case: domain and action, without the domains `stream` and `agent`."""
    words = re.split(r"[._]", type_.removeprefix("agentfootprint."))
    return "".join(words[1:] if words[0] in {"stream", "agent"} else words).lower()


@pytest.mark.parametrize("room", PAGE)
def test_every_public_name_stands_on_the_page(room: str) -> None:
    on_page = promised(room) | promised(TOP)

    strange = offered(room) - on_page
    if room == EVENTS and strange:
        events = importlib.import_module(room)
        payloads = {event_name(type_) for type_ in events.EVENT_TYPES}
        strange = {name for name in strange if name.lower() not in payloads}

    assert sorted(strange) == []


def test_the_top_door_offers_types_of_signatures_by_their_rooms_only() -> None:
    names = {name for name in PAGE[TOP]["names"] if "." not in name}

    assert sorted(offered(TOP) - names) == []


@pytest.mark.parametrize("room", PAGE)
def test_what_landed_takes_the_parameters_of_the_page(room: str) -> None:
    found = {name: list(differences(page, code)) for name, page, code in callables(room)}

    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.parametrize("room", PAGE)
def test_every_class_and_function_says_what_it_is_for(room: str) -> None:
    things = {name: getattr(importlib.import_module(room), name) for name in offered(room)}

    texts = {
        name: thing.__doc__ or ""
        for name, thing in things.items()
        if inspect.isroutine(thing) or inspect.isclass(thing)
    }

    # a dataclass without a text of its own gets its signature as one
    assert sorted(name for name, text in texts.items() if not text or text.startswith(f"{name}(")) == []


@pytest.mark.parametrize("room", PAGE)
def test_what_has_not_landed_is_listed(room: str) -> None:
    names = sorted({name for name in PAGE[room]["names"] if "." not in name} - offered(room))
    options = [f"{name}({', '.join(sorted(set(page) - set(code)))})" for name, page, code in callables(room)]
    members = [
        name
        for name in PAGE[room]["names"]
        if (owner := name.partition(".")[0]) in offered(room) and owner != name
        if not has(room, name)
    ]

    missing = [*names, *members, *(option for option in options if not option.endswith("()"))]

    if missing:
        pytest.skip(f"{room}, not landed yet: {', '.join(missing)}")


def has(room: str, name: str) -> bool:
    owner, _, member = name.partition(".")
    thing = getattr(importlib.import_module(room), owner)
    return hasattr(thing, member) or member in getattr(thing, "__annotations__", {})


def test_the_comparison_notices_what_a_caller_would_trip_over() -> None:
    page = agreed("a, b, *, c, d")

    assert list(differences(page, {"a": "POSITIONAL_OR_KEYWORD", "c": "KEYWORD_ONLY"})) == []
    assert list(differences(page, {"e": "KEYWORD_ONLY"})) == ["e is not on the page"]
    assert list(differences(page, {"d": "VAR_KEYWORD"})) == ["d is VAR_KEYWORD, on the page KEYWORD_ONLY"]
    assert list(differences(page, {"b": "POSITIONAL_ONLY", "a": "POSITIONAL_ONLY"})) == [
        "positional order on the page: a, b"
    ]
