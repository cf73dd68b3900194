"""How does pytest run the suite of session stores on a store of yours?

`pytest -p agentfootprint.testing.session_stores --afp-session-store=my_module:harness` adds one test for each case. A
case of a member that the store lacks is skipped, a declared one is expected to fail, and one that was declared and
passes fails, so that the declaration is taken out.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from agentfootprint.hosting import ConformanceCase, SessionStoreHarness

__all__ = ["SessionStoreItem", "pytest_addoption", "pytest_collection_modifyitems"]

_OPTION = "--afp-session-store"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names harnesses."""
    parser.getgroup("agentfootprint").addoption(
        _OPTION,
        action="append",
        default=[],
        metavar="MODULE:HARNESS",
        help="run the conformance suite of session stores on this SessionStoreHarness; may be given more than once",
    )


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the cases of each harness to the tests that were found."""
    places = cast("list[str]", config.getoption(_OPTION))
    if not places:
        return
    from agentfootprint.hosting import session_store_cases  # only where a store is to be tested

    for place in places:
        harness = _harness(place)
        items += [
            SessionStoreItem.from_parent(session, name=f"{place}::{case.name}", case=case, harness=harness)  # pyright: ignore[reportUnknownMemberType]  pytest leaves **kw untyped
            for case in session_store_cases()
        ]


def _harness(place: str) -> SessionStoreHarness:
    from agentfootprint.hosting import SessionStoreHarness

    module, _, name = place.partition(":")
    try:
        found: object = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as missing:
        raise pytest.UsageError(f"{_OPTION}={place}: {missing}") from missing
    if not isinstance(found, SessionStoreHarness):
        raise pytest.UsageError(f"{_OPTION}={place} is a {type(found).__name__}, not a SessionStoreHarness")
    return found


class SessionStoreItem(pytest.Item):
    """One case on one store."""

    def __init__(self, *, case: ConformanceCase, harness: SessionStoreHarness, **kwargs: Any) -> None:  # noqa: ANN401  pytest's own
        super().__init__(**kwargs)  # pyright: ignore[reportUnknownMemberType]  pytest leaves **kw untyped
        self.case = case
        self.harness = harness

    def runtest(self) -> None:
        """Run the case, and say what came out in pytest's words."""
        from agentfootprint.hosting import run_case

        found = asyncio.run(run_case(self.case, self.harness))
        if found.outcome == "not-applicable":
            pytest.skip(found.reason)
        if found.outcome == "failed":
            pytest.fail(f"{self.case.law}\n{found.reason}", pytrace=False)
        if found.outcome == "declared" and found.still_fails:
            pytest.xfail(found.reason)
        if found.outcome == "declared":
            pytest.fail(f"It was declared to fail ({found.reason}) and passes: take it out.", pytrace=False)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where it is, for pytest's reports."""
        return self.path, None, self.name
