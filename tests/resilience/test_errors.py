"""Tests of agentfootprint.resilience.errors."""

from __future__ import annotations

import pickle

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.resilience import InvalidPriceError, UnknownPriceError


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (UnknownPriceError("prices.json", "gpt-x", "output"), "ERR_UNKNOWN_PRICE", LookupError),
        (InvalidPriceError("prices.json", "gpt-x", "output", -1), "ERR_INVALID_PRICE", ValueError),
    ],
    ids=lambda each: type(each).__name__,
)
def test_an_error_names_table_model_and_kind_and_survives_pickle(
    error: UnknownPriceError | InvalidPriceError, code: str, kind: type[Exception]
) -> None:
    again = pickle.loads(pickle.dumps(error))

    assert isinstance(error, kind)
    assert isinstance(error, AgentFootprintError)
    assert (str(again), again.code, again.model, again.kind, again.table) == (
        *(str(error), code, "gpt-x", "output"),
        "prices.json",
    )
    assert [word for word in ("'prices.json'", "'gpt-x'", "'output'") if word not in error.problem] == []
