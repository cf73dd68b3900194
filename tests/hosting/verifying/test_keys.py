"""Tests of agentfootprint.hosting.verifying.keys."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from joserfc.jwk import OctKey

from agentfootprint.hosting import VerifierUnavailableError
from agentfootprint.hosting.verifying.keys import KeySource, read_keys
from tests.hosting.issuing import rsa_key


def document(*kids: str) -> dict[str, Any]:
    return {"keys": [dict(rsa_key(kid).as_dict(private=False)) for kid in kids]}


class Provider:
    """An identity provider with a clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.answer: object = document("k1")
        self.fetches = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def fetch(self, url: str, timeout: float) -> object:  # noqa: ASYNC109  as the real one
        self.fetches += 1
        await self.gate.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def source(self) -> KeySource:
        return KeySource(
            "https://idp.example/jwks.json",
            verifier="Jwks",
            cache_for=600,
            stale_for=3600,
            timeout=5,
            fetch=self.fetch,
            clock=lambda: self.now,
        )


def kids(keys: Any) -> list[str]:
    return [key.kid for key in keys]


async def test_keys_are_fetched_once_while_they_are_good() -> None:
    provider = Provider()
    source = provider.source()

    await asyncio.gather(*(source.current() for _ in range(10)))
    provider.now += 599
    await source.current()

    assert provider.fetches == 1


async def test_keys_over_their_time_are_fetched_again() -> None:
    provider = Provider()
    source = provider.source()
    await source.current()
    provider.now += 600
    provider.answer = document("k2")

    assert kids(await source.current()) == ["k2"]


async def test_keys_over_their_time_are_used_on_while_the_provider_is_down_up_to_a_limit() -> None:
    provider = Provider()
    source = provider.source()
    await source.current()
    provider.answer = ConnectionError("down")
    provider.now += 700

    for _ in range(5):
        assert kids(await source.current()) == ["k1"]
    assert provider.fetches == 2  # asked once, and not again for 30 seconds

    provider.now += 31
    await source.current()
    assert provider.fetches == 3

    provider.now += 3600
    for _ in range(2):
        with pytest.raises(VerifierUnavailableError) as caught:
            await source.current()
        assert caught.value.__context__ is None
    assert provider.fetches == 5


async def test_a_slow_provider_holds_up_one_request_only() -> None:
    provider = Provider()
    source = provider.source()
    await source.current()
    provider.now += 700
    provider.gate.clear()
    asking = asyncio.create_task(source.current())
    await asyncio.sleep(0)

    assert kids(await source.current()) == ["k1"]
    assert not asking.done()
    provider.gate.set()
    await asking


async def test_all_who_wait_for_one_fetch_share_its_failure_and_the_next_one_asks_again() -> None:
    provider = Provider()
    source = provider.source()
    provider.answer = ConnectionError("down")
    provider.gate.clear()
    asking = [asyncio.create_task(source.current()) for _ in range(20)]
    await asyncio.sleep(0)

    provider.gate.set()
    failed = await asyncio.gather(*asking, return_exceptions=True)

    assert {type(each) for each in failed} == {VerifierUnavailableError}
    assert provider.fetches == 1
    provider.answer = document("k1")
    assert kids(await source.current()) == ["k1"]


async def test_an_unknown_key_makes_us_ask_again_at_most_once_in_30_seconds() -> None:
    provider = Provider()
    source = provider.source()
    seen = await source.current()

    newer = await source.after_unknown(seen)
    assert newer is not None
    assert provider.fetches == 2
    for _ in range(5):
        assert await source.after_unknown(newer) is None
    assert provider.fetches == 2

    provider.now += 30
    assert await source.after_unknown(newer) is not None
    assert provider.fetches == 3


async def test_an_unknown_key_while_the_provider_is_down_is_no_verdict() -> None:
    provider = Provider()
    source = provider.source()
    seen = await source.current()
    provider.answer = ConnectionError("down")

    for _ in range(3):
        with pytest.raises(VerifierUnavailableError):
            await source.after_unknown(seen)

    assert provider.fetches == 2
    assert kids(await source.current()) == ["k1"]


async def test_a_request_that_waited_takes_the_keys_another_fetched() -> None:
    provider = Provider()
    source = provider.source()
    seen = await source.current()
    provider.answer = document("k1", "k2")

    found = await asyncio.gather(*(source.after_unknown(seen) for _ in range(5)))

    assert [kids(keys) for keys in found] == [["k1", "k2"]] * 5
    assert provider.fetches == 2


def test_one_broken_or_foreign_key_does_not_take_the_others_with_it() -> None:
    foreign = [
        7,
        {"kty": "RSA"},
        {"kty": "LATTICE", "kid": "future"},
        {"kty": "EC", "crv": "P-256", "x": "!", "y": "!"},
        {**document("k2")["keys"][0], "use": "enc"},
        dict(OctKey.generate_key(256).as_dict(private=True)),
    ]

    assert kids(read_keys({"keys": [*foreign, *document("k1")["keys"]]})) == ["k1"]


@pytest.mark.parametrize("found", [None, [], {}, {"keys": {}}, {"keys": []}, {"keys": [1]}, "keys"])
def test_a_document_without_usable_keys_is_refused(found: object) -> None:
    with pytest.raises(ValueError, match="key"):
        read_keys(found)
