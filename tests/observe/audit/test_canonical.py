"""Tests of agentfootprint.observe.audit.canonical."""

from __future__ import annotations

import hashlib
import json
import subprocess
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.observe import AuditExporter, canonical_json, verify_audit
from agentfootprint.trace import ValueRefusedError, freeze
from tests.observe.audit.chains import event

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text(alphabet=':,[1.0e-}"\\')
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(VALUES)
def test_every_record_is_hashed_over_its_canonical_text(value: Any) -> None:
    """What the fast writer of the exporter gives is what the slow, exact one gives."""
    audit = AuditExporter(payload_mode="verbatim")
    payload = json.loads(json.dumps(value).replace("NaN", "null").replace("Infinity", "null").replace("-null", "null"))

    audit.export(event("shop.basket.filled", {"value": payload}))

    bundle = audit.bundle()
    *_, record = bundle["records"]
    body = {key: member for key, member in record.items() if key != "hash"}
    assert record["hash"] == hashlib.sha256(canonical_json(body).encode()).hexdigest()
    assert verify_audit(bundle).valid
    assert verify_audit(json.loads(json.dumps(bundle))).valid
    assert verify_audit(freeze(bundle)).valid


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((1.0, "1"), (-0.0, "0"), (1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-6, "0.000001")),
        *((1e-7, "1e-7"), (1.5e-9, "1.5e-9"), (5e-324, "5e-324"), (0.1, "0.1"), (123.456, "123.456")),
        *((float("nan"), "null"), (float("-inf"), "null"), (2**53 + 1, "9007199254740992"), (10**400, "null")),
        *((2**63, "9223372036854776000"), (True, "true")),
    ],
)
def test_numbers_are_printed_as_ecmascript_prints_them(number: float, text: str) -> None:
    assert canonical_json(number) == text
    assert canonical_json({"n": [number]}) == f'{{"n":[{text}]}}'


def test_keys_are_sorted_by_utf16_units_and_absent_values_are_left_out() -> None:
    value = {"\ufb01": 1, "😀": 2, "a": msgspec.UNSET, "b": [msgspec.UNSET]}

    assert canonical_json(value) == '{"b":[null],"😀":2,"\ufb01":1}'


def test_half_a_character_is_escaped_and_two_halves_are_one() -> None:
    assert canonical_json("a\ud83d") == '"a\\ud83d"'
    assert canonical_json("\ud83d" + "\ude00") == '"😀"'


def test_what_json_cannot_hold_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    for value in (circle, deep, {"a": {1, 2}}, b"raw"):
        with pytest.raises(ValueRefusedError):
            canonical_json(value)


def test_numbers_and_strings_are_those_of_node(node: str) -> None:
    numbers = [x * 10.0**e for e in range(-12, 24) for x in (1.0, 1.5, -9.99, 123456789.123)]
    values: list[Any] = [*numbers, '\x00\x1f\x7f\u2028 /\\"', "é😀\ufffd", {"10": 1, "9": 2}]
    script = "const s=require('fs').readFileSync(0,'utf8');console.log(JSON.stringify(JSON.parse(s).slice(0,-1)))"

    done = subprocess.run([node, "-e", script], input=json.dumps(values), capture_output=True, text=True, check=True)

    assert canonical_json(values[:-1]) == done.stdout.rstrip("\n")
