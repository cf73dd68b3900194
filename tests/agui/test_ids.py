"""Tests of agentfootprint.agui.ids."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.agui import AgUiIdError, AgUiIds, agui_id

NASTY = st.text(alphabet=st.sampled_from("/%_25F2f0123#ab"), max_size=8)
KIND = st.sampled_from(["message", "tool-call", "tool-result", "interrupt", "history"]) | st.text(
    alphabet=st.characters(blacklist_characters="/"), max_size=5
)
PARTS = st.tuples(NASTY | st.text(max_size=10), KIND, st.integers(0, 10**12), NASTY | st.text(max_size=10))


@given(PARTS, PARTS)
def test_different_entities_never_share_an_id(
    left: tuple[str, str, int, str], right: tuple[str, str, int, str]
) -> None:
    assert (agui_id(*left) == agui_id(*right)) == (left == right)


@given(NASTY.filter(bool), st.lists(st.tuples(st.sampled_from(["message", "tool-call"]), NASTY)))
def test_a_minter_counts_from_zero_for_each_kind_and_address(run_id: str, asked: list[tuple[Any, str]]) -> None:
    ids = AgUiIds(run_id)

    minted = [ids.next(kind, address) for kind, address in asked]

    assert [n for _, n in minted] == [asked[:i].count(entity) for i, entity in enumerate(asked)]
    assert len({one.id for one in minted}) == len(asked)
    again = AgUiIds(run_id)
    assert [again.next(kind, address) for kind, address in asked] == minted


def test_spelling_an_id_does_not_count_it() -> None:
    ids = AgUiIds("r")

    call = ids.next("tool-call", "tool-calls#22")

    assert ids.at("tool-result", call.n, "tool-calls#22") == "r/tool-result/0/tool-calls#22"
    assert ids.next("tool-result", "tool-calls#22").n == 0


@pytest.mark.parametrize("run_id", ["", None, 7, b"r"])
def test_a_run_without_an_id_is_refused_by_the_name_the_client_knows(run_id: Any) -> None:
    with pytest.raises(AgUiIdError, match="runId") as caught:
        AgUiIds(run_id)

    assert isinstance(caught.value, TypeError)
    assert caught.value.part == "runId"


@pytest.mark.parametrize(
    ("kind", "n", "address", "part"),
    [
        ("a/b", 0, "x", "kind"),
        (None, 0, "x", "kind"),
        ("message", -1, "x", "n"),
        ("message", True, "x", "n"),
        ("message", "0", "x", "n"),
        ("message", 0, None, "address"),
    ],
)
@pytest.mark.parametrize("spell", [partial(agui_id, "r"), AgUiIds("r").at])
def test_a_part_that_would_not_keep_ids_apart_is_refused(
    spell: Callable[..., str], kind: Any, n: Any, address: Any, part: str
) -> None:
    with pytest.raises(AgUiIdError) as caught:
        spell(kind, n, address)

    assert caught.value.part == part


def test_a_refused_entity_is_not_counted() -> None:
    ids = AgUiIds("r")

    with pytest.raises(AgUiIdError):
        ids.next("message", 3)  # pyright: ignore[reportArgumentType]

    assert ids.next("message", "a").n == 0
