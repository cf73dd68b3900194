"""Which events are there, and what does each say? Writes docs/reference/events.md from the payload classes.

Run it after a change of `agentfootprint.events`; a test fails while the page is stale.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from agentfootprint.events import DOMAINS, PAYLOADS, domain_of
from agentfootprint.trace import Record

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "events.md"
WORDS = {str: "text", int: "integer", bool: "true or false", float: "number", Any: "any JSON value"}

INTRODUCTION = """\
# Events

What a run tells its listeners, and what a recording holds: {types} types in {domains} domains. This page is made by
`scripts/generate_event_docs.py` from the payload classes of `agentfootprint.events`; change those, not this.

An event is `{{"type", "payload", "meta"}}`. Listen with `agent.on("agentfootprint.stream.token", ...)`, with a domain's
wildcard, `agentfootprint.stream.*`, or with `*`. In Python a key is the attribute of the same name in `snake_case`, and
`match event.payload` on the class tells events apart. A key with a `?` is absent when it has nothing to say.
"""


def main() -> None:
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page, as it must stand in the repository."""
    parts = [INTRODUCTION.format(types=len(PAYLOADS), domains=len(DOMAINS))]
    for domain in DOMAINS:
        parts.append(f"## {domain}\n")
        parts += [event(payload) for payload in PAYLOADS if domain_of(payload.type) == domain]
    parts.append("## Objects inside\n")
    parts += [f"### {kind.__name__}\n\n{text(kind)}\n\n{table(kind)}" for kind in sorted(inner(), key=name_of)]
    return "\n".join(parts)


def event(payload: type[Any]) -> str:
    address = f" Dispatched under `{payload.outside_stage}`." if payload.outside_stage else ""
    return f"### {payload.type}\n\n`{payload.__name__}`: {text(payload)}{address}\n\n{table(payload)}"


def text(kind: type) -> str:
    return " ".join(inspect.cleandoc(kind.__doc__ or "").split())


def table(kind: type[Any]) -> str:
    """One row a key, in the order of the class."""
    said = meanings(kind)
    rows = ["| key | value | meaning |", "| --- | --- | --- |"]
    for field in msgspec.structs.fields(kind):
        mark = "" if field.required else "?"
        rows.append(f"| `{field.encode_name}`{mark} | {written(field.type)} | {said[field.name]} |")
    return "\n".join(rows) + "\n"


def meanings(kind: type) -> dict[str, str]:
    """The texts that stand under the fields of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[ast.unparse(field.target)] = " ".join(inspect.cleandoc(str(below.value.value)).split())
    return found


def written(annotation: Any) -> str:  # noqa: ANN401  a type expression has no type of its own
    """A type as a reader of JSON names it."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        parts = [part for part in args if part not in (NoneType, msgspec.UnsetType)]
        return "number" if {*parts} == {int, float} else " or ".join(map(written, parts))
    if origin is Literal:
        return ", ".join(f"`{'true' if one is True else 'false' if one is False else one}`" for one in args)
    if origin in (tuple, Sequence):
        return f"list of {written(args[0])}"
    if origin is Mapping:
        return "object" if args[1] is Any else f"object of {written(args[1])}"
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return WORDS[annotation]


def inner() -> set[type[Record]]:
    """The records that stand inside payloads."""
    found: set[type[Record]] = set()
    waiting: list[type[Any]] = [*PAYLOADS]
    while waiting:
        for field in msgspec.structs.fields(waiting.pop()):
            new = set(records([field.type])) - found
            found |= new
            waiting += new
    return found


def records(annotations: Iterable[Any]) -> Iterator[type[Record]]:
    for annotation in annotations:
        if isinstance(annotation, type) and issubclass(annotation, Record):
            yield annotation
        yield from records(get_args(annotation) if get_origin(annotation) is not Literal else ())


def name_of(kind: type) -> str:
    return kind.__name__


if __name__ == "__main__":
    main()
