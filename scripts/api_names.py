"""Which names, with which parameters, does the page of public names promise? Prints them as JSON.

    python scripts/api_names.py API.md > tests/api_names.json

`tests/test_public_names.py` compares the result with what the package offers, so this runs again in the commit that
changes the page. A name that users don't call (a class with empty brackets, an attribute, a port) has null parameters.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

Room = dict[str, Any]

# Names that the page gives in prose only: shapes of its section 2, and behaviour ports under section 3.
PROSE = {
    "agent": ["ToolRule", "MessageRule", "StoppedEarly", "ContractUnmet", "ToolCallRecord", "CheckIn"],
    "artifacts": ["ArtifactMeta"],
    "context": ["EntryScorer", "IntentScorer", "CacheStrategy", "Recognizer"],
    "errors": ["AgentFootprintError", "ConfigError"],
    "explain": ["Suspect", "CustodyHop", "HonestyFlag", "Spent"],
    "hosting": ["AdmissionPolicy", "Wire", "Envelope"],
    "memory": ["MemoryIdentity"],
    "rag": ["Splitter", "Loader"],
    "recording": ["RecordingSink"],
    "resilience": ["BreakerStore"],
    "tools": ["CodeRunner"],
}
NOT_OURS = {
    *("AbstractAsyncContextManager", "AbstractContextManager", "Any", "AsyncIterator", "Awaitable", "Callable"),
    *("ClassVar", "Deps", "Exception", "False", "In", "Iterable", "Iterator", "Literal", "Mapping", "Maybe"),
    *("NoReturn", "None", "Out", "Path", "Pattern", "Self", "Seq", "True", "TypeError", "ValueError"),
}
CONTINUED = 8  # columns; a member of a class stands at 4
HEAD = re.compile(r"^(?:@\w+\s+)*(?:async def |def )?(?P<name>\w+)(?:\[[^\]]*\])?(?P<open>\()?")


def entries(block: str) -> list[tuple[bool, str]]:
    """One text per name, continuation lines joined; True for the members of the class before."""
    found: list[tuple[bool, str]] = []
    for line in block.splitlines():
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if found and (indent >= CONTINUED or text.startswith("#   ")):
            found[-1] = (found[-1][0], f"{found[-1][1]} {text.lstrip('# ')}")
        elif text and not text.startswith("## "):
            found.append((indent > 0, text))
    return found


def code_of(text: str) -> str:
    return text.split(" # ", maxsplit=1)[0]


def name_of(text: str) -> str:
    head = HEAD.match(text)
    assert head, text
    return head["name"]


def parameters(text: str, run: str | None) -> str | None:
    """The parameter list of an entry without types and defaults, or None when there is nothing to call."""
    code = code_of(text)
    head = HEAD.match(code)
    assert head, text
    if not head["open"]:
        return None
    depth, at = 1, head.end()
    while depth:
        depth += (code[at] in "([{") - (code[at] in ")]}")
        at += 1
    inner = code[head.end() : at - 1]
    if not inner.strip() and "def " not in code:
        return None
    inner = inner.replace("*, <as run>", (run or "").partition(", ")[2])
    function = ast.parse(f"def f({inner}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    args = function.args
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if arg:
            arg.annotation = None
    args.defaults = []
    args.kw_defaults = [None] * len(args.kwonlyargs)
    return ast.unparse(args)


def types_in(text: str) -> set[str]:
    """Capitalised words of a signature: the room that mentions a type may export it."""
    words = re.findall(r"\b[A-Z][A-Za-z]*[a-z][A-Za-z]*\b", re.sub(r'"[^"]*"', "", code_of(text)))
    return set(words) - NOT_OURS


def later_in(text: str) -> list[str]:
    """The names that the head of a room gives behind `P1:`."""
    listed = text.partition("P1: ")[2].partition("; `")[0].split(" (`.app")[0].split(", conversations")[0]
    return sorted(set(re.findall(r"[A-Za-z_]\w+", re.sub(r"and the modules|\band\b|\ball\b:", "", listed))))


def read_rooms(rooms: dict[str, Room], block: str) -> None:
    """Fill in the rooms of one block of signatures."""
    room: Room = {}
    owner = ""
    for is_member, text in entries(block):
        if text.startswith("# room: "):
            room = rooms.setdefault(text.split()[2], {"names": {}, "later": later_in(text), "types": []})
            continue
        names = room["names"]
        room["types"] = sorted({*room["types"], *types_in(text)})
        bare = re.sub(r"^@(static|class)method ", "", text)
        name = f"{owner}.{name_of(bare)}" if is_member else name_of(bare)
        owner = owner if is_member else name
        given = parameters(bare, names.get(f"{owner}.run"))
        names[name] = f"{names[name]}, {given}" if name in names and text.startswith("@overload") else given
        twin = re.search(r"\+ (\w+_sync)", code_of(text))
        if twin:
            names[f"{owner}.{twin[1]}" if is_member else twin[1]] = given


def read_ports(rooms: dict[str, Room], block: str) -> None:
    """Ports of section 3: the room stands in the comment of the last member, or is that of the port before."""
    home = "llm"
    for port in re.split(r"(?m)^@", block)[1:]:
        named = re.search(r"#\s+([a-z]+)\b", port)
        home = named[1] if named else home
        rooms[f"agentfootprint.{home}"]["names"].setdefault(name_of(port), None)


def read_errors(rooms: dict[str, Room], text: str) -> None:
    """The families of errors: lower-case words are rooms, the others are names of the rooms before them."""
    homes: list[str] = []
    heading = False
    for word in re.findall(r"`(\w+)(?:\([^)]*\))?`", text):
        if word.islower():
            homes = [*homes, word] if heading else [word]
        else:
            for home in homes:
                room = rooms.setdefault(f"agentfootprint.{home}", {"names": {}, "later": [], "types": []})
                room["names"].setdefault(word, None)
        heading = word.islower()


def main() -> None:
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    rooms: dict[str, Room] = {}
    for block in re.findall(r"```pyi\n(.*?)```", page, re.DOTALL):
        (read_ports if block.startswith("# room: protocols") else read_rooms)(rooms, block)
    families = re.search(r"\*\*Errors\.\*\*.*?at the top\.(.*?)\n\n", page, re.DOTALL)
    assert families
    read_errors(rooms, families[1].replace("`hosting`: the table of 09 s.13.", ""))
    for home, names in PROSE.items():
        for name in names:
            rooms[f"agentfootprint.{home}"]["names"].setdefault(name, None)
    json.dump(rooms, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
