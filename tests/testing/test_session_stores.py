"""Tests of agentfootprint.testing.session_stores."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HARNESSES = """
from agentfootprint.hosting import InMemorySessions, SessionStoreHarness


class ForgetsNothing(InMemorySessions):
    retention = None

    async def forget(self, session_id):
        pass


KNOWN = {"unreadable-is-not-absent": "nothing can be corrupted"}
good = SessionStoreHarness(name="good", create_store=InMemorySessions, declared=KNOWN)
stale = SessionStoreHarness(
    name="stale", create_store=InMemorySessions, declared={**KNOWN, "persist-hydrate-round-trip": "it was so"}
)
broken = SessionStoreHarness(name="broken", create_store=ForgetsNothing, declared=KNOWN)
nothing = 7
"""


def run(folder: Path, *places: str) -> tuple[dict[str, int], str]:
    """What pytest counts, and all it says."""
    (folder / "harnesses.py").write_text(HARNESSES)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    options = [f"--afp-session-store={place}" for place in places]
    program = [sys.executable, "-m", "pytest", "-p", "agentfootprint.testing.session_stores", "-p", "no:cacheprovider"]
    done = subprocess.run([*program, "-rA", *options], cwd=folder, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1:]
    counted = {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", last[0] if last else "")}
    return counted, done.stdout + done.stderr


def test_a_good_store_passes_every_case(tmp_path: Path) -> None:
    counted, said = run(tmp_path, "harnesses:good")

    assert (counted.get("passed"), counted.get("xfailed"), counted.get("failed")) == (18, 1, None), said


def test_a_broken_store_fails_by_the_law_it_breaks_and_what_it_lacks_is_skipped(tmp_path: Path) -> None:
    counted, said = run(tmp_path, "harnesses:broken")

    assert (counted["failed"], counted["skipped"], counted["passed"]) == (1, 1, 16), said
    assert "A forgotten session is gone, from the index too; forgetting twice is fine." in said
    assert "no retention" in said


def test_a_declaration_that_is_stale_fails(tmp_path: Path) -> None:
    counted, said = run(tmp_path, "harnesses:stale")

    assert counted["failed"] == 1
    assert "it was so" in said
    assert "take it out" in said


def test_several_stores_may_be_asked_at_once(tmp_path: Path) -> None:
    counted, said = run(tmp_path, "harnesses:good", "harnesses:stale")

    assert counted["passed"] == 18 + 17, said


@pytest.mark.parametrize("place", ["harnesses:nothing", "harnesses:missing", ""])
def test_a_place_without_a_harness_is_refused(tmp_path: Path, place: str) -> None:
    _, said = run(tmp_path, place)

    assert f"--afp-session-store={place}" in said
