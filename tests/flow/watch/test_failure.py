"""Tests of agentfootprint.flow.watch.failure."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow.watch.failure import is_a, name_of, noted


class BitesError(Exception):
    """Raises whenever it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_an_exception_is_told_by_its_type_alone() -> None:
    assert is_a(BitesError(), Exception)
    assert not is_a(BitesError(), KeyError)
    assert is_a(KeyError(), LookupError)


def test_an_exception_whose_class_has_no_name_is_called_exception() -> None:
    class Nameless(type):
        @property
        def __name__(cls) -> str:  # type: ignore[override]  that is the point of it
            raise RuntimeError("name")

    class NamelessError(Exception, metaclass=Nameless):
        pass

    assert name_of(BitesError()) == "BitesError"
    assert name_of(NamelessError()) == "Exception"


def test_a_note_is_added_where_that_is_possible() -> None:
    error = ValueError("no")

    noted(error, "seen")
    noted(BitesError(), "seen")

    assert error.__notes__ == ["seen"]
