"""Tests of agentfootprint.cli.demo.orders."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentfootprint.cli.demo.orders import Order, Orders, policy_text


@pytest.fixture(params=["file", "memory"])
def orders(request: pytest.FixtureRequest, tmp_path: Path) -> Orders:
    return Orders.build(tmp_path / "orders.db") if request.param == "file" else Orders()


def test_an_order_is_found_with_its_customer_product_and_age(orders: Orders) -> None:
    assert orders.find("a-1001 ") == Order("A-1001", "Dana Reyes", "Espresso machine", 48_000, "2025-03-14", 47)
    assert str(orders.find("A-1001")) == (
        "Order A-1001: Espresso machine for Dana Reyes, $480, delivered on 2025-03-14, 47 days ago."
    )


def test_an_order_on_its_way_has_no_age(orders: Orders) -> None:
    assert str(orders.find("A-1005")) == "Order A-1005: Set of four cups for Lena Brandt, $18, not delivered yet."


@pytest.mark.parametrize("order_id", ["A-9999", "", "' OR 1=1 --"])
def test_what_is_not_there_is_not_found(order_id: str, orders: Orders) -> None:
    assert orders.find(order_id) is None


def test_building_again_replaces_the_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "orders.db"
    path.write_text("something else", encoding="utf-8")

    Orders.build(path)

    assert [found.name for found in tmp_path.iterdir()] == ["orders.db"]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM orders").fetchone() == (5,)


def test_the_policy_is_a_document_with_a_window_of_30_days() -> None:
    assert policy_text().startswith("# Refund policy\n")
    assert "within 30 days of delivery" in policy_text()
