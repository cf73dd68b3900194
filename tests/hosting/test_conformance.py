"""Tests of agentfootprint.hosting.conformance and its cases: each is proved by a store that breaks just that law."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any, Literal, cast

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.hosting import (
    CaseOutcome,
    ConformanceCase,
    ConformanceError,
    EnvironmentFailedError,
    SessionStoreHarness,
    format_outcomes,
    run_case,
    run_session_store_conformance,
    session_store_cases,
)
from agentfootprint.hosting.cases.ids import FOLDED
from tests.hosting.broken import (
    BelievesWhatIsPlanted,
    ChecksVersionsInTwoSteps,
    CutsWhatIsLong,
    DropsUnknownKeys,
    ExpiresByItself,
    ForgetsNothing,
    ForgetsOnce,
    GivesACursorTooMuch,
    HasOneSlot,
    IgnoresVersions,
    InventsSessions,
    IsBrokenAltogether,
    KeepsTheFirst,
    LetsNobodyIn,
    ListsTheOldestFirst,
    ListsWithoutOwners,
    LosesARowBetweenPages,
    LosesTheOwner,
    MapsIds,
    MustBeAwaitedToSayWhoDeletes,
    NeverFillsIn,
    NeverSaysThereIsMore,
    OwnsWhatIsNobodys,
    RefusesAwkwardIds,
    RefusesInWordsThatTell,
    RefusesUnreadable,
    SplitsItsBrain,
    SweepsTheBoundary,
    TakesUnreadableForAbsent,
    Wrapped,
    break_it,
)

CASES = {case.name: case for case in session_store_cases()}


def folding(mapping: Callable[[str], str]) -> Callable[[], MapsIds]:
    return lambda: MapsIds(mapping)


BROKEN: list[tuple[str, Callable[[], Any]]] = [
    ("absent-session-hydrates-undefined", InventsSessions),
    ("persist-hydrate-round-trip", DropsUnknownKeys),
    ("persist-hydrate-round-trip", KeepsTheFirst),
    ("unreadable-is-not-absent", TakesUnreadableForAbsent),
    ("forget-removes-the-conversation", ForgetsNothing),
    ("forget-removes-the-conversation", ForgetsOnce),
    ("ownership-is-derived-from-the-envelope", BelievesWhatIsPlanted),
    ("ownership-fills-in-on-a-later-signed-turn", NeverFillsIn),
    ("ownership-survives-a-leaner-turn", LosesTheOwner),
    ("ownership-is-not-taken-by-a-different-signer", LosesTheOwner),
    ("ownership-is-not-taken-by-a-different-signer", RefusesInWordsThatTell),
    ("contested-write-leaves-no-split-brain", SplitsItsBrain),
    ("contested-write-leaves-no-split-brain", LetsNobodyIn),
    ("contested-write-leaves-no-split-brain", LosesTheOwner),
    ("owner-of-is-undefined-for-missing-and-unowned", OwnsWhatIsNobodys),
    ("list-by-user-pages-with-a-stable-tie-break", LosesARowBetweenPages),
    ("list-by-user-pages-with-a-stable-tie-break", GivesACursorTooMuch),
    ("list-by-user-is-newest-first", ListsTheOldestFirst),
    ("an-id-the-store-hands-back-is-not-a-second-address", folding(str.lower)),
    ("an-id-the-store-hands-back-is-not-a-second-address", folding(lambda one: one.replace("/", "_"))),
    ("retention-says-who-deletes-and-deletes-only-the-old", SweepsTheBoundary),
    ("retention-says-who-deletes-and-deletes-only-the-old", NeverSaysThereIsMore),
    ("optional-members-are-feature-detected", ListsWithoutOwners),
    ("optional-members-are-feature-detected", MustBeAwaitedToSayWhoDeletes),
    ("stale-version-is-refused", IgnoresVersions),
    ("stale-version-is-refused", ChecksVersionsInTwoSteps),
    ("unicode-and-1MB-envelope", CutsWhatIsLong),
    ("100-concurrent-sessions", HasOneSlot),
]


@pytest.mark.parametrize(("name", "make"), BROKEN, ids=[f"{name}-{make.__name__}" for name, make in BROKEN])
async def test_a_store_that_breaks_a_law_is_found(name: str, make: Callable[[], Any]) -> None:
    with pytest.raises((ConformanceError, KeyError)):
        await CASES[name](make(), corrupt=break_it)


FOLDS: dict[str, Callable[[str], str]] = {
    "percent-decoding": lambda one: one.replace("%2F", "/"),
    "replacing what is unsafe by a filler": lambda one: one.replace("/", "_"),
    "replacing what is unsafe by one filler": lambda one: one.replace(":", "+").replace("?", "+"),
    "taking _ and - for one": lambda one: one.replace("_", "-"),
    "folding case": lambda one: "".join(letter.lower() if letter.isascii() else letter for letter in one),
    "composing characters (NFC)": lambda one: unicodedata.normalize("NFC", one),
    "folding case past ASCII": lambda one: "".join(letter if letter.isascii() else letter.lower() for letter in one),
    "folding compatible characters (NFKC)": lambda one: unicodedata.normalize("NFKC", one),
    "dropping what has no width": lambda one: one.replace("\u200b", ""),
    "cutting the tail": lambda one: one[:1000],
    "losing the head": lambda one: one[1:] if len(one) > 1000 else one,
    "dropping a prefix": lambda one: one.removeprefix("session-"),
    "cutting the front": lambda one: one[-1000:],
}


@pytest.mark.parametrize("fold", FOLDS)
async def test_every_way_to_confuse_ids_is_found(fold: str) -> None:
    with pytest.raises(ConformanceError):
        await CASES["awkward-session-ids-round-trip"](MapsIds(FOLDS[fold]))


def test_each_pair_of_ids_is_confused_by_the_mapping_it_is_named_after() -> None:
    assert [mapping for mapping, _, _ in FOLDED] == list(FOLDS)
    for mapping, one, other in FOLDED:
        assert one != other
        assert FOLDS[mapping](one) == FOLDS[mapping](other), mapping


@pytest.mark.parametrize("name", CASES)
async def test_a_good_store_passes_each_case(name: str) -> None:
    await CASES[name](RefusesUnreadable(), corrupt=break_it)


async def test_a_store_may_refuse_ids() -> None:
    await CASES["awkward-session-ids-round-trip"](RefusesAwkwardIds())


async def test_a_store_may_leave_deleting_to_what_it_stores_in() -> None:
    await CASES["retention-says-who-deletes-and-deletes-only-the-old"](ExpiresByItself())


async def outcome(case: str, make: Callable[[], Any], **harness: Any) -> CaseOutcome:
    return await run_case(CASES[case], SessionStoreHarness(name="store", create_store=make, **harness))


async def test_a_case_of_a_member_that_is_missing_does_not_apply_even_when_it_is_declared() -> None:
    name = "forget-removes-the-conversation"

    found = await outcome(name, ListsWithoutOwners, declared={name: "it can't"})

    assert (found.outcome, found.reason) == ("not-applicable", "no forget")


async def test_a_missing_hook_fails_unless_the_case_is_declared() -> None:
    name = "unreadable-is-not-absent"

    failed = await outcome(name, Wrapped)
    declared = await outcome(name, Wrapped, declared={name: "nothing can be corrupted"})

    assert failed.outcome == "failed"
    assert "needs the hook 'corrupt'" in failed.reason
    assert (declared.outcome, declared.still_fails) == ("declared", True)


@pytest.mark.parametrize(("make", "still_fails"), [(InventsSessions, True), (Wrapped, False)])
async def test_a_declared_case_is_run_all_the_same(make: Callable[[], Any], still_fails: bool) -> None:
    name = "absent-session-hydrates-undefined"

    found = await outcome(name, make, declared={name: "known"})

    assert (found.outcome, found.still_fails) == ("declared", still_fails)
    assert ("STALE" in format_outcomes("store", [found])) is not still_fails


async def test_a_store_that_raises_where_it_must_not_fails_by_the_errors_name() -> None:
    found = await outcome("persist-hydrate-round-trip", IsBrokenAltogether)

    assert found.outcome == "failed"
    assert "TimeoutError" in found.reason


async def test_a_broken_environment_is_no_verdict_on_the_store() -> None:
    disposed: list[Any] = []

    with pytest.raises(EnvironmentFailedError):
        await outcome("contested-write-leaves-no-split-brain", IsBrokenAltogether, dispose=disposed.append)

    assert len(disposed) == 1


async def test_stores_are_made_fresh_and_disposed_of_also_by_coroutines() -> None:
    made, disposed = list[Any](), list[Any]()

    async def create() -> Wrapped:
        made.append(RefusesUnreadable())
        return made[-1]

    async def dispose(store: Wrapped) -> None:
        disposed.append(store)

    async def corrupt(store: TakesUnreadableForAbsent, session_id: str) -> None:
        break_it(store, session_id)

    harness = SessionStoreHarness(name="store", create_store=create, dispose=dispose, corrupt=corrupt)
    outcomes = await run_session_store_conformance(harness)

    assert {one.outcome for one in outcomes} == {"passed"}
    assert made == disposed
    assert len(set(map(id, made))) == len(CASES)


async def test_a_declaration_of_a_case_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="no case 'typo'"):
        await run_session_store_conformance(
            SessionStoreHarness(name="store", create_store=Wrapped, declared={"typo": "?"})
        )


def test_outcomes_are_printed_a_line_each_and_counted() -> None:
    kinds: list[Literal["passed", "failed"]] = ["passed", "failed"]
    text = format_outcomes("mine", [CaseOutcome(case=f"case-{kind}", outcome=kind, reason="") for kind in kinds])

    assert text.splitlines() == [
        "Session store mine:",
        "  passed         case-passed",
        "  failed         case-failed",
        "1 passed, 1 failed, 0 declared",
    ]


def test_the_suite_is_offered_where_tests_look_for_it() -> None:
    from agentfootprint import testing

    assert testing.session_store_cases is session_store_cases
    assert testing.ConformanceCase is ConformanceCase
    assert [cast("Any", case).__name__ for case in testing.session_store_cases()] == list(CASES)
