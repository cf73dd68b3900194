"""What does a docstring say about a function and about each of its parameters?

Google's and NumPy's forms are read, line by line and in linear time; text in any other form is no description.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["describe"]

_GOOGLE: Final = re.compile(r"(Args|Arguments|Parameters|Params|Returns|Yields|Raises|Example|Examples|Note|Notes):$")
_ENTRY: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:(?:\s+(.*))?$")
_NUMPY_ENTRY: Final = re.compile(r"\*{0,2}(\w+)\s*(?::.*)?$")
_PARAMETERS: Final = frozenset(("Args", "Arguments", "Parameters", "Params"))


def describe(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Read a docstring.

    Returns:
        The first paragraph as one line, `""` if there is none, and the text of each parameter that is described.
    """
    lines = [] if docstring is None else inspect.cleandoc(docstring).splitlines()
    summary: list[str] = []
    for i, line in enumerate(lines):
        if not line.strip() or _section(lines, i) is not None:
            break
        summary.append(line.strip())
    return " ".join(summary), dict(_parameters(lines))


def _section(lines: list[str], i: int) -> str | None:
    """The name of the section that begins in this line, if one does."""
    line = lines[i].rstrip()
    google = _GOOGLE.match(line)
    if google is not None:
        return google[1]
    under = lines[i + 1].strip() if i + 1 < len(lines) else ""
    return line if len(under) > 2 and not under.strip("-") and line and not line[0].isspace() else None  # noqa: PLR2004


def _parameters(lines: list[str]) -> Iterator[tuple[str, str]]:
    inside = numpy = False
    base = 0
    name, text = "", list[str]()
    for i, line in enumerate(lines):
        section = _section(lines, i)
        if section is not None:
            inside, numpy, base = section in _PARAMETERS, not line.rstrip().endswith(":"), 0
            continue
        indent = len(line) - len(line.lstrip())
        if not inside or not line.strip() or (numpy and not line.strip("- ")):
            continue
        if not numpy and indent == 0:  # text of another kind
            inside = False
            continue
        base = base or (0 if numpy else indent)
        entry = (_NUMPY_ENTRY if numpy else _ENTRY).match(line.strip()) if indent <= base else None
        if entry is None:
            text.append(line.strip())
            continue
        if name and text:
            yield name, " ".join(text)
        name, text = entry[1], [entry[2].strip()] if not numpy and entry[2] else []
    if name and text:
        yield name, " ".join(text)
