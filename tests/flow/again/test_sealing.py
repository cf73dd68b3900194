"""Tests of agentfootprint.flow.again.sealing."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest

from agentfootprint.flow import Chart, CheckpointError, Executor, Pausable, PauseCheckpoint, RedactionPolicy, State

MARK = "S3CRET"


class Cipher:
    """A cipher that is good enough for a test: a key stream, and a tag that tells a wrong key."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def seal(self, plain: bytes) -> bytes:
        hidden = self._mixed(plain)
        return hmac.digest(self.key, hidden, "sha256") + hidden

    def unseal(self, sealed: bytes) -> bytes:
        tag, hidden = sealed[:32], sealed[32:]
        if not hmac.compare_digest(tag, hmac.digest(self.key, hidden, "sha256")):
            raise LookupError("wrong key")
        return self._mixed(hidden)

    def _mixed(self, text: bytes) -> bytes:
        stream = b"".join(
            hashlib.sha256(self.key + number.to_bytes(8)).digest() for number in range(len(text) // 32 + 1)
        )
        return bytes(a ^ b for a, b in zip(text, stream, strict=False))


def ask(s: State) -> dict[str, str]:
    s.ssn = MARK
    return {"ssn": MARK}


def go_on(s: State, answer: Any, ctx: Any) -> str:
    return f"{s.ssn}-{ctx.args['inputToken']}-{answer}-{s.big}"


def gives_a_list(sealed: bytes) -> bytes:
    return b"[1]"


def gives_no_json(sealed: bytes) -> bytes:
    return b"{"


def paused() -> tuple[Executor, PauseCheckpoint]:
    policy = RedactionPolicy(keys=["ssn"], patterns=["Token$"])
    executor = Executor(
        Chart.of("Ask", Pausable(ask, go_on, id="ask")).build(), redaction=policy, initial_state={"big": 2**80}
    )
    result = executor.run_sync({"inputToken": MARK, "plain": "Überraschung"})
    assert result.checkpoint is not None
    return executor, result.checkpoint


def test_a_sealed_checkpoint_shows_nothing_and_opens_again() -> None:
    executor, checkpoint = paused()
    cipher = Cipher(b"key")

    wire = json.loads(json.dumps(checkpoint.to_wire(seal=cipher.seal)))
    again = PauseCheckpoint.from_wire(wire, unseal=cipher.unseal)
    result = Executor(executor.flow).resume_sync(again, "yes")

    assert set(wire) == {"sealed", "sensitive"}
    assert wire["sensitive"] is True
    assert MARK not in json.dumps(wire)
    assert "ask" not in wire["sealed"]
    assert again.sensitive
    assert again.run_input == checkpoint.run_input  # all of it, as nobody else can read it
    assert result.value == f"{MARK}-{MARK}-yes-{2**80}"


def test_a_checkpoint_that_is_not_sealed_is_read_as_before() -> None:
    _, checkpoint = paused()

    again = PauseCheckpoint.from_wire(checkpoint.to_wire(), unseal=Cipher(b"key").unseal)

    assert again.state == checkpoint.state


def test_a_sealed_checkpoint_is_not_resumed_before_it_is_opened() -> None:
    executor, checkpoint = paused()
    wire = checkpoint.to_wire(seal=Cipher(b"key").seal)

    with pytest.raises(CheckpointError, match=r"is sealed\. Read it with .*from_wire\(wire, unseal=") as no:
        executor.resume_sync(wire, "yes")

    assert no.value.field == "sealed"
    assert executor.resume_sync(checkpoint, "yes").status == "done"  # nothing was touched


@pytest.mark.parametrize(
    ("sealed", "unseal", "why"),
    [
        (None, Cipher(b"other").unseal, "LookupError"),
        ("no base 64!", Cipher(b"key").unseal, "Error"),
        (7, Cipher(b"key").unseal, "TypeError"),
        (None, gives_a_list, "TypeError"),
        (None, gives_no_json, "JSONDecodeError"),
    ],
)
def test_what_can_not_be_opened_is_refused_without_telling_its_content(sealed: Any, unseal: Any, why: str) -> None:
    _, checkpoint = paused()
    wire = checkpoint.to_wire(seal=Cipher(b"key").seal)
    if sealed is not None:
        wire["sealed"] = sealed

    with pytest.raises(CheckpointError, match=rf"can't be opened \({why}\)") as refused:
        PauseCheckpoint.from_wire(wire, unseal=unseal)

    assert refused.value.field == "sealed"
    assert MARK not in str(refused.value)
