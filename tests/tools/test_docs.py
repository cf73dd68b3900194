"""Tests of agentfootprint.tools.docs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.tools.docs import describe


def test_the_first_paragraph_is_the_description() -> None:
    described = describe("""Find one order.
    Use it first.

    It asks the shop.
    """)

    assert described == ("Find one order. Use it first.", {})


def test_an_args_section_describes_the_parameters() -> None:
    _, texts = describe("""Find.

    Args:
        order_id: The number,
            as on the bill.
        days (int, optional): How many: at least one.
        silent:
        **rest: Whatever else.

    Returns:
        found: Not a parameter.
    """)

    assert texts == {
        "order_id": "The number, as on the bill.",
        "days": "How many: at least one.",
        "rest": "Whatever else.",
    }


def test_a_numpy_section_describes_the_parameters() -> None:
    _, texts = describe("""Find.

    Parameters
    ----------
    order_id : str
        Number
        as on the bill.
    days
        How many.

    Returns
    -------
    found
        Not a parameter.
    """)

    assert texts == {"order_id": "Number as on the bill.", "days": "How many."}


def test_a_section_that_follows_at_once_is_no_description() -> None:
    described = describe("Find.\nArgs:\n    a: A text.")

    assert described == ("Find.", {"a": "A text."})


def test_no_docstring_says_nothing() -> None:
    assert describe(None) == ("", {})


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    summary, texts = describe(text)

    assert "\n" not in summary
    assert all(texts.values())
