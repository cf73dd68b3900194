"""Tests of tests.vectors.harness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.trace import freeze
from tests.vectors.harness import Area, Case, assert_same, first_difference, load


@pytest.fixture
def area(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Area:
    folder = tmp_path / "flow"
    folder.mkdir()
    twice: list[dict[str, Any]] = [
        {"name": "same", "input": {"n": 1}, "expected": 1},
        {"name": "same", "input": {}, "expected": 2},
    ]
    (folder / "twice.json").write_text(json.dumps({"description": "", "cases": twice}))
    (folder / "python.json").write_text(
        json.dumps({"cases": [{"name": "p", "input": 0, "expected": 1, "pythonExpected": None}]})
    )
    (folder / "whole.recording.json").write_text(json.dumps({"recording": [1]}))
    monkeypatch.setenv("AGENTFOOTPRINT_VECTORS", str(tmp_path))
    return load("flow")


def case_of(parameter: Any) -> Case:
    return parameter.values[0]


def test_every_case_of_a_file_has_an_id_of_its_own(area: Area) -> None:
    assert [parameter.id for parameter in area.cases("twice")] == ["twice-00-same", "twice-01-same"]


def test_a_file_that_is_not_covered_is_one_skip_that_names_it(area: Area) -> None:
    (skipped,) = area.not_built("twice")

    assert skipped.id == "python"
    assert next(iter(skipped.marks)).kwargs["reason"] == "flow/python.json: its topic is not built"


def test_a_case_can_be_changed_by_its_test(area: Area) -> None:
    case = case_of(area.cases("twice")[0])

    case.input["n"] = 2

    assert case.input == {"n": 1}


def test_a_null_for_python_is_a_null(area: Area) -> None:
    assert case_of(area.cases("python")[0]).expected is None


def test_a_file_without_cases_is_a_document(area: Area) -> None:
    assert area.files == ["python", "twice"]
    assert area.document("whole.recording") == {"recording": [1]}


def test_a_mark_is_put_on_a_case_by_id_or_name(area: Area) -> None:
    mark = pytest.mark.xfail(strict=True, reason="r")

    marked = area.cases("twice", "python", marks={"twice-01-same": mark, "p": mark})

    assert [len(list(parameter.marks)) for parameter in marked] == [0, 1, 1]


def test_a_covered_file_that_is_gone_fails_unless_the_folder_is_the_callers(
    area: Area, monkeypatch: pytest.MonkeyPatch
) -> None:
    (missing,) = area.cases("gone")
    assert "flow/gone.json is not in" in next(iter(missing.marks)).kwargs["reason"]

    monkeypatch.delenv("AGENTFOOTPRINT_VECTORS")
    with pytest.raises(FileNotFoundError):
        load("flow").cases("gone")


@pytest.mark.parametrize(
    ("actual", "expected", "where"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "$.a[1].b"),
        ({"a": 1}, {"a": True}, "$.a"),
        ({"a": 1}, {}, r"keys too many \['a'\]"),
        ([1], [1, 2], "1 items, not 2"),
        ("ab", ["a", "b"], r"\$: 'ab'"),
    ],
)
def test_a_difference_is_named_by_its_place(actual: object, expected: object, where: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=where.replace("$.", r"\$\.").replace("[1]", r"\[1\]")):
        assert_same(actual, expected)


def test_the_order_of_keys_counts_on_request() -> None:
    assert first_difference({"a": 1, "b": 2}, {"b": 2, "a": 1}) is None
    assert first_difference({"a": 1, "b": 2}, {"b": 2, "a": 1}, ordered=True) is not None


def test_frozen_values_are_the_json_they_stand_for() -> None:
    assert_same(freeze({"a": [1.0]}), {"a": [1]})
