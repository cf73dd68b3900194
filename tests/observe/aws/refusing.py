"""Clients that refuse, as the services do: what a server of AWS can't be made to say."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["Client", "gone", "refusal"]


exceptions: Any = importlib.import_module("botocore.exceptions")  # which has no stubs


def refusal(code: str, status: int = 400) -> Exception:
    """A service's answer that it won't."""
    answer: Any = {"Error": {"Code": code, "Message": "marker-7f3a"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return exceptions.ClientError(answer, "Put")


def gone() -> Exception:
    """Nobody answers."""
    return exceptions.EndpointConnectionError(endpoint_url="http://127.0.0.1:1")


class Client:
    """Answers with what is in its list, in turn; then takes everything."""

    def __init__(self, *answers: Exception | dict[str, Any]) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        def call(**given: Any) -> dict[str, Any]:
            self.calls.append((operation, given))
            answer = self.answers.pop(0) if self.answers else {}
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    def given(self, operation: str, key: str) -> list[Any]:
        """What one parameter was, call by call."""
        return [given[key] for name, given in self.calls if name == operation]
