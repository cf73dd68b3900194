"""Tests of agentfootprint.recording.deep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.recording import Recording, RecordingTooLargeError
from agentfootprint.recording.deep import decode_deep, encode_deep
from agentfootprint.recording.sources import wire_size
from tests.recording.runs import agent_recording, journal_of

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text(alphabet='a"\\{}[],é', max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


def chain(links: list[Any], length: int) -> dict[str, Any]:
    """An object as deep as it is long, with a link beside each step."""
    found: dict[str, Any] = {"end": True}
    for number in range(length):
        found = {"link": links[number % len(links)], "next": found, "children": [{"number": number}]}
    return found


def unchained(found: Any) -> list[Any]:
    out: list[Any] = []
    while found is not None:
        out.append({key: value for key, value in found.items() if key != "next"})
        found = found.get("next")
    return out


@given(links=st.lists(JSON, min_size=1, max_size=4), length=st.sampled_from([1, 60, 70, 1500]))
def test_any_json_of_any_depth_comes_back(links: list[Any], length: int) -> None:
    value = {"before": links, "tree": chain(links, length), "after": [1, {"x": links}]}

    found = decode_deep(encode_deep(value))

    assert unchained(found.pop("tree")) == unchained(value.pop("tree"))
    assert found == value


def test_shallow_json_is_written_as_ever() -> None:
    value: dict[str, Any] = {"a": [1, 2.5, None, True, "é"], "b": {}}

    assert encode_deep(value) == msgspec.json.encode(value)
    assert decode_deep(b' {"a": 1} ') == {"a": 1}


WHOLE = encode_deep(chain([1], 1500))


@pytest.mark.parametrize("data", [WHOLE[:-1], WHOLE + b"x", WHOLE + b"]", b"[" * 5000], ids=["cut", "x", "]", "["])
def test_damaged_json_is_refused_at_any_depth(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_deep(data)


def test_the_wire_form_of_a_long_run_is_written_and_read_again(tmp_path: Path) -> None:
    """The reference's tree is deeper than `json` goes in some versions of Python."""
    recording = agent_recording(120)
    path = recording.save(tmp_path / "run.json", form="wire")

    read = Recording.load(path)

    assert read.answer == recording.answer
    assert read.reads_of(read.calls[-1].step) == recording.reads_of(read.calls[-1].step)
    assert [bundle.runtime_stage_id for bundle in read.bundles] == [
        bundle.runtime_stage_id for bundle in recording.bundles
    ]


def test_the_size_of_the_wire_form_is_known_before_it_is_made() -> None:
    recording = agent_recording(40)

    actual = len(encode_deep(recording.to_wire()))

    assert wire_size(journal_of(recording)) == pytest.approx(actual, rel=0.25)


def test_a_wire_form_that_is_too_large_is_refused_with_its_size(tmp_path: Path) -> None:
    recording = agent_recording(500)

    with pytest.raises(
        RecordingTooLargeError, match=r"about \d{3},\d{3},\d{3} bytes; 268,435,456 are allowed"
    ) as caught:
        recording.save(tmp_path / "run.json", form="wire")

    assert caught.value.size_bytes > caught.value.max_bytes
    assert list(tmp_path.iterdir()) == []
