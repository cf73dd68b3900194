"""Types for the lambdas of charts in tests: a part takes any function, so it says nothing of what theirs takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["one", "two"]


def one(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of a state."""
    return function


def two(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of two values: a state and an answer, or two states."""
    return function
