"""Tests of agentfootprint.tools.boundaries."""

from __future__ import annotations

from typing import Any, cast

import pytest

from agentfootprint.tools import CoverageRefusedError, Ground, absent, coverage, read_coverage
from agentfootprint.trace import freeze, thaw


def test_an_absence_says_where_was_looked_and_where_not() -> None:
    said = absent(
        " order A-7 ",
        checked=["eu", Ground(" us ", why=" live ")],
        not_checked=["archive"],
        cannot_cover=[Ground("deleted rows", why="purged nightly")],
        try_instead="Ask for the e-mail address.",
    )

    assert {key: value for key, value in said.items() if key != "note"} == {
        "af_absent": True,
        "outcome": "nothing_found",
        "looked_for": "order A-7",
        "checked": [{"what": "eu"}, {"what": "us", "why": "live"}],
        "not_checked": [{"what": "archive"}],
        "cannot_cover": [{"what": "deleted rows", "why": "purged nightly"}],
        "retry_returns_the_same": True,
        "try_instead": "Ask for the e-mail address.",
    }


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"what": " ", "checked": ["a"]}, "what"),
        ({"what": "x", "checked": []}, "checked"),
        ({"what": "x", "checked": "a table"}, "checked"),
        ({"what": "x", "checked": [" "]}, "checked"),
        ({"what": "x", "checked": [Ground("a", why=" ")]}, "checked"),
        ({"what": "x", "checked": [3]}, "checked"),
        ({"what": "x", "checked": ["a"], "not_checked": [""]}, "not_checked"),
        ({"what": "x", "checked": ["a"], "cannot_cover": ["b"]}, "cannot_cover"),
        ({"what": "x", "checked": ["a"], "cannot_cover": [Ground("b")]}, "cannot_cover"),
    ],
)
def test_an_absence_that_says_too_little_is_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(CoverageRefusedError) as caught:
        absent(**options)

    assert caught.value.field == field
    assert caught.value.fix


def test_a_coverage_that_covers_nothing_is_refused() -> None:
    with pytest.raises(CoverageRefusedError, match=r"coverage\(\) covers nothing"):
        coverage({"n": 1})


def test_what_is_said_is_read_back() -> None:
    said = coverage(
        absent("orders", checked=["eu"]), checked=["a"], cannot_cover=[Ground("deleted rows", why="purged")]
    )

    reading = read_coverage(freeze(said))

    assert reading is not None
    assert reading.status == "absent"
    assert thaw(reading.declared) == [
        {
            "kind": "ledger",
            "coverage": {
                "checked": [{"what": "a"}],
                "notChecked": [],
                "cannotCover": [{"what": "deleted rows", "why": "purged"}],
            },
        },
        {
            "kind": "absence",
            "coverage": {"checked": [{"what": "eu"}], "notChecked": [], "cannotCover": []},
            "lookedFor": "orders",
        },
    ]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "af_absent",
        {"rows": []},
        {"af_absent": True, "checked": []},
        {"af_absent": True, "checked": [{"why": "no name"}]},
        {"af_coverage": {"note": "nothing"}, "result": 1},
        {"af_semantics": True, "coverage": {"checked": [{"what": "a"}]}},
    ],
)
def test_a_value_that_declares_nothing_whole_is_data(value: object) -> None:
    assert read_coverage(freeze(value)) is None


def test_somebody_elses_items_are_read_where_they_have_a_name() -> None:
    value = {"af_absent": True, "looked_for": 3, "checked": ["eu", {"what": "us", "why": 3}, {"what": " "}, None]}

    reading = read_coverage(freeze(value))

    assert reading is not None
    (absence,) = reading.declared
    assert thaw(cast("object", absence.coverage.checked)) == [{"what": "eu"}, {"what": "us"}]
    assert absence.looked_for is None
