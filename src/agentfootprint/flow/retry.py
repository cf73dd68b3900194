"""How often a stage that fails is run again, and how long it waits before that."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from agentfootprint.flow.dev import dev_warning
from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.watch.failure import name_of

__all__ = ["RetryPolicy", "checked_policy", "is_retryable", "seconds_before_next"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """What happens when a stage raises: its attempt is undone, and it runs again (5.8).

    What an attempt staged and read is dropped; what it did outside the state, and what it emitted, can't be undone
    (FLOW-EXE-63). A pause, an interrupt and a cancellation are no failures and are never retried.

    Args:
        attempts: How often the stage runs at most; 1 switches retrying off.
        delay: Seconds before the second attempt; or a function of the number of the attempt that failed, from 1. What
            it gives when it raises, or when it is no number from 0, counts as 0.
        factor: What a `delay` in seconds is multiplied by for each further attempt.
        retry_on: Gets the error; only an answer that is exactly True leads to another attempt. Every `Exception` by
            default.

    Example:
        >>> RetryPolicy(attempts=5, delay=0.5, retry_on=lambda error: isinstance(error, ConnectionError)).attempts
        5
    """

    attempts: int = 3
    delay: float | Callable[[int], float] = 0.2
    factor: float = 2.0
    retry_on: Callable[[Exception], bool] | None = None


def checked_policy(policy: RetryPolicy | None, stage: str) -> RetryPolicy | None:
    """The policy of a stage, None where it lets nothing run again (FLOW-BLD-13).

    Raises:
        ChartBuildError: It is no policy, or says what can't be.
    """
    if policy is None:
        return None
    problem = _problem_of(policy)
    if problem is not None:
        raise ChartBuildError(
            f"The retry of stage {stage!r} {problem}.",
            fix="Use RetryPolicy with attempts from 1, and a delay and a factor from 0.",
            ids=(stage,),
        )
    return policy if policy.attempts > 1 else None


def _problem_of(policy: RetryPolicy) -> str | None:  # noqa: PLR0911  one case a problem
    if not isinstance(policy, RetryPolicy):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        return f"is a {type(policy).__name__}"
    attempts, delay, factor = policy.attempts, policy.delay, policy.factor
    if type(attempts) is not int or attempts < 1:
        return f"has attempts={attempts!r}, which is no whole number from 1"
    for name, function in (("delay", delay), ("retry_on", policy.retry_on)):
        if inspect.iscoroutinefunction(function):
            return f"has a coroutine function as {name}, which nobody would await"
    if callable(delay):
        return None
    for name, number in (("delay", delay), ("factor", factor)):
        if not _is_duration(number):
            return f"has {name}={number!r}, which is no number from 0"
    if not _is_duration(_grown(delay, factor, attempts - 1)):
        return f"has factor={factor!r}, with which the last wait would be endless"
    return None


def _is_duration(number: object) -> bool:
    return type(number) in (int, float) and 0 <= cast("float", number) < math.inf


def _grown(delay: float, factor: float, attempt: int) -> float:
    try:
        return delay * float(factor) ** (attempt - 1) if attempt > 1 else delay
    except OverflowError:
        return math.inf


def seconds_before_next(policy: RetryPolicy, attempt: int) -> float:
    """How long to wait after attempt number `attempt` has failed."""
    if not callable(policy.delay):
        return float(_grown(policy.delay, policy.factor, attempt))
    try:
        seconds = policy.delay(attempt)
    except Exception as raised:  # noqa: BLE001  the caller's function; a wait is not worth a failure (FLOW-EXE-61)
        dev_warning(f"The delay of a retry raised {name_of(raised)}; the stage runs again at once.")
        return 0.0
    return float(seconds) if _is_duration(seconds) else 0.0


def is_retryable(policy: RetryPolicy, error: Exception, stage: str) -> bool:
    """Whether the policy takes an error for one that may pass."""
    if policy.retry_on is None:
        return True
    try:
        return policy.retry_on(error) is True
    except Exception as raised:  # noqa: BLE001  the caller's function; the stage's own error is what matters
        dev_warning(f"`retry_on` of stage {stage!r} raised {name_of(raised)}; the stage's error is final.")
        return False
