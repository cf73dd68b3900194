"""Where do the desk's orders stand? In a SQLite database that is built from the shipped example data.

Every query opens the database for itself, so that tools may ask from any thread.
"""

from __future__ import annotations

import importlib.resources
import secrets
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["Order", "Orders", "policy_text"]

_BY_ID: Final = """
SELECT orders.id, customers.name, products.title, products.price_cents, orders.delivered_on,
       CAST(julianday(calendar.today) - julianday(orders.delivered_on) AS INTEGER)
FROM orders
JOIN customers ON customers.id = orders.customer_id
JOIN products ON products.sku = orders.sku
CROSS JOIN calendar
WHERE orders.id = ?
"""


@dataclass(frozen=True, slots=True)
class Order:
    """One order, as the desk sees it."""

    id: str
    customer: str
    product: str
    price_cents: int
    delivered_on: str | None
    """ISO date; `None` while it is on its way."""
    days_since_delivery: int | None

    def __str__(self) -> str:
        price = f"${self.price_cents / 100:,.2f}".removesuffix(".00")
        what = f"Order {self.id}: {self.product} for {self.customer}, {price}"
        if self.delivered_on is None:
            return f"{what}, not delivered yet."
        return f"{what}, delivered on {self.delivered_on}, {self.days_since_delivery} days ago."


class Orders:
    """The desk's order system.

    Args:
        path: The database file, as `build` made it; without one each question is asked of the shipped data in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @classmethod
    def build(cls, path: Path) -> Orders:
        """Make the database from the shipped data; an older one is replaced as a whole.

        Args:
            path: Where; its folder exists.
        """
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            with closing(sqlite3.connect(beside)) as database:
                database.executescript(_shipped("orders.sql"))
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        return cls(path)

    def find(self, order_id: str) -> Order | None:
        """One order by its number, in any case; `None` when there is none."""
        with closing(self._connect()) as database:
            row: tuple[Any, ...] | None = database.execute(_BY_ID, (order_id.strip().upper(),)).fetchone()
        return None if row is None else Order(*row)

    def _connect(self) -> sqlite3.Connection:
        if self._path is not None:
            return sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro", uri=True)
        database = sqlite3.connect(":memory:")
        database.executescript(_shipped("orders.sql"))
        return database


def policy_text() -> str:
    """The shipped policy, word for word."""
    return _shipped("policy.md").strip()


def _shipped(name: str) -> str:
    return (importlib.resources.files("agentfootprint.cli.demo") / name).read_text(encoding="utf-8")
