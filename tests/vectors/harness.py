"""What the vector files of an area ask, as parametrised tests.

A vector file is `{"description", "cases": [{"name", "input", "expected", ...}]}` and lies in
`$AGENTFOOTPRINT_VECTORS/<area>/<file>.json`, by default in `tests/vectors/data`. A test module takes an area once,
one parametrised test for each file it covers, and one more for the files that nobody covers yet:

    FLOW = load("flow")

    @pytest.mark.parametrize("case", FLOW.cases("merge"))
    def test_merge(case: Case) -> None:
        assert_same(deep_smart_merge(case.input["dst"], case.input["src"]), case.expected)

    @pytest.mark.parametrize("file", FLOW.not_built("merge"))
    def test_the_topic_is_built(file: str) -> None:
        pytest.fail(f"{file} is neither covered nor skipped")

Nothing is ever left out silently: `cases` gives every case of the file, `not_built` one skip that names the file.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from agentfootprint.trace import deep_equal, thaw

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

__all__ = ["Area", "Case", "assert_same", "first_difference", "load"]

ROOT_VARIABLE = "AGENTFOOTPRINT_VECTORS"
DEFAULT_ROOT = Path(__file__).parent / "data"


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One case of one file. Everything read from it is a copy of its own, so a test may change it."""

    file: str
    """The file's name without `.json`."""
    number: int
    """Position in the file, from 0: names repeat, this doesn't."""
    name: str
    raw: Mapping[str, Any]
    """The whole case, shared: read it, don't change it."""

    @property
    def id(self) -> str:
        """`file-number-name`, unique in the area."""
        return f"{self.file}-{self.number:02}-{self.name}"

    @property
    def input(self) -> Any:
        return copy.deepcopy(self.raw["input"])

    @property
    def expected(self) -> Any:
        """What the call must give here: `pythonExpected` where the case has that key, else `expected`."""
        return copy.deepcopy(self.raw["pythonExpected"] if "pythonExpected" in self.raw else self.raw["expected"])

    def get(self, key: str) -> Any:
        """Another member of the case (`departure`, `origin`, ...), or `None`."""
        return copy.deepcopy(self.raw.get(key))


@dataclasses.dataclass(frozen=True, slots=True)
class Area:
    """The vector files of one sub-folder."""

    name: str
    folder: Path

    @property
    def files(self) -> list[str]:
        """Names, without `.json`, of all files that hold cases."""
        return [path.stem for path in sorted(self.folder.glob("*.json")) if "cases" in _read(path)]

    def document(self, file: str) -> Any:
        """A whole file, for those that hold no cases (recordings)."""
        return copy.deepcopy(_read(self.folder / f"{file}.json"))

    def cases(self, *files: str, marks: Mapping[str, pytest.MarkDecorator] | None = None) -> list[ParameterSet]:
        """Every case of the named files, for `pytest.mark.parametrize("case", ...)`.

        Args:
            files: Names without `.json`.
            marks: Marks (say `pytest.mark.xfail(strict=True, reason=...)`) by the case's id or name.

        Raises:
            FileNotFoundError: A file isn't in the default folder. In a folder of the caller's choice it is one skip.
        """
        out: list[ParameterSet] = []
        for file in files:
            path = self.folder / f"{file}.json"
            if not path.exists() and ROOT_VARIABLE in os.environ:
                skip = pytest.mark.skip(reason=f"{self.name}/{file}.json is not in {self.folder}")
                out.append(pytest.param(None, id=f"{file}-missing", marks=skip))
                continue
            for number, raw in enumerate(cast("list[dict[str, Any]]", _read(path)["cases"])):
                case = Case(file=file, number=number, name=str(raw["name"]), raw=raw)
                mark = (marks or {}).get(case.id) or (marks or {}).get(case.name)
                out.append(pytest.param(case, id=case.id, marks=() if mark is None else mark))
        return out

    def not_built(self, *covered: str) -> list[ParameterSet]:
        """One skip for each file of the area that is not `covered`, for `pytest.mark.parametrize("file", ...)`.

        Args:
            covered: The files that some module of the area runs; name those of the other modules too.
        """
        rest = [file for file in self.files if file not in covered]
        skips = [pytest.mark.skip(reason=f"{self.name}/{file}.json: its topic is not built") for file in rest]
        return [pytest.param(file, id=file, marks=skip) for file, skip in zip(rest, skips, strict=True)]


def load(area: str) -> Area:
    """The vector files of one area, from `$AGENTFOOTPRINT_VECTORS` or from beside this file."""
    return Area(name=area, folder=Path(os.environ.get(ROOT_VARIABLE) or DEFAULT_ROOT) / area)


_files: dict[Path, Any] = {}


def _read(path: Path) -> Any:
    if path not in _files:
        _files[path] = json.loads(path.read_text(encoding="utf-8"))
    return _files[path]


def assert_same(actual: object, expected: object, *, ordered: bool = False) -> None:
    """Fail unless both are the same JSON value (`1` is `1.0`, `True` is no number), naming where they differ.

    Args:
        actual: What the code gave; frozen values count as the JSON they stand for.
        expected: What the vector says.
        ordered: Whether the keys of objects must stand in the same order too.
    """
    difference = first_difference(thaw(actual), thaw(expected), ordered=ordered)
    if difference is not None:
        pytest.fail(f"{difference}\n  actual:   {actual!r}\n  expected: {expected!r}")


def first_difference(actual: Any, expected: Any, *, ordered: bool = False, path: str = "$") -> str | None:
    """Where and how two JSON values differ first, or `None`."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        left, right = cast("Mapping[str, Any]", actual), cast("Mapping[str, Any]", expected)
        return _keys_differ(left, right, path, ordered=ordered) or _first(
            first_difference(left[key], right[key], ordered=ordered, path=f"{path}.{key}") for key in right
        )
    if _is_list(actual) and _is_list(expected):
        a, b = cast("Sequence[Any]", actual), cast("Sequence[Any]", expected)
        if len(a) != len(b):
            return f"{path}: {len(a)} items, not {len(b)}"
        return _first(
            first_difference(x, y, ordered=ordered, path=f"{path}[{i}]")
            for i, (x, y) in enumerate(zip(a, b, strict=True))
        )
    return (
        None
        if deep_equal(cast("object", actual), cast("object", expected))
        else f"{path}: {actual!r}, not {expected!r}"
    )


def _keys_differ(left: Mapping[str, Any], right: Mapping[str, Any], path: str, *, ordered: bool) -> str | None:
    missing = [key for key in right if key not in left]
    extra = [key for key in left if key not in right]
    if missing or extra:
        return f"{path}: keys missing {missing}, keys too many {extra}"
    if ordered and list(left) != list(right):
        return f"{path}: keys in the order {list(left)}, not {list(right)}"
    return None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _first(differences: Iterable[str | None]) -> str | None:
    return next((difference for difference in differences if difference is not None), None)
