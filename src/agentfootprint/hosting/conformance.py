"""Does a session store keep every law of its port?

The cases need no test framework: `run_session_store_conformance(harness)` runs them all, each on a fresh store, and
`format_outcomes` prints what came out. What a store can't do it may leave out (an optional member), or declare with a
reason; a declared case is run all the same, and said to be stale when it passes (09 s.18).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agentfootprint.errors import ConfigError
from agentfootprint.hosting.cases import ids, keeping, listing, owners
from agentfootprint.hosting.cases.case import ConformanceCase, ConformanceError, Corrupt, EnvironmentFailedError
from agentfootprint.hosting.sessions.port import SessionStore

__all__ = [
    "CaseOutcome",
    "ConformanceCase",
    "ConformanceError",
    "EnvironmentFailedError",
    "SessionStoreHarness",
    "format_outcomes",
    "run_case",
    "run_session_store_conformance",
    "session_store_cases",
]


def _no_reasons() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStoreHarness:
    """How stores of one kind are made, for the suite."""

    name: str
    create_store: Callable[[], Awaitable[Any] | Any]
    """Makes an empty store; called for each case."""
    dispose: Callable[[Any], Awaitable[None] | None] | None = None
    """Ends a store and deletes what it stored."""
    corrupt: Corrupt | None = None
    """Puts something that is no envelope under a session id: `corrupt(store, session_id)`."""
    declared: Mapping[str, str] = field(default_factory=_no_reasons)
    """Cases that the store is known to fail: name to the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What came out of one case."""

    case: str
    outcome: Literal["passed", "not-applicable", "declared", "failed"]
    reason: str = ""
    still_fails: bool | None = None
    """Of a declared case: whether it does fail; a declaration that is false now is stale."""


_CASES: Final = (
    ConformanceCase(
        name="absent-session-hydrates-undefined",
        law="A session that was never written is None.",
        check=keeping.absent,
    ),
    ConformanceCase(
        name="persist-hydrate-round-trip",
        law="Format, time, conversation and owner survive; a second write replaces the first.",
        check=keeping.round_trip,
    ),
    ConformanceCase(
        name="unreadable-is-not-absent",
        law="Something unreadable is refused or given back, never taken for nothing.",
        check=keeping.unreadable,
        harness_needs=("corrupt",),
    ),
    ConformanceCase(
        name="forget-removes-the-conversation",
        law="A forgotten session is gone, from the index too; forgetting twice is fine.",
        check=keeping.forget,
        members=("forget",),
    ),
    ConformanceCase(
        name="ownership-is-derived-from-the-envelope",
        law="The owner is the principal of the conversation inside.",
        check=owners.derived,
        members=("owner_of",),
    ),
    ConformanceCase(
        name="ownership-fills-in-on-a-later-signed-turn",
        law="Nobody's session becomes that of the first who signs.",
        check=owners.filled_in,
        members=("owner_of",),
    ),
    ConformanceCase(
        name="ownership-survives-a-leaner-turn",
        law="A turn that names nobody is stored and keeps the owner.",
        check=owners.kept,
        members=("owner_of",),
    ),
    ConformanceCase(
        name="ownership-is-not-taken-by-a-different-signer",
        law="A turn of somebody else is refused whole, in words that name nobody.",
        check=owners.not_taken,
        members=("owner_of",),
    ),
    ConformanceCase(
        name="contested-write-leaves-no-split-brain",
        law="After two signed at once, index and conversation agree.",
        check=owners.contested,
        members=("owner_of",),
    ),
    ConformanceCase(
        name="owner-of-is-undefined-for-missing-and-unowned",
        law="A missing session and nobody's have one answer.",
        check=owners.missing_and_unowned,
        members=("owner_of",),
    ),
    ConformanceCase(
        name="list-by-user-pages-with-a-stable-tie-break",
        law="Every session is on one page, in one order.",
        check=listing.pages,
        members=("list_by_user",),
    ),
    ConformanceCase(
        name="list-by-user-is-newest-first",
        law="The newest is first, by the envelope's own time.",
        check=listing.newest_first,
        members=("list_by_user",),
    ),
    ConformanceCase(
        name="an-id-the-store-hands-back-is-not-a-second-address",
        law="A listed id opens its session and no other.",
        check=listing.handed_back,
        members=("list_by_user",),
    ),
    ConformanceCase(
        name="awkward-session-ids-round-trip",
        law="Ids are opaque: what is accepted comes back, and no two are one.",
        check=ids.awkward,
    ),
    ConformanceCase(
        name="retention-says-who-deletes-and-deletes-only-the-old",
        law="A sweep deletes what was saved strictly before a moment.",
        check=listing.retention,
        members=("retention",),
    ),
    ConformanceCase(
        name="optional-members-are-feature-detected",
        law="Members that belong together are there together.",
        check=keeping.optional_members,
    ),
    ConformanceCase(
        name="stale-version-is-refused",
        law="A write that expects another version is refused whole.",
        check=keeping.stale_version,
    ),
    ConformanceCase(
        name="unicode-and-1MB-envelope",
        law="A megabyte of every script survives.",
        check=keeping.large,
    ),
    ConformanceCase(
        name="100-concurrent-sessions",
        law="A hundred sessions at once do not meet.",
        check=keeping.many_at_once,
    ),
)


def session_store_cases() -> list[ConformanceCase]:
    """The cases, in the order they are run: `await case(store)` on a fresh store.

    Those past the sixteenth are this implementation's own.
    """
    return list(_CASES)


async def run_case(case: ConformanceCase, harness: SessionStoreHarness) -> CaseOutcome:
    """Run one case on a fresh store.

    Raises:
        EnvironmentFailedError: Nothing can be said about the store.
    """
    made = harness.create_store()
    store: SessionStore = await made if inspect.isawaitable(made) else made
    try:
        missing = case.missing(store)
        if missing:
            return CaseOutcome(case=case.name, outcome="not-applicable", reason=f"no {', '.join(missing)}")
        problem = await _problem(case, store, harness.corrupt)
    finally:
        if harness.dispose is not None:
            disposed = harness.dispose(store)
            if inspect.isawaitable(disposed):
                await disposed
    reason = harness.declared.get(case.name)
    if reason is not None:
        return CaseOutcome(case=case.name, outcome="declared", reason=reason, still_fails=problem is not None)
    return CaseOutcome(case=case.name, outcome="passed" if problem is None else "failed", reason=problem or "")


async def _problem(case: ConformanceCase, store: SessionStore, corrupt: Corrupt | None) -> str | None:
    try:
        await case(store, corrupt=corrupt)
    except EnvironmentFailedError:
        raise
    except ConformanceError as broken:
        return f"{broken.problem} {broken.fix}"
    except Exception as error:  # noqa: BLE001  a store that raises where it must not breaks the law too
        return f"{type(error).__name__}: {error}"
    return None


async def run_session_store_conformance(harness: SessionStoreHarness) -> tuple[CaseOutcome, ...]:
    """Run all cases, each on a fresh store.

    Raises:
        ConfigError: A case is declared that there is not.
        EnvironmentFailedError: Nothing can be said about the store.
    """
    unknown = sorted(set(harness.declared) - {case.name for case in _CASES})
    if unknown:
        raise ConfigError(
            "harness.declared",
            f"There is no case {unknown[0]!r}.",
            fix="Declare cases by their names, as session_store_cases() gives them.",
        )
    return tuple([await run_case(case, harness) for case in _CASES])


def format_outcomes(harness_name: str, outcomes: Iterable[CaseOutcome]) -> str:
    """What came out, as text: a line a case, and a line that counts."""
    listed = list(outcomes)
    lines = [f"Session store {harness_name}:"]
    for one in listed:
        stale = " (STALE: it passes now)" if one.still_fails is False else ""
        lines.append(f"  {one.outcome:14} {one.case}{f': {one.reason}' if one.reason else ''}{stale}")
    counted = {kind: sum(one.outcome == kind for one in listed) for kind in ("passed", "failed", "declared")}
    return "\n".join([*lines, ", ".join(f"{count} {kind}" for kind, count in counted.items())])
