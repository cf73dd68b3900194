"""Tests of agentfootprint.providers.secrets."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.llm import MissingCredentialError, ProviderAuthError
from agentfootprint.providers.secrets import KeySource, environment, redact, scrub

KEY = "sk-marker-0123456789"


def test_a_secret_is_replaced_literally_and_a_short_one_is_left() -> None:
    assert redact(f"a {KEY} b {KEY}", [KEY, "a"]) == "a [redacted apiKey] b [redacted apiKey]"
    assert redact("nothing here", [KEY]) == "nothing here"
    assert redact(f"{KEY}-long", [KEY, f"{KEY}-long"]) == "[redacted apiKey]"


def test_an_error_is_cleaned_with_what_stands_behind_it() -> None:
    inner = ValueError(f"bad {KEY}", 7)
    outer: Any = RuntimeError(f"worse {KEY}")
    outer.body = {"error": {"message": f"no {KEY}", "list": [KEY, 1], "pair": (KEY,)}}
    outer.untouched = untouched = {"a": [1]}
    outer.__cause__ = inner
    inner.__context__ = outer

    scrub(outer, [KEY])

    assert KEY not in f"{outer!r} {inner!r} {outer.body!r}"
    assert inner.args[1] == 7
    assert outer.untouched is untouched


def test_the_first_variable_that_holds_something_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFP_ONE", "  ")
    monkeypatch.setenv("AFP_TWO", " x ")

    assert environment("AFP_NONE", "AFP_ONE", "AFP_TWO") == "x"
    assert environment("AFP_NONE") is None


@pytest.mark.parametrize("given", [None, "", " "])
def test_no_key_is_refused_with_the_variable(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFP_KEY", raising=False)

    with pytest.raises(MissingCredentialError, match="No key for Vendor: AFP_KEY"):
        KeySource("vendor", given, variable="AFP_KEY", label="Vendor")


async def test_a_function_is_asked_each_time_and_its_own_error_passes() -> None:
    keys = iter(["one"])

    def give() -> str:
        return next(keys)

    source = KeySource("vendor", give, variable="AFP_KEY", label="Vendor")

    assert await source.current() == "one"
    with pytest.raises(RuntimeError):  # what `next` raises, as a coroutine passes it on
        await source.current()


async def test_what_is_no_key_is_refused_by_its_kind_only() -> None:
    bad: Any = lambda: [KEY]  # noqa: E731  a function that gives no text

    with pytest.raises(ProviderAuthError, match="gave a list") as caught:
        await KeySource("vendor", bad, variable="AFP_KEY", label="Vendor").current()

    assert KEY not in str(caught.value)
