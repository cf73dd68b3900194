"""Tests of agentfootprint.flow.run_id."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentfootprint.flow import new_run_id


def test_ids_sort_by_creation_and_are_never_given_twice() -> None:
    ids = [new_run_id() for _ in range(200)]

    assert sorted(ids) == ids
    assert len(set(ids)) == 200
    assert all(re.fullmatch(r"\d{13}-\d{10}", each) for each in ids)


def test_a_clock_that_goes_backwards_does_not_take_the_ids_along(monkeypatch: pytest.MonkeyPatch) -> None:
    before = new_run_id()

    monkeypatch.setattr("agentfootprint.flow.run_id.time.time_ns", lambda: 0)

    assert new_run_id() > before


def test_threads_get_ids_of_their_own() -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = [made.result() for made in [pool.submit(new_run_id) for _ in range(400)]]

    assert len(set(ids)) == 400
