"""Tests of agentfootprint.tools.errors."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.tools import (
    CoverageRefusedError,
    TeardownScopeError,
    ToolDefinitionError,
    ToolTeardownTimeoutError,
    ToolTimeoutError,
)

if TYPE_CHECKING:
    pass

ERRORS: list[AgentFootprintError] = [
    ToolDefinitionError("lookup", "It is wrong.", parameter="day", fix="Mend it."),
    ToolTimeoutError("lookup", 3),
    ToolTeardownTimeoutError("lookup", 0.5),
    TeardownScopeError("session", ("call", "run")),
    CoverageRefusedError("checked", "It says nothing.", fix="Say something."),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_facts_on_any_way(error: AgentFootprintError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_says_what_to_do(error: AgentFootprintError) -> None:
    assert error.fix
    assert error.code.startswith("ERR_")
    assert str(error).endswith(f"{error.fix} [{error.code}]")


def test_a_definition_error_names_its_option() -> None:
    whole = ToolDefinitionError("lookup", "It is wrong.", fix="Mend it.")
    one = ToolDefinitionError("lookup", "It is wrong.", parameter="day", fix="Mend it.")

    assert (whole.option, one.option) == ("tools.lookup", "tools.lookup.day")
