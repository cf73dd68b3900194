"""What does each room offer? MkDocs asks this while it builds: one page a room, made from signatures and docstrings.

A page can't be stale, because nothing of it is written by hand. A room without public names gets no page.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from itertools import pairwise
from typing import Any, cast

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PACKAGE = "agentfootprint"
WIDTH = 100  # columns of a signature before it is broken up
SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields|Example|Examples|Note):$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    if config.nav is not None:
        pages = [{"Events": "reference/events.md"}, *({room: f"reference/{room}.md"} for room in rooms())]
        config.nav.append({"Reference": pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for room in rooms():
        files.append(File.generated(config, f"reference/{room}.md", content=page(room)))
    return files


def rooms() -> list[str]:
    """The package and its rooms that offer anything, the package first."""
    package = importlib.import_module(PACKAGE)
    below = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))
    named = [PACKAGE, *(f"{PACKAGE}.{name}" for name in below)]
    return [room for room in named if getattr(importlib.import_module(room), "__all__", ())]


def page(room: str) -> str:
    """One room: its own docstring, then its names, classes before functions before the rest."""
    module = importlib.import_module(room)
    things = {name: getattr(module, name) for name in module.__all__}
    order = sorted(things, key=lambda name: (not inspect.isclass(things[name]), not callable(things[name]), name))
    top = getattr(importlib.import_module(PACKAGE), "__all__", ())
    parts = [f"# {room}", inspect.getdoc(module) or ""]
    for name in order:
        also = f"Also importable from `{PACKAGE}`." if name in top and room != PACKAGE else ""
        parts += [f"## {name}", also, *described(name, things[name])]
    return "\n\n".join(part for part in parts if part) + "\n"


def described(name: str, thing: object) -> list[str]:
    """Signature, docstring, fields and methods of one name."""
    if not callable(thing):
        return [f"```python\n{name} = {textwrap.shorten(repr(thing), WIDTH)}\n```"]
    parts = [signature(name, thing), markdown(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing):
        parts += [f"- `{field}`: {text}" for field, text in fields(thing).items()]
        for member, value in vars(thing).items():
            if not member.startswith("_") and (documented := method(value)) and documented.__doc__:
                parts += [f"### {name}.{member}", *described(member, documented)]
    return parts


def method(value: object) -> object:
    """The function behind a method, or None for anything else."""
    value = getattr(value, "__func__", value)
    return value if inspect.isfunction(value) else None


def signature(name: str, thing: object) -> str:
    """How a name is called, broken up where it is long; nothing where Python can't tell."""
    try:
        given = inspect.signature(cast("Any", thing))
    except (TypeError, ValueError):
        return ""
    word = "class " if inspect.isclass(thing) else "async def " if inspect.iscoroutinefunction(thing) else "def "
    parameters = listed([one for one in given.parameters.values() if one.name not in {"self", "cls"}])
    returned = "" if inspect.isclass(thing) else f" -> {written(given.return_annotation)}"
    text = f"{word}{name}({', '.join(parameters)}){returned}"
    if len(text) > WIDTH:
        text = "\n    ".join([f"{word}{name}(", *(f"{one}," for one in parameters)]) + f"\n){returned}"
    return f"```python\n{text}\n```"


def listed(parameters: list[inspect.Parameter]) -> list[str]:
    """The parameters as written in a `def`, with its `/` and `*`."""
    found: list[str] = []
    for number, one in enumerate(parameters):
        before = parameters[number - 1].kind if number else None
        if before is one.POSITIONAL_ONLY and one.kind is not one.POSITIONAL_ONLY:
            found.append("/")
        if one.kind is one.KEYWORD_ONLY and before not in {one.KEYWORD_ONLY, one.VAR_POSITIONAL}:
            found.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        kind = "" if one.annotation is one.empty else f": {written(one.annotation)}"
        default = "..." if " at 0x" in repr(one.default) else repr(one.default)
        found.append(f"{stars}{one.name}{kind}{'' if one.default is one.empty else f' = {default}'}")
    if parameters and parameters[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        found.append("/")
    return found


def written(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def fields(cls: type) -> dict[str, str]:
    """The texts that stand under the fields of a class."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, SyntaxError, TypeError):
        return {}
    found: dict[str, str] = {}
    statements = getattr(body, "body", [])
    for field, below in pairwise(statements):
        if not isinstance(field, ast.AnnAssign) or not isinstance(below, ast.Expr):
            continue
        if isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            found[ast.unparse(field.target)] = " ".join(inspect.cleandoc(below.value.value).split())
    return found


def markdown(docstring: str) -> str:
    """A Google docstring as Markdown: sections become lists, examples become code."""
    lead, *sections = SECTION.split(docstring)
    parts = [lead.strip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        text, _, rest = textwrap.dedent(body.strip("\n")).partition("\n\n\n")
        if title.startswith("Example"):
            text = f"```pycon\n{text.strip()}\n```"
        elif title in {"Args", "Attributes", "Raises"}:
            text = re.sub(r"\n\s{2,}", " ", text.strip())
            text = re.sub(r"^(\*{0,2}\w+)(?: \([^)]*\))?: ", r"- `\1`: ", text, flags=re.MULTILINE)
        parts += [f"**{title}**", text, rest]
    return "\n\n".join(part for part in parts if part)
